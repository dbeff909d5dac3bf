import type { Warning } from '../reader.ts'
import type { GeometryColumns } from './geometry-cell.ts'

/** Where the geometry of a table was found, and what is to be said of it. */
export type FoundGeometry = {
  readonly geometryColumns: GeometryColumns
  readonly warnings: readonly Warning[]
  /** The reference system that names and values tell. */
  readonly srid?: number
  /** Which one it may be, where they do not. */
  readonly sridHint?: string
}
