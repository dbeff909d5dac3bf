// SQL dialect interface: how an engine spells a plan, and which parts of it the engine can run. The other parts run in
// memory on its rows.
import type { Sql } from '../../kernel/db/sql.ts'
import type { Filter } from '../filter/filter-tree.ts'
import type { PlanColumn, RowSample } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import type { GeometryNotation } from '../values/geometry-text.ts'
import type { Definitions } from '../values/projection.ts'

/** The output format of values. */
export type GeometryForm = { readonly geometry: GeometryNotation; readonly srid: number }

/**
 * The part of a filter that the engine tests, and the rest, to be tested on the rows it returns. The condition never
 * drops a row that the whole filter would keep.
 */
export type PushedFilter = { readonly condition: Sql; readonly rest: Filter | undefined }

/** What is sorted: an attribute, or an aggregate of one. */
export type SortedValue = Pick<PlanColumn, 'type' | 'attribute'>

/** The SQL expressions a plan is built from. Where a method returns undefined, the value is computed in memory. */
export type SqlDialect = {
  /** An attribute's value in a relation with the alias `q`. */
  column(attribute: Attribute): Sql
  where(filter: Filter): PushedFilter
  /** The relation's rows that the filter can keep, for an engine that finds them faster so. The filter is tested on them. */
  scan?(from: Sql, filter: Filter): Sql
  /** The cast of a value that is compared with the sorted column. Undefined: the engine gives it the type of the column. */
  castOf(column: PlanColumn): string | undefined
  /** A sort expression that gives the same order in every engine. */
  sortKey(value: Sql, sorted: SortedValue): Sql
  /** Whether the engine's equality is the same as in memory, so that it may group by the attribute. */
  canGroup(attribute: Attribute): boolean
  aggregate(column: PlanColumn & { readonly attribute: Attribute }): Sql | undefined
  distance(attribute: Attribute, column: PlanColumn): Sql | undefined
  /** The clause after the relation's name, and a condition. */
  sample(sample: RowSample, isTable: boolean): { readonly from: Sql; readonly where: Sql }
}

export type Dialect = SqlDialect & {
  /** The SQL that selects a column in its transfer format. */
  transferSql(column: PlanColumn, value: Sql, shape: GeometryForm): Sql
  /** Decodes the transfer format to a cell (see query/formats/cell.ts). Undefined when the text already is one. */
  reading(column: PlanColumn, shape: GeometryForm): ((text: string) => string | null) | undefined
  /** Only for engines that send row blocks. */
  readonly thinning?: Thinning
  /** Only for engines that send WKB: definitions of the reference systems the subject needs (see wkb-cells.ts). */
  readonly definitions?: Definitions
}

/** What the thinning of tiles needs of an engine (see data/tiles/thinning/). */
export type Thinning = {
  /** The relation in which rows have their ranks, if not that of the subject. */
  readonly from?: Sql
  /** A whole number from 0 to 2^31 - 1 that is uniform, always the same for a row, and independent of its location. */
  rank(attributes: readonly Attribute[]): Sql
  /** The centre of a geometry's box in its own coordinates, and the larger side of the box; of a point that is 0. */
  place(geometry: Attribute): { readonly x: Sql; readonly y: Sql; readonly width: Sql }
  /** Changes with the files that the subject is read from; absent where that is not known. */
  readonly version?: string
  /** How many rows there are, if that is known without counting. */
  readonly rows?: number
  /** Rows in a box are found without reading all. */
  readonly isSorted?: boolean
}

/** The subject of a query. An engine may have to look things up before it can spell the query. */
export type DialectSubject = {
  /** Only for a table dataset. */
  readonly table?: string
  readonly attributes: Iterable<Attribute>
  /** The SRID of the answer. */
  readonly srid: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}
