/** The query in the URL, so that it can be shared: only if it is short, and never with a key. */
import type { JsonObject } from '@graticule/client'
import type { ResultView } from './query-session.ts'

export interface QuerySearch {
  q?: JsonObject
  view?: ResultView
}

const longestAddress = 1500
const views: readonly string[] = ['table', 'map', 'json', 'plan']

export function readQuerySearch({ q, view }: Record<string, unknown>): QuerySearch {
  return {
    ...(typeof q === 'object' && q !== null && !Array.isArray(q) ? { q: q as JsonObject } : {}),
    ...(views.includes(String(view)) ? { view: view as ResultView } : {}),
  }
}

/** The search parameters for a query. */
export const searchOf = (query: object, view: ResultView): QuerySearch => ({
  ...(JSON.stringify(query).length <= longestAddress ? { q: query as JsonObject } : {}),
  ...(view === 'table' ? {} : { view }),
})
