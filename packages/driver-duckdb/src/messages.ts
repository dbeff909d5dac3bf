import type { AttributeType } from './child/column-type.ts'
import type { FaultCode } from './fault.ts'

/** What the server and a tenant's process say to each other. JSON, so that no byte of a process is more than data. */

/** The canonical text of a value, or null. Geometries are hexadecimal WKB, bytes base64, arrays JSON. */
export type Cell = string | null

export type Box = readonly [west: number, south: number, east: number, north: number]

export type GeometryFact = {
  /** `Geometry` where it is mixed or not told. */
  readonly type: string
  /** 0 where no system is told, or one that has no EPSG number: then `system` names it. */
  readonly srid: number
  readonly system?: string
  readonly dimension: 2 | 3 | 4
  /** In its own system, by the file's metadata. */
  readonly extent?: Box
  readonly edges?: 'spherical'
  /** Where each row has its box: comparisons of these fields skip row groups, which `&&` does not. */
  readonly covering?: Covering
  /** Of Parquet's own geometry type, whose row groups have boxes: `&&` skips them. */
  readonly hasGroupBoxes?: boolean
}

export type Covering = {
  readonly xmin: readonly string[]
  readonly ymin: readonly string[]
  readonly xmax: readonly string[]
  readonly ymax: readonly string[]
}

export type DuckdbColumn = {
  readonly name: string
  readonly type: AttributeType
  readonly dbType: string
  readonly itemType?: AttributeType
  readonly isText?: boolean
  readonly withoutZone?: boolean
  readonly geometry?: GeometryFact
}

export type FileFormat = 'parquet' | 'csv' | 'json' | 'duckdb'

export type DuckdbTable = {
  /** Lower-case letters, digits and `_`, unique in the folder. */
  readonly name: string
  readonly file: string
  readonly format: FileFormat
  /** null where only reading the file would tell. */
  readonly rows: number | null
  readonly bytes: number
  readonly columns: readonly DuckdbColumn[]
  /** Changes with its file. */
  readonly version: string
  /** The table again, with the position of each row in its file as `svc_row`; absent where rows have none. */
  readonly withPositions?: string
}

/** A file that is no table, and why. */
export type RefusedFile = { readonly file: string; readonly reason: string }

export type Tables = {
  readonly tables: readonly DuckdbTable[]
  readonly refused: readonly RefusedFile[]
  /** Of DuckDB: `1.5.5`. */
  readonly version: string
}

/** A list is bound as VARCHAR[], all else as VARCHAR. */
export type BoundValue = Cell | readonly Cell[]

export type DuckdbQuery = { readonly text: string; readonly values: readonly BoundValue[] }

/** A Parquet file of the temporary directory of a process, which is gone when that ends. */
export type WrittenFile = { readonly path: string; readonly bytes: number; readonly rows: number }

/** Which folder, and which of its files ended a process and are not to be opened again: `name`, size, time, inode. */
export type DatabaseAddress = {
  readonly id: string
  readonly directory: string
  readonly quarantined: readonly string[]
}

export type Task =
  | { readonly kind: 'tables' }
  | { readonly kind: 'check'; readonly text: string }
  | { readonly kind: 'describe'; readonly text: string }
  | { readonly kind: 'explain'; readonly query: DuckdbQuery }
  | { readonly kind: 'select'; readonly query: DuckdbQuery }
  | { readonly kind: 'blocks'; readonly query: DuckdbQuery }
  | { readonly kind: 'write'; readonly query: DuckdbQuery; readonly name: string }

export type Request =
  | { readonly id: number; readonly kind: 'begin'; readonly database: DatabaseAddress; readonly task: Task }
  /** A batch was taken: one more may be sent. */
  | { readonly id: number; readonly kind: 'more' }
  | { readonly id: number; readonly kind: 'cancel' }

export type Reply =
  | { readonly id: number; readonly kind: 'columns'; readonly columns: readonly DuckdbColumn[] }
  | { readonly id: number; readonly kind: 'rows'; readonly rows: Cell[][] }
  /** A row block (see child/rows/row-block.ts) in base64. */
  | { readonly id: number; readonly kind: 'block'; readonly block: string }
  | { readonly id: number; readonly kind: 'done'; readonly value?: unknown }
  | { readonly id: number; readonly kind: 'fault'; readonly code: FaultCode; readonly message: string }
  /** The process has started and reads what it is sent. */
  | { readonly kind: 'ready' }
  /** The file that is being opened; none when that went well. */
  | { readonly kind: 'opening'; readonly file: string | null }

export type TaskReply = Extract<Reply, { readonly id: number }>

/** So many batches may be on their way before the first is taken. */
export const batchWindow = 16
