// Predicate push-down: which part of a filter an engine tests, for engines that cannot test all of it.
import { and, joinSql, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { allOf, type Filter } from '../filter/filter-tree.ts'
import type { PushedFilter } from './dialect.ts'

/** A leaf of the filter tree. */
export type Test = Exclude<Filter, { filters: unknown } | { filter: unknown }>

/** A test in SQL. If it is not exact, it keeps extra rows but never drops a matching one. */
export type PushedTest = { readonly condition: Sql; readonly isExact: boolean }

/** `push` writes a leaf in SQL, or returns undefined if the engine cannot narrow it down. */
export function pushDown(filter: Filter, push: (test: Test) => PushedTest | undefined): PushedFilter {
  const { condition, rest } = split(filter, push)
  return { condition: sql`(${condition ?? raw('TRUE')})`, rest }
}

type Split = { readonly condition: Sql | undefined; readonly rest: Filter | undefined }

function split(filter: Filter, push: (test: Test) => PushedTest | undefined): Split {
  if ('filters' in filter) {
    const parts = filter.filters.map((inner) => split(inner, push))
    if (filter.kind === 'and') return splitAnd(parts)
    return { condition: either(parts), rest: parts.every(isExact) ? undefined : filter }
  }
  if ('filter' in filter) {
    const inner = split(filter.filter, push)
    // An inexact test keeps extra rows; negated, it would drop matching ones.
    return isExact(inner)
      ? { condition: sql`NOT (${inner.condition})`, rest: undefined }
      : { condition: undefined, rest: filter }
  }
  const pushed = push(filter)
  return { condition: pushed?.condition, rest: pushed?.isExact ? undefined : filter }
}

function splitAnd(parts: readonly Split[]): Split {
  const rest = parts.flatMap((part) => part.rest ?? [])
  return {
    condition: and(parts.flatMap(({ condition }) => condition ?? [])),
    rest: rest.length > 0 ? allOf(rest) : undefined,
  }
}

/** Undefined if one alternative may be true for any row. */
function either(parts: readonly Split[]): Sql | undefined {
  if (parts.length === 0) return raw('FALSE')
  const conditions = parts.flatMap(({ condition }) => (condition ? [sql`(${condition})`] : []))
  return conditions.length === parts.length ? joinSql(conditions, ' OR ') : undefined
}

const isExact = (part: Split): part is Split & { condition: Sql } =>
  part.rest === undefined && part.condition !== undefined
