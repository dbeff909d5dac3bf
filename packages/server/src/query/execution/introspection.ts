// Introspection: what a database reports about its tables and about queries, in terms that all engines share.
import type { Sql } from '../../kernel/db/sql.ts'
import type { Attribute, AttributeType, ScalarType } from '../values/attribute.ts'
import type { SelectOptions } from './select-options.ts'

/** `mayListTables`: the caller may see the names of all tables in the database. */
export type InspectOptions = SelectOptions & { readonly mayListTables?: boolean }

export type Introspection = {
  /** The engine's versions; also a check that it answers. */
  versions(signal: AbortSignal): Promise<EngineVersions>
  /** Tables and views that the connection's user may read, sorted by name. */
  tables(page: TablePage, signal: AbortSignal): Promise<TableInfo[]>
  /** A table's name in SQL. Throws a 400 for a table that datasets may not use. */
  tableSql(source: string): Sql
  describeTable(source: string, options: InspectOptions): Promise<TableFact>
  /** The columns of a table in their order, from the catalog alone; absent where that is not quicker than describing it. */
  columnNames?(source: string, options: SelectOptions): Promise<readonly ColumnName[]>
  /** SQL guard: throws a 400 unless the text, with `:name` markers, is a single read-only SELECT on data. */
  checkQuery(text: string, signal?: AbortSignal): Promise<void>
  /** The cast of a parameter, by type. */
  readonly parameterTypes: Readonly<Record<ScalarType, string>>
  /** The columns of a tenant's SELECT. `text` is the original, `query` has its parameters bound. */
  describeQuery(text: string, query: Sql, options: InspectOptions): Promise<readonly ColumnFact[]>
  /**
   * Suggests a fix for a SELECT that the engine refused: `typeHint` for a type error, else a sentence or an empty text.
   */
  queryHint?(fault: unknown, typeHint: string): string
  /** The PROJ definition of a reference system; undefined if it is unknown. */
  projection(srid: number, options: SelectOptions): Promise<string | undefined>
  /** Estimated row count and extent of a table from statistics; no row is read. */
  estimate(source: string, geometry: Attribute | undefined, options: SelectOptions): Promise<TableEstimate>
  /**
   * What is known of the longitudes of geometry columns, without reading rows; absent where nothing is. `source` is undefined for a
   * query, whose rows may lie anywhere.
   */
  periods?(source: string | undefined, geometries: readonly Attribute[], options: SelectOptions): Promise<Periods>
  /** Tells whether the rows of a table have changed, without reading them; absent or undefined where nothing tells. */
  fingerprint?(source: string, options: SelectOptions): Promise<Fingerprint | undefined>
}

/**
 * After how many units the x coordinates of a geometry column repeat, where they may lie beyond ±180 degrees; null where they do not, or
 * there is nothing to repeat. What is not named is not known.
 */
export type Periods = Readonly<Record<string, number | null>>

/** The state of a table that its connection's user may read. */
export type Fingerprint = {
  /** Another table of the same name has another. */
  readonly table: string
  /** Changes with the rows. */
  readonly rows: string
  /** From the engine's statistics; null if there are none. */
  readonly rowEstimate: number | null
  /** The names of its columns. */
  readonly columns: ReadonlySet<string>
}

/** `postgisVersion` is set only for PostgreSQL. */
export type EngineVersions = { readonly serverVersion: string; readonly postgisVersion?: string }

export type ColumnName = { readonly name: string; readonly dbType: string }

/** What a column gets where a row has no value for it. */
export type DefaultFact = {
  /** An expression of the database. */
  readonly default?: string
  /** `always`: the database alone gives values. */
  readonly generated?: 'always' | 'byDefault'
}

/** A column's database type and the attribute type that queries use for it. */
export type ColumnFact = DefaultFact & {
  readonly name: string
  readonly type: AttributeType
  /** `character varying(20)`, `geometry(Point,4326)` */
  readonly dbType: string
  /** Of a domain: the type that it limits. `record` of a composite type. */
  readonly baseType?: string
  readonly nullable: boolean
  readonly primaryKey: boolean
  readonly description: string
  readonly geometry?: GeometryFact
}

export type GeometryFact = {
  readonly type: string
  /** 0 if it is not known. */
  readonly srid: number
  readonly dimension: number
  /** Values with several reference systems were seen. */
  readonly hasSystems?: boolean
  /** Values without a reference system were seen whose coordinates are no degrees. */
  readonly isOutsideDegrees?: boolean
}

export type TableFact = {
  readonly columns: readonly ColumnFact[]
  readonly bytes: number
  /** From the engine's statistics; null if there are none. */
  readonly rowEstimate: number | null
  /** TABLESAMPLE works on it. */
  readonly isTable: boolean
}

/** A page of the table list, by its offset. */
export type TablePage = { readonly schema?: string; readonly limit: number; readonly offset: number }

export const tableKinds = ['table', 'view', 'materialized view', 'partitioned table', 'foreign table'] as const

/** A table or view in the database's catalog. */
export type TableInfo = {
  readonly schema: string
  readonly name: string
  /** The `source` of a dataset for this table. */
  readonly source: string
  readonly kind: (typeof tableKinds)[number]
  /** From the engine's statistics; null if there are none. */
  readonly rows: number | null
  readonly geometryColumn: string | null
  readonly geometryType: string | null
  readonly srid: number | null
  readonly comment: string
}

/** Estimated row count and extent (west, south, east, north in degrees). Null if unknown. */
export type TableEstimate = {
  readonly rows: number | null
  readonly extent: readonly number[] | null
  /** The rows of a small box are found without reading others. */
  readonly isIndexed?: boolean
}
