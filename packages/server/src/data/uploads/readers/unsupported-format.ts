import { readStart } from './file-start.ts'
import { supportedFormats } from './formats.ts'
import { ReadFault } from './reader.ts'

/** A fault that says what the file looks like, and what could be sent instead. */
export function unsupported(what: string, advice = ''): ReadFault {
  const hint = advice === '' ? '' : ` ${advice}.`
  return new ReadFault(
    'unsupported_format',
    `The file looks like ${what}, which is not supported.${hint} ${supportedText}`,
  )
}

export const supportedText = `Supported formats: ${supportedFormats}.`

type Signature = {
  readonly what: string
  readonly advice?: string
  /** The first bytes, written as Latin-1; `?` is any byte. */
  readonly magic?: readonly string[]
  /** And one of these somewhere behind. */
  readonly contains?: readonly string[]
  /** Or its beginning, for formats that are text. */
  readonly pattern?: RegExp
}

const rasters = 'Convert images and grids to vector data, or to MBTiles or PMTiles for a map'
const unpack = 'Unpack it, and send the file or a zip of the files'
const asExport = 'Export the data as GeoPackage or GeoJSON'

const any = (count: number): string => '?'.repeat(count)
const inUtf16 = (name: string): string => Buffer.from(`${name}\0`, 'utf16le').toString('latin1')
/** The first entry of an archive. */
const zipWith = (name: string): string => `PK\x03\x04${any(26)}${name}`

/** Office documents of old are a file system; the names of their parts are in UTF-16. */
const ole = ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1']
const tiff = ['II*\0', 'II+\0', 'MM\0*', 'MM\0+']
/** The tag of the directory of geographic keys, and its type, in either order of bytes. */
const geoKeys = ['\xaf\x87\x03\0', '\x87\xaf\0\x03']
const officeOpen = ['[Content_Types].xml', '_rels/', 'docProps/', 'word/', 'ppt/'].map(zipWith)
const openDocument = 'mimetypeapplication/vnd.oasis.opendocument.'

