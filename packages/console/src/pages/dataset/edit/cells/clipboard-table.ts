/** Tab-separated values, as spreadsheets put them on the clipboard: cells with tabs, line breaks or quotes are quoted. */

/** The rows of cells of a text; an end of line after the last row begins no other. */
export function readClipboardTable(text: string): string[][] {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '')
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of lines.matchAll(cell)) {
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '') break
    if (end === '\n') rows.push([])
  }
  return rows
}

/** A quoted cell or a plain one, and what ends it. A quote that is not closed is plain text. */
const cell = /(?:"((?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))(\t|\n|$)/g

export const writeClipboardCell = (text: string): string =>
  /[\t\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
