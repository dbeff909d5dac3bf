/** The `Link` header of a page: where the first, previous, next and last ones are. */
export function pageLinks(
  url: string,
  { limit, offset }: { limit: number; offset: number },
  total: number,
): Record<string, string> {
  if (limit === 0 || (offset === 0 && total <= limit)) return {}
  const lastOffset = Math.max(0, Math.ceil(total / limit) - 1) * limit
  const pages = [
    ['first', 0, true],
    ['prev', Math.max(0, offset - limit), offset > 0],
    ['next', offset + limit, offset + limit < total],
    ['last', lastOffset, true],
  ] as const
  const links = pages
    .filter(([, , exists]) => exists)
    .map(([relation, at]) => `<${pageUrl(url, limit, at)}>; rel="${relation}"`)
  return { link: links.join(', ') }
}

function pageUrl(url: string, limit: number, offset: number): string {
  // Only the path and the query are used: the address a client sees may differ from ours.
  const target = new URL(url, 'http://localhost')
  target.searchParams.set('limit', String(limit))
  target.searchParams.set('offset', String(offset))
  return `${target.pathname}${target.search}`
}
