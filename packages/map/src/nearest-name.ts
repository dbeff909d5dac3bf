/** Suggests the known name nearest to a misspelt one: case-insensitive, at a Levenshtein distance of at most two. */
const maxDistance = 2

export function nearestName(name: string, names: readonly string[]): string | undefined {
  const distances = names.map((candidate) => ({
    candidate,
    distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
  }))
  const best = distances.sort((one, other) => one.distance - other.distance)[0]
  return best && best.distance <= Math.min(maxDistance, name.length / 2) ? best.candidate : undefined
}

function editDistance(one: string, other: string): number {
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1]
    for (const [column, otherLetter] of [...other].entries()) {
      const replaced = at(last, column) + (letter === otherLetter ? 0 : 1)
      current.push(Math.min(replaced, at(current, column) + 1, at(last, column + 1) + 1))
    }
    last = current
  }
  return at(last, other.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY
