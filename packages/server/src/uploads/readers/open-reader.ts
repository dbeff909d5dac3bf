import { openCsv } from './csv.ts'
import { openFlatGeobuf } from './flatgeobuf.ts'
import { openByGdal } from './gdal.ts'
import { openGeoJson } from './geojson.ts'
import { openGeoPackage } from './geopackage.ts'
import { openGpx } from './gpx.ts'
import { gunzip } from './gzip.ts'
import { openKml } from './kml.ts'
import { type OpenOptions, type OpenReader, type Reader, ReadFault } from './reader.ts'
import { openShapefile } from './shapefile.ts'
import { type FileFormat, sniff } from './sniff.ts'
import { inUtf8 } from './text-encoding.ts'
import { openTopoJson } from './topojson.ts'
import { openZip } from './zip-open.ts'

type Open = (file: string, options: OpenOptions) => Promise<Reader>

const openers: Partial<Record<FileFormat, Open>> = {
  geojson: async (file, options) => {
    const { file: text, warnings } = await inUtf8(file, options)
    return openGeoJson(text, { fileName: options.fileName, warnings })
  },
  topojson: async (file, options) => {
    const { file: text, warnings } = await inUtf8(file, options)
    return openTopoJson(text, { warnings })
  },
  csv: async (file, options) => {
    const { file: text, warnings } = await inUtf8(file, options)
    return openCsv(text, { fileName: options.fileName, warnings })
  },
  kml: async (file, options) => openKml(file, options),
  gpx: openGpx,
  // Loaded only when needed: they bring large libraries along.
  xlsx: async (file, options) => (await import('./xlsx.ts')).openXlsx(file, options),
  parquet: async (file, options) => (await import('./geoparquet.ts')).openGeoParquet(file, options),
  gpkg: openGeoPackage,
  flatgeobuf: openFlatGeobuf,
  shapefile: openShapefile,
  gml: (file, options) => openByGdal(file, 'gml', options),
  dxf: (file, options) => openByGdal(file, 'dxf', options),
  mapinfo: (file, options) => openByGdal(file, 'mapinfo', options),
  zip: (file, options) => openZip(file, options, openReader),
}

/** Opens a file by what its content is; compressed ones are unpacked, once. */
export const openReader: OpenReader = async (file, options) => {
  const format = await sniff(file)
  if (format !== 'gzip') return openAs(format, file, options)
  const unpacked = await gunzip(file, options)
  const inner = await sniff(unpacked)
  if (inner === 'gzip' || inner === 'zip')
    throw new ReadFault('unsupported_format', 'Archives within archives are not read.')
  return openAs(inner, unpacked, options)
}

async function openAs(format: FileFormat, file: string, options: OpenOptions): Promise<Reader> {
  const open = openers[format]
  if (!open) throw new ReadFault('unsupported_format', `Files of the format ${format} are not read.`)
  return open(file, options)
}
