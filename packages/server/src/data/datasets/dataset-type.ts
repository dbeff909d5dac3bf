// The interface of dataset types. dataset-types.ts lists them; CONTRIBUTING.md says how to add one.

import type { Batches } from '../../kernel/db/guarded.ts'
import type { RawStatement, RowSink } from '../../kernel/db/postgres/raw-connection.ts'
import type { LaneSession } from '../../kernel/db/postgres/raw-lanes.ts'
import type { Connection, PostgresConnection } from '../../query/execution/connection.ts'
import type { DialectSubject, GeometryForm } from '../../query/execution/dialect.ts'
import type { ColumnName, InspectOptions, Periods, TableEstimate } from '../../query/execution/introspection.ts'
import type { Relation } from '../../query/execution/plan-sql.ts'
import type { SelectOptions } from '../../query/execution/select-options.ts'
import type { Cell, OutputColumn } from '../../query/formats/cell.ts'
import type { Plan } from '../../query/plan/plan.ts'
import type { Attribute } from '../../query/values/attribute.ts'
import type { TableName } from '../databases/postgres/introspect.ts'
import type { AttributeDto } from './attribute-dto.ts'
import type { Dataset, DatasetDraft } from './dataset-record.ts'
import type { MemoryOptions } from './memory/memory-options.ts'
import type { RunRest } from './queries/remaining-plan.ts'

export type DatasetType = {
  /** Names of the parameters the source uses. */
  parameters(dataset: Pick<Dataset, 'source' | 'metadata'>): readonly string[]
  /**
   * Finds the attributes of the rows. Throws a 400 for a wrong source: every dataset is inspected before it is stored.
   */
  inspect(dataset: DatasetDraft, context: SourceContext, options: InspectOptions): Promise<Inspection>
  open(dataset: Dataset, context: SourceContext, inputs: ParameterValues): Promise<Source>
  /** Estimated row count and extent, without reading rows; absent if there are no statistics. */
  estimate?(dataset: Dataset, context: SourceContext, options: SelectOptions): Promise<TableEstimate>
  /** What is known of the longitudes of its geometries, without reading rows; absent where nothing is. */
  periods?(dataset: Dataset, context: SourceContext, options: SelectOptions): Promise<Periods | undefined>
  /** The columns as the database has them now; absent or undefined where it cannot tell quickly. */
  columns?(dataset: Dataset, context: SourceContext, options: SelectOptions): Promise<readonly ColumnName[] | undefined>
  /** The origin that receives the dataset's secret headers; absent if the type has no secrets. */
  secretsOrigin?(source: string): string | undefined
  /** Whether the source reads a table of the dataset's database; absent if the rows are elsewhere. */
  readsTable?(source: string, table: TableName, isPlatform: boolean): Promise<boolean>
  /**
   * The table that the dataset is equal to, `schema` being that of unqualified names; absent if the dataset is not
   * exactly a table.
   */
  tableOf?(source: string, schema: string): TableName
}

/** What a type uses to open its sources. */
export type SourceContext = {
  /** Connects to the dataset's database on demand, because not every type needs it. */
  connect(): Promise<Connection>
  /** Runs the part of a plan that the database cannot. */
  readonly runRest: RunRest
  readonly memory: MemoryOptions
}

/** The caller's values for the dataset's own parameters, by name. */
export type ParameterValues = Readonly<Record<string, unknown>>

export type Inspection = { attributes: AttributeDto[]; bytes: number | null; rowEstimate: number | null }

/** An open dataset: one interface for tables, queries, web services and functions. */
export type Source = {
  rows(plan: Plan, shape: GeometryForm, options: SelectOptions): Promise<SourceRows>
  /**
   * A plan that reads one row by its key, compiled for other keys too. Undefined if it is no such plan, or if its database has no
   * lanes.
   */
  compileRow?(plan: Plan, shape: GeometryForm, options: SelectOptions): Promise<CompiledRow | undefined>
  /** The query plan; nothing is run. */
  explain(plan: Plan, options: SelectOptions): Promise<unknown>
  /** The tie-breaker for keyset paging; absent if rows have no key. */
  readonly key?: readonly Attribute[]
  /** Counts and extremes are computed where the data are, which is cheaper than reading all rows. */
  readonly isCountable?: boolean
  /** The source finds the rows in a box without reading the others. */
  readonly readsBoxes?: boolean
  /**
   * Only if PostGIS can reach it: for callers that write their own SQL. `isGraticule` if no part of the relation was written
   * by a tenant.
   */
  readonly inSql?: { readonly connection: PostgresConnection; readonly relation: Relation; readonly isTrusted: boolean }
  /** Only for an engine without PostGIS that sends row blocks for other threads. */
  readonly inBlocks?: BlockSource
}

/** How a row by its key is read over a lane. A key is given in its canonical form. */
export type CompiledRow = {
  readonly session: LaneSession
  readonly columns: readonly OutputColumn[]
  statementFor(key: string): RawStatement
  cellsOf(...row: Parameters<RowSink>): Cell[]
}

export type BlockSource = {
  readonly connection: Connection & Required<Pick<Connection, 'selectBlocks'>>
  readonly relation: Relation
  readonly subject: Pick<DialectSubject, 'table' | 'attributes'>
}

export type SourceRows = {
  readonly columns: readonly OutputColumn[]
  readonly batches: Batches
}
