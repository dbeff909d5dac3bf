import { limits } from '../../kernel/limits/limits.ts'
import { linkHeader } from '../http/link-header.ts'

/**
 * The `Link` header of a page: where the first, previous, next and last ones are. `next` is the address of a next page that is
 * found otherwise than by its offset, or null where there is none. Pages that no offset reaches have no link.
 */
export function pageLinks(
  url: string,
  { limit, offset }: { limit: number; offset: number },
  total: number,
  next?: string | null,
): Record<string, string> {
  if (limit === 0 || (offset === 0 && total <= limit && !next)) return {}
  const lastOffset = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const at = (from: number) => from <= limits.offset.value && pageUrl(url, limit, from)
  const pages = [
    ['first', at(0)],
    ['prev', offset > 0 && at(Math.max(0, offset - limit))],
    ['next', next === undefined ? offset + limit < total && at(offset + limit) : next],
    ['last', at(lastOffset)],
  ] as const
  return linkHeader(pages.flatMap(([rel, href]) => (href ? [{ rel, href }] : [])))
}

function pageUrl(url: string, limit: number, offset: number): string {
  return changedUrl(url, (query) => {
    query.delete('cursor')
    query.set('limit', String(limit))
    query.set('offset', String(offset))
  })
}

/** The address of the page that this cursor leads to. */
export function cursorUrl(url: string, cursor: string): string {
  return changedUrl(url, (query) => {
    query.delete('offset')
    query.set('cursor', cursor)
  })
}

/** Only the path and the query: the address a client sees may differ from ours. */
function changedUrl(url: string, change: (query: URLSearchParams) => void): string {
  const target = new URL(url, 'http://localhost')
  change(target.searchParams)
  return `${target.pathname}${target.search}`
}
