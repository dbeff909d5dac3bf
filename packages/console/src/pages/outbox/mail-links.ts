/** Finds the URLs in the text of a mail. */

/** Without trailing punctuation, which belongs to the sentence. */
const address = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)]/g

export const linksIn = (text: string): string[] => [...new Set(text.match(address) ?? [])]

/** Splits the text into plain parts and URLs. */
export function piecesOf(text: string): { text: string; isLink: boolean }[] {
  const pieces: { text: string; isLink: boolean }[] = []
  let end = 0
  for (const match of text.matchAll(address)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isLink: false })
    pieces.push({ text: match[0], isLink: true })
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isLink: false })
  return pieces
}
