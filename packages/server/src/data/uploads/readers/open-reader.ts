import { type FileFormat, titleOf } from './formats.ts'
import { layerNameOf, type OpenReader, type Reader, type ReaderOptions, ReadFault } from './reader.ts'
import { sniff } from './sniff.ts'
import { refuseTableRules } from './table/table-faults.ts'
import { inUtf8 } from './text/text-encoding.ts'
import { unsupported } from './unsupported-format.ts'
import { gunzip } from './zip/gzip.ts'

type Open = (file: string, options: ReaderOptions) => Promise<Reader>

/** A process reads one file: of all readers it loads the one it needs. */
const openers: Partial<Record<FileFormat, Open>> = {
  geojson: async (file, options) => {
    const { file: text, warnings } = await inUtf8(file, options)
    const { fileName, signal } = options
    const records = (await import('./json/shape.ts')).findRecords(text)
    if (records) {
      const { openJsonRecords } = await import('./json/records.ts')
      return openJsonRecords(text, records, { fileName, warnings, rules: options, signal })
    }
    refuseTableRules(options, 'GeoJSON')
    const { openGeoJson } = await import('./geojson/geojson.ts')
    return openGeoJson(text, { fileName, warnings, rules: options })
  },
  topojson: async (file, options) => {
    const { openTopoJson } = await import('./topojson/topojson.ts')
    const { file: text, warnings } = await inUtf8(file, options)
    return openTopoJson(text, { warnings })
  },
  csv: async (file, options) => {
    const { openCsv } = await import('./csv/csv.ts')
    const { file: text, warnings } = await inUtf8(file, options)
    return openCsv(text, { fileName: options.fileName, warnings, rules: options })
  },
  kml: async (file, options) => (await import('./kml/kml.ts')).openKml(file, options),
  gpx: async (file, options) => (await import('./gpx/gpx.ts')).openGpx(file, options),
  xlsx: async (file, options) => (await import('./xlsx/xlsx.ts')).openXlsx(file, options),
  parquet: async (file, options) => (await import('./geoparquet/geoparquet.ts')).openGeoParquet(file, options),
  gpkg: async (file) => (await import('./geopackage/geopackage.ts')).openGeoPackage(file),
  flatgeobuf: async (file, options) => (await import('./flatgeobuf/flatgeobuf.ts')).openFlatGeobuf(file, options),
  shapefile: async (file, options) => (await import('./shapefile/shapefile.ts')).openShapefile(file, options),
  dbf: async (file, options) =>
    (await import('./shapefile/shapefile.ts')).openShapefiles(
      [{ name: layerNameOf(options.fileName), dbf: file }],
      options,
    ),
  gml: byGdal('gml'),
  dxf: byGdal('dxf'),
  mapinfo: byGdal('mapinfo'),
  zip: async (file, options) => (await import('./zip/open.ts')).openZip(file, options, openReader),
}

function byGdal(format: 'gml' | 'dxf' | 'mapinfo'): Open {
  return async (file, options) => (await import('./gdal/gdal.ts')).openByGdal(file, format, options)
}

/** Opens a file by what its content is; compressed ones are unpacked, once. */
export const openReader: OpenReader = async (file, options) => {
  const format = await sniff(file)
  if (format !== 'gzip') return openAs(format, file, options)
  const { file: unpacked, bytes } = await gunzip(file, options)
  const inner = await sniff(unpacked)
  if (inner === 'gzip' || inner === 'zip')
    throw new ReadFault('unsupported_format', 'Archives within archives are not supported. Unpack the inner one first.')
  return { ...(await openAs(inner, unpacked, options)), unpackedBytes: bytes }
}

async function openAs(format: FileFormat, file: string, options: ReaderOptions): Promise<Reader> {
  const open = openers[format]
  if (!open) throw unread(format)
  if (!tables.has(format)) refuseTableRules(options, titleOf(format))
  return open(file, options)
}

/** What may hold tables, whose columns the client may have a word on; an archive opens its files by these rules. */
const tables: ReadonlySet<FileFormat> = new Set(['csv', 'xlsx', 'geojson', 'zip'])

/** Formats that are known but have no reader of features. */
function unread(format: FileFormat): ReadFault {
  if (format === 'sqlite') return unsupported('a SQLite database without the tables of a GeoPackage')
  return new ReadFault(
    'unsupported_format',
    'This archive of tiles is not supported. Send MBTiles, or PMTiles of version 3, without packing it into another file.',
  )
}
