/**
 * The `Link` header of a page: where the first, previous, next and last ones are. `next` is the address of a next page that is
 * found otherwise than by its offset, or null where there is none.
 */
export function pageLinks(
  url: string,
  { limit, offset }: { limit: number; offset: number },
  total: number,
  next?: string | null,
): Record<string, string> {
  if (limit === 0 || (offset === 0 && total <= limit && !next)) return {}
  const lastOffset = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const pages = [
    ['first', pageUrl(url, limit, 0)],
    ['prev', offset > 0 && pageUrl(url, limit, Math.max(0, offset - limit))],
    ['next', next === undefined ? offset + limit < total && pageUrl(url, limit, offset + limit) : next],
    ['last', pageUrl(url, limit, lastOffset)],
  ] as const
  const links = pages.filter(([, address]) => address).map(([relation, address]) => `<${address}>; rel="${relation}"`)
  return { link: links.join(', ') }
}

function pageUrl(url: string, limit: number, offset: number): string {
  // Only the path and the query are used: the address a client sees may differ from ours.
  const target = new URL(url, 'http://localhost')
  target.searchParams.delete('cursor')
  target.searchParams.set('limit', String(limit))
  target.searchParams.set('offset', String(offset))
  return `${target.pathname}${target.search}`
}
