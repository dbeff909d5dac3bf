/**
 * Messages about names that are not known: the nearest known name by Damerau-Levenshtein distance, and the known names in
 * short. Whoever calls passes only names that the client may see.
 */
const maxDistance = 2
const maxLength = 64
const maxListed = 10
const shortestPrefix = 3

/** `"popp" is not an attribute. Did you mean "pop"? Allowed: geom, name, pop.` */
export function unknownName(what: string, name: string, known: Iterable<string>): string {
  const names = [...known]
  return `${quoted(name)} is not ${what}.${didYouMean(name, names)} ${allowedNames(names)}`
}

/** ` Did you mean "pop"?`, or nothing where no name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` Did you mean ${quoted(nearest)}?`
}

function allowedNames(known: readonly string[]): string {
  return known.length === 0 ? 'There are none.' : `Allowed: ${shortList(known)}.`
}

/** `a, b … and 12 more` */
export function shortList(names: readonly string[]): string {
  const listed = names.slice(0, maxListed).map(cut).join(', ')
  const more = names.length - maxListed
  return more > 0 ? `${listed} … and ${more} more` : listed
}

/** The known name that was probably meant: a few letters away whatever their case, or one that begins like it. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name === '' || name.length > maxLength) return undefined
  const wanted = name.toLowerCase()
  // Two letters of a name of three are another name.
  const reach = Math.min(maxDistance, Math.floor(wanted.length / 2))
  let best: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const distance = distanceTo(wanted, candidate.toLowerCase(), reach)
    if (distance !== undefined && (!best || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name
}

/** Prefixes come after every misspelling; the shorter the rest, the nearer. */
function distanceTo(wanted: string, candidate: string, reach: number): number | undefined {
  if (candidate.length > maxLength) return undefined
  if (Math.abs(wanted.length - candidate.length) <= reach) {
    const distance = editDistance(wanted, candidate)
    if (distance <= reach) return distance
  }
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted]
  const isPrefix = short.length >= shortestPrefix && long.startsWith(short)
  return isPrefix ? maxDistance + long.length - short.length : undefined
}

/** Damerau-Levenshtein (optimal string alignment): letters inserted, deleted, replaced, and neighbours swapped. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        at(current, column - 1) + 1,
        at(last, column) + 1,
        at(last, column - 1) + cost,
        isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  return at(last, other.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Number.POSITIVE_INFINITY

const cut = (name: string): string => (name.length <= maxLength ? name : `${name.slice(0, maxLength)}…`)

const quoted = (name: string): string => `"${cut(name)}"`