/** Formats of everyday life that are not read; the first that fits counts. */
const signatures: readonly Signature[] = [
  { what: 'a PDF document', pattern: /^\s{0,8}%PDF-\d/ },
  { what: 'a PostScript document', magic: ['%!PS'] },
  { what: 'an RTF document', magic: ['{\\rtf'] },
  { what: 'a PNG image', magic: ['\x89PNG\r\n'], advice: rasters },
  { what: 'a JPEG image', magic: ['\xff\xd8\xff'], advice: rasters },
  { what: 'a GIF image', magic: ['GIF87a', 'GIF89a'], advice: rasters },
  { what: 'a WebP image', magic: ['RIFF????WEBP'], advice: rasters },
  { what: 'a HEIC or AVIF image', magic: ['\0\0??ftyphei', '\0\0??ftypavi', '\0\0??ftypmif'], advice: rasters },
  { what: 'an MP4 or QuickTime video', magic: ['\0\0??ftyp'] },
  {
    what: 'an audio or video file',
    magic: ['RIFF????WAVE', 'RIFF????AVI ', 'OggS\0', 'ID3\x02\0', 'ID3\x03\0', 'ID3\x04\0', '\x1aE\xdf\xa3'],
  },
  { what: 'a GeoTIFF', magic: tiff, contains: geoKeys, advice: rasters },
  { what: 'a TIFF image', magic: tiff, advice: rasters },
  { what: 'a JPEG 2000 image', magic: ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51'], advice: rasters },
  {
    what: 'a BMP image',
    magic: ['\x0c', '\x28', '\x6c', '\x7c'].map((size) => `BM????\0\0\0\0????${size}\0\0\0`),
    advice: rasters,
  },
  { what: 'a NetCDF or HDF5 file', magic: ['\x89HDF\r\n', 'CDF\x01', 'CDF\x02', 'CDF\x05'], advice: rasters },
  { what: 'a GRIB file', magic: ['GRIB???\x01', 'GRIB???\x02'], advice: rasters },
  { what: 'an Esri ASCII grid', pattern: /^ncols\s+\d+\s+nrows\s+\d+/i, advice: rasters },
  { what: 'a LAS or LAZ point cloud', magic: ['LASF'] },
  { what: 'a DWG drawing', magic: ['AC10??\0'], advice: 'Save it as DXF' },
  { what: 'OpenStreetMap data (PBF)', magic: ['????\n\tOSMHeader'], advice: asExport },
  {
    what: 'a Microsoft Access database',
    magic: ['\0\x01\0\0Standard Jet DB', '\0\x01\0\0Standard ACE DB'],
    advice: asExport,
  },
  {
    what: 'an old Excel workbook (.xls)',
    magic: ole,
    contains: ['Workbook', 'Book'].map(inUtf16),
    advice: 'Save it as .xlsx or CSV',
  },
  { what: 'an old Word document (.doc)', magic: ole, contains: [inUtf16('WordDocument')] },
  { what: 'an old PowerPoint presentation (.ppt)', magic: ole, contains: [inUtf16('PowerPoint Document')] },
  { what: 'an old Microsoft Office document', magic: ole },
  { what: 'a Word document (.docx)', magic: officeOpen, contains: ['word/document.xml'] },
  { what: 'a PowerPoint presentation (.pptx)', magic: officeOpen, contains: ['ppt/presentation.xml'] },
  {
    what: 'an OpenDocument text, presentation or drawing',
    magic: ['text', 'presentation', 'graphics'].map((kind) => zipWith(`${openDocument}${kind}`)),
  },
  { what: 'an e-book', magic: [zipWith('mimetypeapplication/epub')] },
  { what: 'a RAR archive', magic: ['Rar!\x1a\x07'], advice: unpack },
  { what: 'a 7z archive', magic: ['7z\xbc\xaf\x27\x1c'], advice: unpack },
  { what: 'a bzip2 archive', magic: ['BZh?1AY&SY'], advice: unpack },
  { what: 'an xz archive', magic: ['\xfd7zXZ\0'], advice: unpack },
  { what: 'a zstd archive', magic: ['\x28\xb5\x2f\xfd'], advice: unpack },
  { what: 'a tar archive', magic: [`${any(257)}ustar`], advice: unpack },
  { what: 'an Arrow or Feather file', magic: ['ARROW1\0\0', 'FEA1\0'], advice: 'Save it as GeoParquet' },
  { what: 'an Avro file', magic: ['Obj\x01'], advice: 'Save it as GeoParquet' },
  { what: 'a PostgreSQL dump', magic: ['PGDMP'], advice: asExport },
  {
    what: 'an SQL dump',
    pattern:
      /^(?:--[^\n]*\n|\s)*(?:CREATE (?:TABLE|SCHEMA|DATABASE|EXTENSION)\b|INSERT INTO |DROP (?:TABLE|DATABASE) |SET \w+ ?= ?|BEGIN(?: TRANSACTION)?;|START TRANSACTION;|PRAGMA \w|\/\*!\d{5} )/i,
    advice: asExport,
  },
  { what: 'a program', magic: ['MZ'], contains: ['cannot be run in DOS mode', 'PE\0\0'] },
  { what: 'a program', magic: ['\x7fELF', '\xca\xfe\xba\xbe\0', '\xcf\xfa\xed\xfe', '\0asm', '#!/'] },
  {
    what: 'the .prj file of a Shapefile',
    pattern: /^(GEOGCS|PROJCS|GEOGCRS|PROJCRS|COMPD_CS)\[/,
    advice: 'Send the .shp, .shx, .dbf and .prj files together in a zip',
  },
]

/** By the beginning of a file: the fault of one that is surely of no format that is read. */
export function unsupportedFault(head: Buffer): ReadFault | undefined {
  if (head.length === 0) return new ReadFault('empty_file', 'The file is empty.')
  const text = head.toString('latin1')
  const first = signatures.find((signature) => fits(signature, text))
  return first && unsupported(first.what, first.advice)
}

function fits({ magic, contains, pattern }: Signature, text: string): boolean {
  if (pattern) return pattern.test(text)
  const begins = magic?.some((bytes) => beginsWith(text, bytes)) ?? false
  return begins && (contains?.some((part) => text.includes(part)) ?? true)
}

function beginsWith(text: string, magic: string): boolean {
  if (text.length < magic.length) return false
  for (let at = 0; at < magic.length; at++) if (magic[at] !== '?' && magic[at] !== text[at]) return false
  return true
}

const headBytes = 64 * 1024

/** The same of a file on disk. */
export async function unsupportedFileFault(file: string): Promise<ReadFault | undefined> {
  return unsupportedFault(await readStart(file, headBytes))
}

const xmlKinds: Readonly<Record<string, string>> = {
  svg: 'an SVG image',
  osm: 'OpenStreetMap data (XML)',
  osmchange: 'OpenStreetMap changes (XML)',
  qgis: 'a QGIS project or style',
  styledlayerdescriptor: 'a style (SLD)',
  rss: 'a news feed (RSS)',
  feed: 'a news feed (Atom)',
  ogrvrtdatasource: 'a GDAL virtual file (VRT)',
  trainingcenterdatabase: 'a training file (TCX)',
  workbook: 'an Excel workbook of 2003 in XML',
  schema: 'an XML schema',
  md_metadata: 'a metadata record',
  landxml: 'LandXML',
  exceptionreport: 'an error message from a WFS server',
  serviceexceptionreport: 'an error message from a WMS or WFS server',
  wfs_capabilities: 'the capabilities of a WFS server',
  wms_capabilities: 'the capabilities of a WMS server',
}

/** What XML with this root element is, where it is surely not GML. */
export const unsupportedXml = (root: string): string | undefined => xmlKinds[root.toLowerCase()]
