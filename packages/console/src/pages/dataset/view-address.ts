/** The view of a dataset in the URL: filter, sort order, selection. */
import type { JsonObject } from '@graticule/client'

export interface DatasetView {
  where?: JsonObject | undefined
  /** In the server's syntax: `-pop,name`. */
  sort?: string | undefined
  /** The keys of the selected rows. */
  sel?: (string | number)[] | undefined
}

/** Ignores invalid values, because a URL may be typed by hand. */
export function readView({ where, sort, sel }: Record<string, unknown>): DatasetView {
  const ids = Array.isArray(sel) ? sel : [sel]
  const isId = (id: unknown): id is string | number => typeof id === 'string' || typeof id === 'number'
  return {
    ...(isObject(where) && Object.keys(where).length > 0 && { where }),
    ...((typeof sort === 'string' || typeof sort === 'number') && String(sort) !== '' && { sort: String(sort) }),
    ...(ids.some(isId) && { sel: ids.filter(isId) }),
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
