// HTML sanitizer for attributions.

/** Browsers show an attribution as HTML: links with a safe URL stay, everything else becomes text. */
export function cleanAttribution(text: string): string {
  let clean = ''
  let isLink = false
  for (const [token, tag] of text.matchAll(/<([^<>]*)>|[^<>]+|[<>]/g)) {
    if (tag === undefined) clean += escapeText(token)
    else if (/^\/a\s*$/i.test(tag)) {
      if (isLink) clean += '</a>'
      isLink = false
    } else {
      const href = addressOf(tag)
      if (href !== undefined && !isLink) {
        clean += `<a href="${href}" target="_blank" rel="noopener">`
        isLink = true
      }
    }
  }
  return isLink ? `${clean}</a>` : clean
}

/** The href of an `a` tag. */
function addressOf(tag: string): string | undefined {
  const [, quoted, single, bare] = /^a\s(?:.*\s)?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/is.exec(tag) ?? []
  const address = quoted ?? single ?? bare
  if (address === undefined || !/^(https?:\/\/|mailto:)/i.test(address.trim())) return undefined
  return address
    .trim()
    .replaceAll('&amp;', '&')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
}

/** Escapes text, but keeps existing entities. */
const escapeText = (text: string): string =>
  text
    .replaceAll(/&(?!(?:[a-z][a-z0-9]{1,20}|#\d{1,7}|#x[0-9a-f]{1,6});)/gi, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
