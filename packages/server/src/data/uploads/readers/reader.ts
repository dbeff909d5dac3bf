import { GeometryFault } from '../../../query/geometry/geometry-fault.ts'
import {
  type Extent,
  type GeometryType,
  geometryTypes as geometryTypeNames,
} from '../../../query/geometry/geometry-type.ts'
import type { DecimalDigits } from './engine/numeric-binary.ts'
import type { TableRules } from './table-rules.ts'

/** Why a file could not be read; told to the client in the upload's `error`. */
export type UploadErrorCode =
  | 'empty_file'
  | 'unsupported_format'
  | 'wrong_format'
  | 'invalid_json'
  | 'invalid_xml'
  | 'invalid_file'
  | 'truncated'
  | 'unsupported_encoding'
  | 'feature_too_large'
  | 'row_too_large'
  | 'too_many_columns'
  | 'zip_limit'
  | 'expansion_limit'
  | 'zip_encrypted'
  | 'invalid_zip'
  | 'srid_required'
  | 'srid_unknown'
  | 'no_features'
  | 'invalid_rows'
  | 'layer_not_found'
  | 'database_error'
  | 'worker_died'
  | 'read_timeout'
  | 'storage_full'
  | 'field_mismatch'

/** Where in the file a fault is: the ordinal of the feature and the line count from 1. `field` is one of the upload that does not fit. */
export type FilePosition = { feature?: number; line?: number; layer?: string; field?: string }

/** The file is at fault, for good: trying again does not help. */
export class ReadFault extends Error {
  readonly code: UploadErrorCode
  readonly position: FilePosition

  constructor(code: UploadErrorCode, message: string, position: FilePosition = {}, cause?: unknown) {
    super(message, { cause })
    this.name = 'ReadFault'
    this.code = code
    this.position = position
  }
}

/** A geometry that cannot be read is a fault of the file, at this place. */
export function asReadFault(error: unknown, position: FilePosition = {}): unknown {
  const isFault = error instanceof ReadFault || error instanceof GeometryFault
  return isFault ? new ReadFault(error.code, error.message, position) : error
}

/** Something the user should know of though the file was loaded; `count` is the number of features it is true of. */
export type Warning = { code: string; message: string; count?: number }

/** What a field can turn out to be; found by scanning all of it. */
export type FieldType =
  | 'boolean'
  | 'integer'
  | 'bigint'
  | 'number'
  /** A decimal that no double holds. */
  | 'numeric'
  | 'date'
  | 'timestamp'
  | 'timestamptz'
  | 'time'
  | 'json'
  | 'text'
  | 'binary'
  | 'uuid'

/** The name is as in the file. */
export type ScannedField = {
  name: string
  type: FieldType
  /** Of a decimal, where the file declares them. */
  digits?: DecimalDigits
}

/** All that a scan finds out about a layer. */
export type ScannedLayer = {
  name: string
  fields: ScannedField[]
  featureCount: number
  /** Of the geometries that will be loaded; empty for a plain table. */
  geometryTypes: Set<GeometryType>
  hasZ: boolean
  /** A file names its reference system by code or by its text (.prj), or not at all. */
  srid?: number
  wkt?: string
  /** Which reference systems it may be, where it names none. */
  sridHint?: string
  /** The type of its column of geometries before it was exported, such as `MultiPolygonZ`. */
  notedGeometry?: string
  /** It has no geometries, but a place for them. */
  isSpatial?: boolean
  /** Only the beginning was read. */
  isPart?: boolean
  /** Of a table: the columns that the geometry is read from. */
  geometryColumns?: readonly string[]
  /** In the file's own coordinates. */
  extent?: Extent
  warnings: Warning[]
}

/** One column of the rows to encode; `field` is an index into the fields of the scanned layer. */
export type EncodedColumn =
  | { kind: 'fid' }
  | { kind: 'field'; field: number; type: FieldType }
  /** `isMulti`: single geometries become multi; `hasZ`: all get a Z (0 where they have none), else none. */
  | { kind: 'geometry'; srid: number; hasZ: boolean; isMulti: boolean }

export type OnReading = (fraction: number, rows?: number) => void

export type PassOptions = {
  signal: AbortSignal
  /** From 0 to 1, never falling, and the records read so far. */
  onProgress?: OnReading
}

/** What a load found: the rows are whole only when the layer is as it was guessed to be. */
export type LoadResult = { layer: ScannedLayer; isAsGuessed: boolean }

/**
 * One open file. Once is mostly enough to read it: `guess` looks at the beginning, and `load` encodes while it scans. Where the
 * guess was wrong it is read twice: `scan` learns the exact types and finds every fault, `encode` cannot be surprised.
 */
