import { ident, type Sql } from '../../../kernel/db/sql.ts'
import type { Extent } from '../../../query/geometry/geometry-type.ts'
import type { TablePlan } from './table-plan.ts'
import type { Target } from './target.ts'

/** A staging table, not visible to users. */
export type StagedTable = {
  readonly target: Target
  readonly name: string
  readonly plan: TablePlan
  /** The keys of loaded rows whose polygons may be invalid; undefined means any row. */
  readonly doubtful?: readonly number[] | undefined
  /** Of all its geometries, in their reference system, where that is known. */
  readonly box?: Extent
}

export const tableOf = ({ target, name }: Pick<StagedTable, 'target' | 'name'>): Sql => ident(target.schema, name)
