// The relation that a dataset's statements read, where rules show attributes in some rows only.
import { ident, joinSql, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { attributesOf } from '../attribute-dto.ts'
import type { Dataset } from '../dataset-record.ts'

type Unmasked = { readonly from: Sql; readonly isTable: boolean }

export type VisibleRelation = Unmasked & {
  /** All that statements on it may name. */
  readonly attributes: readonly Attribute[]
}

const timeoutMs = 10_000

/** Rows of which all visible attributes are seen need no relation of their own: the plan has the condition (see visibleRows). */
export async function visibleRelation(
  connection: Connection,
  dataset: Dataset,
  { from, isTable }: Unmasked,
): Promise<VisibleRelation> {
  const { narrowing } = dataset
  const attributes = attributesOf(dataset).values().toArray()
  if (!narrowing) return { from, isTable, attributes }
  const whole = narrowing.whole.values().toArray()
  if (narrowing.masks.size === 0) return { from, isTable, attributes: whole }
  const dialect = await connection.dialect({ attributes: whole, srid: 4326, timeoutMs })
  const exactly = (filter: Filter): Sql => {
    const { condition, rest } = dialect.where(filter)
    if (rest) throw undecidable()
    return condition
  }
  const columns = attributes.map((attribute) => {
    const [value, mask] = [dialect.column(attribute), narrowing.masks.get(attribute.name)]
    return sql`${mask ? sql`CASE WHEN ${exactly(mask)} THEN ${value} END` : value} AS ${ident(attribute.name)}`
  })
  const masked = sql`(SELECT ${joinSql(columns, ', ')} FROM ${from} AS q WHERE ${exactly(narrowing.rows)})`
  return { from: masked, isTable: false, attributes }
}

const undecidable = (): ApiError =>
  new ApiError(
    'conflict',
    'The rules of this dataset show attributes in some rows only, which its database cannot decide. Use other conditions, or show them in all rows.',
  )