export type Reader = {
  format: string
  layers(): Promise<string[]>
  scan(layer: string, options: PassOptions): Promise<ScannedLayer>
  /** The rows of a layer that was scanned as tuples of COPY BINARY, in chunks of whole rows; no header, no trailer. A chunk is good until the next is asked for. */
  encode(layer: string, columns: readonly EncodedColumn[], options: PassOptions): AsyncIterable<Buffer>
  /** What the layer is by its first features; undefined when there is nothing to go by. */
  guess(layer: string, options: PassOptions): Promise<ScannedLayer | undefined>
  /** The rows of a layer that was guessed. They end where the guess turns out wrong; the scan goes on, and is as good as any. */
  load(layer: string, columns: readonly EncodedColumn[], options: PassOptions): AsyncGenerator<Buffer, LoadResult>
  /** Of a compressed file: how large it is, or its beginning where no more was wanted. */
  readonly unpackedBytes?: number
  close(): Promise<void>
}

/** Of a file that is compressed or in another encoding so much is unpacked where only its beginning is wanted. */
export const sampleBytes = 32 * 1024 * 1024

export type ReaderOptions = TableRules & {
  /** The client's name of the file: only names a layer, never decides the format. */
  fileName: string
  /** Private to this upload; whatever is unpacked lies there, and the caller removes it. */
  directory: string
  signal: AbortSignal
  layer?: string
  /** What the client says of the coordinates, whatever the file says. */
  sourceSrid?: number
  /** No row may be skipped. */
  strict?: boolean
  allowNativeGdal: boolean
  /** Only the beginning is wanted: a large file need not be unpacked or looked through as a whole. */
  isSample?: boolean
  /** Of the text in the file, whatever the file says; formats that are always in Unicode do not ask for it. */
  encoding?: string
  /** So many more bytes were unpacked or converted: whoever waits knows that something goes on. */
  onAdvance?: (bytes: number) => void
  /** Has a conversion done elsewhere, where GDAL may have been started before. */
  convertByGdal?: (task: GdalTask) => Promise<void>
}

/** What GDAL is to read: the file or folder and its directory, where the result goes, and the only driver allowed. */
export type GdalTask = {
  readonly source: string
  readonly sourceDirectory: string
  readonly resultDirectory: string
  readonly driver: string
  readonly signal: AbortSignal
  /** Of all files of the source. */
  readonly bytes: number
  /** The features keep their numbers. */
  readonly keepsIds: boolean
  readonly onAdvance?: ReaderOptions['onAdvance']
  readonly onStarted?: (pid: number) => void
}

export type OpenReader = (file: string, options: ReaderOptions) => Promise<Reader>

/** As many as rows of PostgreSQL can be expected to hold. */
export const maxFields = 1_000

/** A single feature, row or value may not be larger: memory stays flat. */
export const maxFeatureBytes = 16 * 1024 * 1024

const multiOf = { Point: 'MultiPoint', LineString: 'MultiLineString', Polygon: 'MultiPolygon' } as const

/** The type of a geometry column for these geometries: one type, its multi type when both occur, else any. */
export function geometryColumnType(types: ReadonlySet<GeometryType>): {
  type: GeometryType | 'Geometry'
  isMulti: boolean
} {
  const [first, second] = types
  if (types.size === 1 && first) return { type: first, isMulti: false }
  if (types.size === 2 && first && second) {
    for (const [single, multi] of Object.entries(multiOf) as [GeometryType, GeometryType][]) {
      if (types.has(single) && types.has(multi)) return { type: multi, isMulti: true }
    }
  }
  return { type: 'Geometry', isMulti: false }
}

/** The type that the column had before it was exported, if all geometries are of it or become it as parts of a multi one. */
export function notedGeometryType({
  notedGeometry = '',
  geometryTypes,
}: Pick<ScannedLayer, 'notedGeometry' | 'geometryTypes'>): ReturnType<typeof geometryColumnType> | undefined {
  const noted = notedGeometry.replace(/Z$/, '')
  if (noted === 'Geometry') return { type: noted, isMulti: false }
  const type = geometryTypeNames.find((name) => name === noted)
  const isFit = (one: GeometryType): boolean => one === type || (one in multiOf && multiOf[one as 'Point'] === type)
  return type && [...geometryTypes].every(isFit) ? { type, isMulti: type.startsWith('Multi') } : undefined
}

const packing = /\.(gz|gzip|zip|kmz)$/i
const ending = /\.[A-Za-z][A-Za-z0-9]{0,9}$/

/** The name of the only layer of a file: the file's own, without directories and endings. `roads.2024.csv` is `roads.2024`. */
export function layerNameOf(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? ''
  const unpacked = base.replace(packing, '')
  // What was packed may have an ending of its own: roads.shp.zip, roads.csv.gz.
  return unpacked.replace(ending, '') || unpacked || base || 'layer'
}
