/** The cursor in the address of a `Link` header that leads to the next page; null on the last page. */
export function nextCursor(link: string | null): string | null {
  const [, address = ''] = /<([^>]*)>\s*;\s*rel="?next\b/.exec(link ?? '') ?? []
  return new URLSearchParams(address.slice(address.indexOf('?') + 1)).get('cursor')
}
