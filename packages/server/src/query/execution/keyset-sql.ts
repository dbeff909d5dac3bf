// Keyset paging in SQL: the condition for the rows behind a cursor's position.
import { bound, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import type { KeysetPosition, SortOrder } from '../plan/plan.ts'

/** One term of the complete order as SQL, with the cast of the value it is compared with. */
export type Term = SortOrder & { readonly value: Sql; readonly isNotNull: boolean; readonly cast: string | undefined }

/**
 * The condition for the rows behind a position, in parentheses. Key columns that sort in one direction are compared as
 * one row value, which an index serves as a range scan.
 */
export function afterSql(terms: readonly Term[], position: KeysetPosition): Sql {
  const [first, ...rest] = terms
  const at = position[0] ?? null
  if (!first) return raw('FALSE')
  if (isRow(terms)) return rowSql(terms, position)
  const { value, isNotNull } = first
  const behind = rest.length > 0 ? afterSql(rest, position.slice(1)) : raw('FALSE')
  if (at === null) return sql`(${value} IS NULL AND ${behind})`
  const limit = boundSql(first, at)
  const nulls = isNotNull ? raw('') : sql` OR ${value} IS NULL`
  return sql`(${value} ${comparison(first)} ${limit}${nulls} OR (${value} = ${limit} AND ${behind}))`
}

const isRow = (terms: readonly Term[]): boolean =>
  terms.every(({ isNotNull, isDescending }) => isNotNull && isDescending === terms[0]?.isDescending)

function rowSql(terms: readonly Term[], position: KeysetPosition): Sql {
  const values = joinSql(
    terms.map(({ value }) => value),
    ', ',
  )
  const bounds = joinSql(
    terms.map((term, index) => boundSql(term, position[index] ?? null)),
    ', ',
  )
  return sql`((${values}) ${comparison(terms[0])} (${bounds}))`
}

const comparison = (term: Term | undefined): Sql => raw(term?.isDescending ? '<' : '>')

const boundSql = ({ cast, by }: Term, at: string | null): Sql =>
  cast === undefined ? bound(at, by.attribute?.name ?? by.name) : sql`${at}::${raw(cast)}`
