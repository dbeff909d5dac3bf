/** Words that tables have where there is no value. */

/** What databases and spreadsheets write for null: nobody means them as text. */
const always: ReadonlySet<string> = new Set(['NULL', 'null', '\\N', '#N/A', '<NULL>', '<Null>', '<null>'])

/** What people and statistics programs write. NA is Namibia, too: in a column of text they stay as they are. */
const amongValues: ReadonlySet<string> = new Set([
  'na',
  'n/a',
  'n.a.',
  'n.a',
  '#n/a',
  'nan',
  'null',
  'nil',
  'none',
  'nodata',
  'no data',
  'k.a.',
  's/d',
  '-',
  '--',
  '---',
  '–',
  '—',
  '.',
  '..',
  '...',
  '…',
  '?',
])

const longest = 7

export const isNull = (text: string): boolean => text.length <= longest && always.has(text)

/** Whether a text among numbers, dates or truths stands for nothing. */
export const isNullWord = (text: string): boolean =>
  text.length <= longest && amongValues.has(text.trim().toLowerCase())
