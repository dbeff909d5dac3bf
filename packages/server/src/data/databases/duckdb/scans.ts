// Scans of a table, one for each of two boxes: DuckDB skips row groups by one box, but by no OR of boxes.
import { and, joinSql, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Test } from '../../../query/execution/push-down.ts'
import type { Filter } from '../../../query/filter/filter-tree.ts'

/** As many as a box across the date line has. */
const maxScans = 2

/**
 * The rows that can match, each once, or all of them. `boxesOf` answers conditions on boxes, one of which is true for
 * each row that the test keeps.
 */
export function scansSql(from: Sql, filter: Filter, boxesOf: (test: Test) => readonly Sql[]): Sql {
  const boxes = conjunctsOf(filter)
    .map((one) => alternativesOf(one, boxesOf))
    .find(({ length }) => length === maxScans)
  if (!boxes) return from
  const scans = boxes.map((box, index) => {
    const earlier = boxes.slice(0, index).map((other) => sql`(${other}) IS NOT TRUE`)
    return sql`SELECT * FROM ${from} AS q WHERE ${and([box, ...earlier])}`
  })
  return sql`(${joinSql(scans, ' UNION ALL ')})`
}

const conjunctsOf = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.filters.flatMap(conjunctsOf) : [filter]

function alternativesOf(filter: Filter, boxesOf: (test: Test) => readonly Sql[]): readonly Sql[] {
  if ('filter' in filter) return []
  if (!('filters' in filter)) return boxesOf(filter)
  if (filter.kind === 'and') return []
  const parts = filter.filters.map((one) => alternativesOf(one, boxesOf))
  return parts.every(({ length }) => length > 0) ? parts.flat() : []
}
