// Plan interpreter in SQL: one SELECT in a given dialect; plan-rows.ts is its counterpart in memory.
import { ident, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { completeOrder, isByKey } from '../plan/keyset.ts'
import type { Plan, PlanColumn, SortOrder } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import type { SqlDialect } from './dialect.ts'
import { afterSql, type Term } from './keyset-sql.ts'

/** The relation a plan runs on. */
export type Relation = {
  /** A table name, or a subquery in parentheses. */
  readonly from: Sql
  /** TABLESAMPLE works only on tables; from other relations rows are sampled one by one. */
  readonly isTable: boolean
  /** The tie-breaker, so that pages neither overlap nor skip rows. */
  readonly key: readonly Attribute[]
}

/** Writes a plan as one SELECT. `render` gives a column its transfer format; `condition` is the filter. */
export function planSql(
  plan: Plan,
  relation: Relation,
  dialect: SqlDialect,
  render: (column: PlanColumn, value: Sql) => Sql,
  condition: Sql = dialect.where(plan.where).condition,
): Sql {
  const { columns, group, distinct, limit, offset } = plan
  const order = completeOrder(plan, relation.key)
  const terms = order.map((term) => termOf(term, relation, dialect))
  const shown = columns.map((item) => sql`${render(item, expressionOf(item, dialect))} AS ${ident(item.name)}`)
  const from = (plan.sample ? undefined : dialect.scan?.(relation.from, plan.where)) ?? relation.from
  const sample = plan.sample && dialect.sample(plan.sample, relation.isTable)
  const clauses: Sql[] = [
    sql`SELECT ${distinct.length > 0 ? sql`DISTINCT ON (${list(distinct.map((attribute) => dialect.sortKey(dialect.column(attribute), { type: attribute.type, attribute })))}) ` : raw('')}${list(shown)}`,
    sql`FROM ${from} AS q${sample?.from ?? raw('')}`,
    sql`WHERE ${condition}${sample?.where ?? raw('')}`,
    ...(plan.after ? [sql`AND ${afterSql(terms, plan.after)}`] : []),
  ]
  if (group && group.length > 0) clauses.push(sql`GROUP BY ${list(group.map(dialect.column))}`)
  if (terms.length > 0) clauses.push(sql`ORDER BY ${list(terms.map(orderSql))}`)
  if (limit !== undefined) clauses.push(sql`LIMIT ${limit}`)
  if (offset > 0) clauses.push(sql`OFFSET ${offset}`)
  return joinSql(clauses, '\n')
}

const list = (items: readonly Sql[]): Sql => (items.length > 0 ? joinSql(items, ', ') : raw(''))

function termOf(term: SortOrder, { key }: Relation, dialect: SqlDialect): Term {
  const value = expressionOf({ ...term.by, isSortKey: true }, dialect)
  return { ...term, value, isNotNull: isByKey(term, key), cast: dialect.castOf(term.by) }
}

/** No NULLS LAST for a key, which is never null: its index, read backwards, is then in order. */
function orderSql({ value, isDescending, isNotNull }: Term): Sql {
  const direction = isDescending ? 'DESC' : 'ASC'
  return sql`${value} ${raw(isNotNull ? direction : `${direction} NULLS LAST`)}`
}

/** A text key that only breaks ties keeps its own collation, because its index serves no other. */
function expressionOf(item: PlanColumn, dialect: SqlDialect): Sql {
  const value = valueSql(item, dialect)
  if (!item.isSortKey || (item.isTieBreaker && item.attribute?.isText)) return value
  return dialect.sortKey(value, item)
}

function valueSql(item: PlanColumn, dialect: SqlDialect): Sql {
  const { attribute, aggregate, distanceTo } = item
  if (!attribute) return raw(aggregate ? 'count(*)' : 'NULL')
  if (distanceTo) return dialect.distance(attribute, item) ?? raw('NULL')
  return aggregate ? (dialect.aggregate({ ...item, attribute }) ?? raw('NULL')) : dialect.column(attribute)
}
