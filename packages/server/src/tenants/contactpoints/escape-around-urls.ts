const address = /https?:\/\/[\p{L}\p{N}[][^\s<>"`\\]*/giu
const punctuation = new Set(".,:;!?'*~|]}…")

/** Escapes a text except for the URLs in it, which escaping would break; `keep` formats the URLs. */
export function changeAroundUrls(text: string, change: (part: string) => string, keep = (url: string) => url): string {
  let changed = ''
  let end = 0
  for (const { 0: match, index } of text.matchAll(address)) {
    const url = withoutPunctuation(match)
    changed += change(text.slice(end, index)) + keep(url)
    end = index + url.length
  }
  return changed + change(text.slice(end))
}

/** Where the URL begins that a cut at this place would cut in two; undefined where none would be. */
export function urlStartBefore(text: string, cut: number): number | undefined {
  for (const { 0: found, index } of text.matchAll(address)) {
    if (index >= cut) return undefined
    if (index + withoutPunctuation(found).length > cut) return index
  }
  return undefined
}

/** Punctuation after a URL belongs to the sentence, and so does a bracket that was not opened in it. */
function withoutPunctuation(url: string): string {
  const opened = url.split('(').length - 1
  let closed = url.split(')').length - 1
  let end = url.length
  for (; end > 0; end--) {
    const last = url[end - 1] ?? ''
    if (last === ')' && closed > opened) closed--
    else if (!punctuation.has(last)) break
  }
  return url.slice(0, end)
}
