import { open } from 'node:fs/promises'
import type { FileFormat } from './formats.ts'
import { ReadFault } from './reader.ts'
import { openSqliteFile, type SqliteFile } from './sqlite/sqlite-file.ts'
import { detectUtf16, utf16Text } from './text/utf16.ts'
import { supportedText, unsupported, unsupportedFault, unsupportedXml } from './unsupported-format.ts'

const headBytes = 64 * 1024

type FileEnds = { head: Buffer; tail: Buffer; file: string }

/** Looks at a file's ends. Throws a fault for what no reader takes, an empty file first of all. */
export async function sniff(file: string): Promise<FileFormat> {
  const ends = await readEnds(file)
  const foreign = unsupportedFault(ends.head)
  if (foreign) throw foreign
  const format = binaryFormat(ends) ?? textFormat(sniffedText(ends.head))
  if (format === undefined) throw unknown(ends.head)
  return format
}

function unknown(head: Buffer): ReadFault {
  const begins = head.toString('hex', 0, 8).replaceAll(/(..)(?=.)/g, '$1 ')
  return new ReadFault(
    'unsupported_format',
    `The format of the file is not known; it begins with the bytes ${begins}. ${supportedText}`,
  )
}

async function readEnds(file: string): Promise<FileEnds> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const head = Buffer.alloc(Math.min(size, headBytes))
    const tail = Buffer.alloc(Math.min(size, headBytes + 1024))
    if (size > 0) {
      await handle.read(head, 0, head.length, 0)
      await handle.read(tail, 0, tail.length, size - tail.length)
    }
    return { head, tail, file }
  } finally {
    await handle.close()
  }
}

function startsWith(head: Buffer, magic: string): boolean {
  return head.subarray(0, magic.length).equals(Buffer.from(magic, 'latin1'))
}

function binaryFormat({ head, tail, file }: FileEnds): FileFormat | undefined {
  if (startsWith(head, '\x1f\x8b')) return 'gzip'
  if (startsWith(head, 'PK\x03\x04') || startsWith(head, 'PK\x05\x06')) {
    return tail.includes('xl/workbook.xml') ? 'xlsx' : 'zip'
  }
  if (startsWith(head, 'SQLite format 3\0')) return sqliteFormat(head, file)
  if (startsWith(head, 'PMTiles')) return 'pmtiles'
  if (startsWith(head, 'PAR1')) return 'parquet'
  if (startsWith(head, 'fgb\x03fgb')) return 'flatgeobuf'
  if (head.length >= 100 && head.readInt32BE(0) === 9994) return 'shapefile'
  if (isDbf(head)) return 'dbf'
  return startsWith(head, 'AutoCAD Binary DXF') ? 'dxf' : undefined
}

/** The table of a Shapefile has no magic number: a version, a date, and a heading that ends where it says. */
function isDbf(head: Buffer): boolean {
  if (head.length < 65 || ![0x03, 0x30, 0x31, 0x83, 0x8b, 0xf5].includes(head[0] ?? 0)) return false
  const [month = 0, day = 0, headerSize] = [head[2], head[3], head.readUInt16LE(8)]
  const isDate = month <= 12 && day <= 31
  const isField = /^[CNFDLMIBTOYGPV@+]$/.test(String.fromCharCode(head[43] ?? 0))
  const ends = head.subarray(64, headerSize).includes(0x0d)
  return isDate && isField && headerSize >= 65 && (headerSize > head.length || ends)
}

function sqliteFormat(head: Buffer, file: string): FileFormat {
  const application = head.toString('latin1', 68, 72)
  if (/^GP(KG|10|11)$/.test(application)) return 'gpkg'
  if (application === 'MPBX') return 'mbtiles'
  const tables = sqliteTables(file)
  if (tables.has('gpkg_contents')) return 'gpkg'
  return tables.has('tiles') && tables.has('metadata') ? 'mbtiles' : 'sqlite'
}

function sqliteTables(file: string): SqliteFile['entries'] {
  try {
    const opened = openSqliteFile(file)
    opened.close()
    return opened.entries
  } catch (error) {
    throw new ReadFault('invalid_file', 'The SQLite database cannot be read.', {}, error)
  }
}

/** The text at the beginning in any of the encodings that files come in; undefined for what is no text. */
function sniffedText(head: Buffer): string | undefined {
  const order = detectUtf16(head)
  const text = order ? utf16Text(head, order) : head.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary from text
  return /[\0-\x08\x0e-\x1a\x1c\x1d\x7f]/.test(text) ? undefined : text
}

function textFormat(text: string | undefined): FileFormat | undefined {
  if (text === undefined) return undefined
  const start = text.replace('\x1e', '').trimStart()
  if (start === '') throw new ReadFault('empty_file', 'The file holds nothing but white space.')
  if (/^[{[]/.test(start)) return jsonFormat(start)
  if (start.startsWith('<')) return xmlFormat(start)
  if (/^(0\r?\n\s*SECTION|999\r?\n)/.test(start)) return 'dxf'
  if (/^(!table\b|version\s+\d+\s*\r?\n(charset|delimiter|columns))/i.test(start)) return 'mapinfo'
  return looksLikeTable(text) ? 'csv' : undefined
}

function jsonFormat(start: string): FileFormat {
  if (/"geometryType"\s*:\s*"esriGeometry/.test(start)) {
    throw new ReadFault('unsupported_format', 'Esri JSON is not supported. Export the data as GeoJSON.')
  }
  return /"type"\s*:\s*"Topology"/.test(start) && !/"type"\s*:\s*"Feature(Collection)?"/.test(start)
    ? 'topojson'
    : 'geojson'
}

function xmlFormat(start: string): FileFormat {
  const root = /<(?![?!])(?:[\w.-]+:)?([\w.-]+)/.exec(start.replace(/<!--[\s\S]*?(-->|$)/g, ''))?.[1]?.toLowerCase()
  if (/<!DOCTYPE\s+html/i.test(start) || root === 'html') {
    throw new ReadFault('wrong_format', `The file is a web page (HTML), not data. ${supportedText}`)
  }
  if (/<!DOCTYPE|<!ENTITY/i.test(start))
    throw new ReadFault('invalid_xml', 'XML with a document type (<!DOCTYPE …>) is not supported. Remove it.')
  if (root === 'kml' || root === 'gpx') return root
  const foreign = root && unsupportedXml(root)
  if (foreign) throw unsupported(foreign)
  if (root === 'featurecollection' || /xmlns(:\w+)?="http:\/\/www\.opengis\.net\/(gml|wfs)/.test(start)) return 'gml'
  throw unsupported(root ? `XML with the root element <${root.slice(0, 60)}>` : 'XML without an element')
}

/** A header of several cells, or of one followed by lines. */
function looksLikeTable(text: string): boolean {
  const [header = '', ...rest] = text.split(/\r\n|\n|\r/)
  return /[,;\t|]/.test(header) || (rest.some((line) => line !== '') && header.length < 200)
}
