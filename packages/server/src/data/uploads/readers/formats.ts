/**
 * The formats of files that can be uploaded, each declared once: what messages and the console call them, and which files of an
 * archive are read as one. What a file is, is found by its content (`sniff.ts`), never by its name. The console imports this file as
 * it is, so it imports nothing.
 */
type Declaration = {
  /** None for what is only a wrapping, or known and not read. */
  readonly title?: string
  /** How files of this format are called in an archive, where others lie beside them. */
  readonly extensions?: readonly string[]
}

const declared = {
  geojson: { title: 'GeoJSON', extensions: ['geojson', 'geojsonl', 'geojsons', 'ndjson', 'json'] },
  shapefile: { title: 'zipped Shapefile' },
  gpkg: { title: 'GeoPackage', extensions: ['gpkg'] },
  kml: { title: 'KML', extensions: ['kml'] },
  gpx: { title: 'GPX', extensions: ['gpx'] },
  csv: { title: 'CSV', extensions: ['csv', 'tsv'] },
  xlsx: { title: 'XLSX', extensions: ['xlsx'] },
  flatgeobuf: { title: 'FlatGeobuf', extensions: ['fgb'] },
  parquet: { title: 'GeoParquet', extensions: ['parquet', 'geoparquet'] },
  topojson: { title: 'TopoJSON', extensions: ['topojson'] },
  gml: { title: 'GML', extensions: ['gml'] },
  dxf: { title: 'DXF', extensions: ['dxf'] },
  mapinfo: { title: 'MapInfo' },
  // A folder, which is always packed.
  zip: { title: 'FileGDB' },
  dbf: { title: 'dBASE' },
  mbtiles: { title: 'MBTiles' },
  pmtiles: { title: 'PMTiles' },
  gzip: {},
  sqlite: {},
} as const satisfies Readonly<Record<string, Declaration>>

/** What a file is, by its content. */
export type FileFormat = keyof typeof declared

/** What messages call a format. */
export const titleOf = (format: FileFormat): string => (declared[format] as Declaration).title ?? format

const formats: readonly Declaration[] = Object.values(declared)
const titles = formats.flatMap(({ title }) => title ?? [])

/** The formats that are read, as a list in words. */
export const supportedFormats = `${titles.slice(0, -1).join(', ')} and ${titles.at(-1)}`

/** Whether a file of an archive is read, by its name: what it is, is found by its content. */
export const isNamedAsData = (name: string): boolean => extensions.has(/\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '')

const extensions: ReadonlySet<string> = new Set(formats.flatMap(({ extensions: own = [] }) => own))
