/** A line diff of two texts (longest common subsequence), and of two JSON values regardless of key order. */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** With more cells, the longest common subsequence costs too much; the whole middle counts as replaced then. */
const mostCells = 4_000_000

export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const room = Math.min(before.length, after.length) - start
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1
  const one = before.slice(start, before.length - end)
  const other = after.slice(start, after.length - end)
  return [
    ...before.slice(0, start).map(lineOf('same')),
    ...diffMiddle(one, other),
    ...before.slice(before.length - end).map(lineOf('same')),
  ]
}

const lineOf =
  (kind: DiffLine['kind']) =>
  (text: string): DiffLine => ({ kind, text })

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if ((before.length + 1) * (after.length + 1) > mostCells) {
    return [...before.map(lineOf('removed')), ...after.map(lineOf('added'))]
  }
  const width = after.length + 1
  const lengths = commonLengths(before, after)
  const lines: DiffLine[] = []
  let [row, column] = [0, 0]
  while (row < before.length && column < after.length) {
    if (before[row] === after[column]) {
      lines.push(lineOf('same')(before[row++] ?? ''))
      column += 1
    } else if ((lengths[(row + 1) * width + column] ?? 0) >= (lengths[row * width + column + 1] ?? 0)) {
      lines.push(lineOf('removed')(before[row++] ?? ''))
    } else lines.push(lineOf('added')(after[column++] ?? ''))
  }
  return [...lines, ...before.slice(row).map(lineOf('removed')), ...after.slice(column).map(lineOf('added'))]
}

/** The lengths of the longest common subsequences of the suffixes at each pair of positions. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1
  const lengths = new Uint32Array((before.length + 1) * width)
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const place = row * width + column
      lengths[place] =
        before[row] === after[column]
          ? (lengths[place + width + 1] ?? 0) + 1
          : Math.max(lengths[place + width] ?? 0, lengths[place + 1] ?? 0)
    }
  }
  return lengths
}

/** Ignores the order of keys, because the database does not preserve it. */
export const diffJson = (before: unknown, after: unknown): DiffLine[] =>
  diffLines(sortedText(before).split('\n'), sortedText(after).split('\n'))

const sortedText = (value: unknown): string => JSON.stringify(sorted(value), null, 2)

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}

export type DiffPart = DiffLine | { kind: 'skipped'; count: number }

/** Omits long runs of equal lines, except a few lines of context around each change. */
export function withoutEqualRuns(lines: readonly DiffLine[], context: number = 3): DiffPart[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const parts: DiffPart[] = []
  for (const [index, line] of lines.entries()) {
    const last = parts.at(-1)
    if (isNear[index]) parts.push(line)
    else if (last?.kind === 'skipped') last.count += 1
    else parts.push({ kind: 'skipped', count: 1 })
  }
  return parts
}
