// The formats of a query's answer: one record each, from which the `format` parameter, Accept and the documents follow.

export type AnswerFormat = {
  readonly title: string
  /** The first is the answer's Content-Type; all are understood in Accept. */
  readonly mediaTypes: readonly [string, ...string[]]
  readonly extension: string
  /** How the cells of geometries are asked for: as text, or as hexadecimal WKB. */
  readonly geometry: 'geojson' | 'wkt' | 'wkb'
  /** The format says in which reference system its geometries are; others are in 4326 always. */
  readonly hasSrid: boolean
  /** Rows are features: the geometry is there even when the caller selected other attributes only. */
  readonly isFeatures: boolean
  /**
   * `rows`: text, written row by row in the event loop. `stream`: bytes, written in a thread while they are sent.
   * `file`: complete before the first byte is sent, because its beginning depends on its end, or because it has a limit.
   */
  readonly made: 'rows' | 'stream' | 'file'
}

const features = { hasSrid: false, isFeatures: true } as const

export const answerFormats = {
  json: {
    title: 'JSON',
    mediaTypes: ['application/json'],
    extension: 'json',
    geometry: 'geojson',
    hasSrid: true,
    isFeatures: false,
    made: 'rows',
  },
  geojson: {
    title: 'GeoJSON',
    mediaTypes: ['application/geo+json'],
    extension: 'geojson',
    ...features,
    geometry: 'geojson',
    made: 'rows',
  },
  csv: {
    title: 'CSV',
    mediaTypes: ['text/csv'],
    extension: 'csv',
    geometry: 'wkt',
    hasSrid: true,
    isFeatures: false,
    made: 'rows',
  },
  ndjson: {
    title: 'GeoJSON text sequence',
    mediaTypes: ['application/geo+json-seq', 'application/x-ndjson'],
    extension: 'geojsons',
    ...features,
    geometry: 'geojson',
    made: 'rows',
  },
  fgb: {
    title: 'FlatGeobuf',
    mediaTypes: ['application/flatgeobuf'],
    extension: 'fgb',
    geometry: 'wkb',
    hasSrid: true,
    isFeatures: true,
    made: 'stream',
  },
  gpkg: {
    title: 'GeoPackage',
    mediaTypes: ['application/geopackage+sqlite3'],
    extension: 'gpkg',
    geometry: 'wkb',
    hasSrid: true,
    isFeatures: false,
    made: 'file',
  },
  parquet: {
    title: 'GeoParquet',
    mediaTypes: ['application/vnd.apache.parquet'],
    extension: 'parquet',
    geometry: 'wkb',
    hasSrid: false,
    isFeatures: false,
    made: 'stream',
  },
  shp: {
    title: 'Shapefile',
    mediaTypes: ['application/zip'],
    extension: 'zip',
    geometry: 'wkb',
    hasSrid: true,
    isFeatures: true,
    made: 'file',
  },
  kml: {
    title: 'KML',
    mediaTypes: ['application/vnd.google-earth.kml+xml'],
    extension: 'kml',
    ...features,
    geometry: 'wkb',
    made: 'stream',
  },
  xlsx: {
    title: 'Excel',
    mediaTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    extension: 'xlsx',
    geometry: 'wkt',
    hasSrid: true,
    isFeatures: false,
    made: 'file',
  },
} as const satisfies Record<string, AnswerFormat>

export type FormatName = keyof typeof answerFormats

/** Written row by row, as text. */
export type TextFormat = { [N in FormatName]: (typeof answerFormats)[N]['made'] extends 'rows' ? N : never }[FormatName]

/** Written as bytes, in a thread. */
export type ExportFormat = Exclude<FormatName, TextFormat>

export const isExport = (name: FormatName): name is ExportFormat => answerFormats[name].made !== 'rows'

export const formatNames = Object.keys(answerFormats) as readonly FormatName[]

export const answerFormat = (name: FormatName): AnswerFormat => answerFormats[name]

const byMediaType: ReadonlyMap<string, FormatName> = new Map(
  formatNames.flatMap((name) => answerFormats[name].mediaTypes.map((type) => [type, name] as const)),
)

/** The format parameter takes precedence over the Accept header, whose first known type counts. */
export function chooseFormat(wanted: FormatName | undefined, accept = ''): FormatName {
  if (wanted) return wanted
  for (const type of accept.toLowerCase().split(',')) {
    const media = type.split(';', 1)[0]?.trim() ?? ''
    const name = media === '*/*' ? 'json' : byMediaType.get(media)
    if (name) return name
  }
  return 'json'
}
