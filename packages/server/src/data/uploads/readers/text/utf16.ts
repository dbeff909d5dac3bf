/** UTF-16 with its mark (BOM) and without: Windows programs and databases leave it out. */
type Utf16 = 'utf-16le' | 'utf-16be'

/** Control characters, and places of Unicode that hold no character: text has none. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary from text
const noText = /[\0-\x08\x0e-\x1a\x1c\x1d\x7f]|\p{Cn}|\p{Co}/u
/** Tables, JSON and XML have these, whatever their language: in the other byte order they are rare letters. */
const common = /[ \t\n\r,;:."'<>{}[\]0-9A-Za-z]/g

/** The byte order of a file in UTF-16, by its first bytes; undefined when it is something else. */
export function detectUtf16(head: Buffer): Utf16 | undefined {
  const marked = markedUtf16(head)
  if (marked) return marked
  // Without a NUL there is no character of ASCII, hence no delimiter.
  if (!head.includes(0)) return undefined
  const [little, big] = [commonIn(head, 'utf-16le'), commonIn(head, 'utf-16be')]
  if (little === big) return undefined
  return little > big ? 'utf-16le' : 'utf-16be'
}

/** The byte order by the mark alone. */
export function markedUtf16(head: Buffer): Utf16 | undefined {
  const mark = head.toString('hex', 0, 2)
  return mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : undefined
}

/** How many common characters there are in this byte order; 0 when it is no text. */
function commonIn(head: Buffer, order: Utf16): number {
  const text = utf16Text(head, order)
  return noText.test(text) ? 0 : (text.match(common)?.length ?? 0)
}

/** The text at the beginning of a file, up to its last whole character, without the mark. */
export function utf16Text(head: Buffer, order: Utf16): string {
  const units = head.subarray(0, head.length - (head.length % 2))
  const text = (order === 'utf-16le' ? units : Buffer.from(units).swap16()).toString('utf16le')
  return text.replace(/^\ufeff/, '').replace(/[\ud800-\udbff]$/, '')
}
