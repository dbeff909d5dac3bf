/**
 * The `Link` header (RFC 8288), with a bound: Node's clients refuse answers with more than 16 KiB of headers, and an address may have
 * 8 KiB, of which a page has several. Links that do not fit are left out, those to other pages last.
 */
export type HeaderLink = { readonly href: string; readonly rel: string; readonly type?: string | undefined }

/** Leaves a quarter of the 16 KiB to other headers. */
const maxLength = 12_288

/** Of pages; all others come after them. */
const mostWanted: readonly string[] = ['next', 'prev']

/** Without any link, no header. */
export function linkHeader(links: readonly HeaderLink[]): Record<string, string> {
  const all = links.map((link) => ({ text: textOf(link), rank: rankOf(link) }))
  let left = maxLength
  const fitting = new Set<string>()
  for (const { text } of all.toSorted((a, b) => a.rank - b.rank)) {
    if (text.length + separator.length > left) continue
    left -= text.length + separator.length
    fitting.add(text)
  }
  const kept = all.flatMap(({ text }) => (fitting.has(text) ? [text] : []))
  return kept.length === 0 ? {} : { link: kept.join(separator) }
}

const separator = ', '

const textOf = ({ href, rel, type }: HeaderLink): string => `<${href}>; rel="${rel}"${type ? `; type="${type}"` : ''}`

const rankOf = ({ rel }: HeaderLink): number => {
  const rank = mostWanted.indexOf(rel)
  return rank === -1 ? mostWanted.length : rank
}
