// biome-ignore-all lint/performance/noBarrelFile: the door of the package
export type { AttributeType } from './child/column-type.ts'
export {
  createDuckdb,
  type Duckdb,
  type DuckdbDatabase,
  type DuckdbOptions,
  type DuckdbRecord,
  type SelectOptions,
} from './create-duckdb.ts'
export type { CallOptions, StartedQuery } from './exchange.ts'
export { DuckdbFault, type FaultCode } from './fault.ts'
export { formatOf } from './file-format.ts'
export type {
  BoundValue,
  Box,
  Cell,
  Covering,
  DuckdbColumn,
  DuckdbQuery,
  DuckdbTable,
  FileFormat,
  GeometryFact,
  RefusedFile,
  Tables,
  WrittenFile,
} from './messages.ts'
