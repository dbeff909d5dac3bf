/// <reference lib="dom" />
/** The filter of a data source, in the server's grammar or CQL2, as parameters of its requests. */

import type { Properties } from '../selection.ts'

/**
 * Conditions on attributes, such as `{ population: { $gte: 1e6 } }`; CQL2 as text, such as `population > 1000000`; or CQL2 as
 * JSON, which has `op` and `args`.
 */
export type SourceFilter<Row extends object = Properties> = string | Cql2 | Conditions<Row>

/** By attribute, and by `$and`, `$or` and `$not`. */
type Conditions<Row extends object> = Readonly<Partial<Record<(keyof Row & string) | `$${string}`, unknown>>>

export type FilterParams = { readonly filter?: string; readonly 'filter-lang'?: string; readonly time?: string }

function filterParams(filter: SourceFilter | null | undefined): FilterParams {
  if (filter === null || filter === undefined) return {}
  if (typeof filter === 'string') return { filter, 'filter-lang': 'cql2-text' }
  const text = JSON.stringify(filter)
  return isOperation(filter) ? { filter: text, 'filter-lang': 'cql2-json' } : { filter: text }
}

/** Which rows a data source shows: its filter and its time. */
export const rowParams = ({
  filter,
  time,
}: {
  filter?: SourceFilter | undefined
  time?: string | undefined
}): FilterParams => ({
  ...filterParams(filter),
  ...(time !== undefined && { time }),
})

/** An attribute may be called `op`, but none has a list of `args` beside it. */
export const isCql2 = (filter: SourceFilter): filter is string | Cql2 =>
  typeof filter === 'string' || isOperation(filter)

type Cql2 = { readonly op: string; readonly args: readonly unknown[] }

const isOperation = (filter: object): filter is Cql2 =>
  'op' in filter && typeof filter.op === 'string' && 'args' in filter && Array.isArray(filter.args)

/** Sets parameters of an address in place of those that it has; braces of templates stay. */
export function withParams(address: string, params: Readonly<Record<string, string>>): string {
  const [base = '', ...query] = address.split('?')
  const own = query
    .join('?')
    .split('&')
    .filter((part) => part !== '' && !/^(filter(-lang)?|time|aggregate|value)=/.test(part))
  const added = Object.entries(params).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const all = [...own, ...added]
  return all.length === 0 ? base : `${base}?${all.join('&')}`
}
