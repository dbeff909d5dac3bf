/**
 * Messages about names that are not known: the nearest known name by Damerau-Levenshtein distance, and the known names in
 * short. Whoever calls passes only names that the client may see. The work is bounded here, because unknown names come in
 * any number and length: long names have no nearest one, only the first candidates are looked at, and all messages of one turn
 * of the event loop share a budget, beyond which they say no more than that the name is not known.
 */
const maxDistance = 2
const maxLength = 64
const maxListed = 10
const maxCandidates = 1_000
const shortestPrefix = 3

/**
 * Names that are looked at, and cells of distance tables that are computed, in one turn of the event loop: 10 to 30 ms. A brake for floods: twenty
 * ordinary messages stay below it, so that what a client is told does not depend on who asks in the same turn.
 */
const stepsPerTurn = 500_000

let stepsLeft = stepsPerTurn

function spend(steps: number): void {
  // The first to spend in a turn sees to it that the next begins anew.
  if (stepsLeft === stepsPerTurn) setImmediate(renewBudget)
  stepsLeft -= steps
}

function renewBudget(): void {
  stepsLeft = stepsPerTurn
}

/** `"popp" is not an attribute. Did you mean "pop"? Allowed: geom, name, pop.` */
export function unknownName(what: string, name: string, allowed: Iterable<string>): string {
  if (stepsLeft <= 0) return `${quoted(name)} is not ${what}.`
  const names = firstOf(allowed)
  return `${quoted(name)} is not ${what}.${didYouMean(name, names)} ${allowedNames(names)}`
}

function firstOf(all: Iterable<string>): readonly string[] {
  const names: string[] = []
  for (const name of all) {
    names.push(name)
    if (names.length === maxCandidates) break
  }
  spend(names.length)
  return names
}

/** ` Did you mean "pop"?`, or nothing where no name is near. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const nearest = nearestName(name, names)
  return nearest === undefined ? '' : ` Did you mean ${quoted(nearest)}?`
}

function allowedNames(names: readonly string[]): string {
  return names.length === 0 ? 'There are none.' : `Allowed: ${shortList(names)}.`
}

/** `a, b … and 12 more` */
export function shortList(names: readonly string[]): string {
  const listed = names.slice(0, maxListed).map(cut).join(', ')
  const more = names.length - maxListed
  if (more <= 0) return listed
  return names.length < maxCandidates ? `${listed} … and ${more} more` : `${listed} … and many more`
}

/** The known name that was probably meant: a few letters away whatever their case, or one that begins like it. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  if (name === '' || name.length > maxLength) return undefined
  const wanted = name.toLowerCase()
  // Two letters of a name of three are another name.
  const reach = Math.min(maxDistance, Math.floor(wanted.length / 2))
  let best: { name: string; distance: number } | undefined
  let compared = 0
  for (const candidate of names) {
    if (stepsLeft <= 0 || ++compared > maxCandidates) break
    spend(1)
    const distance = candidate.length > maxLength ? undefined : distanceTo(wanted, candidate.toLowerCase(), reach)
    if (distance !== undefined && (!best || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name
}

/** Prefixes come after every misspelling; the shorter the rest, the nearer. */
function distanceTo(wanted: string, candidate: string, reach: number): number | undefined {
  if (Math.abs(wanted.length - candidate.length) <= reach) {
    spend(wanted.length * (2 * reach + 1))
    const distance = editDistance(wanted, candidate, reach)
    if (distance <= reach) return distance
  }
  const [short, long] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted]
  const isPrefix = short.length >= shortestPrefix && long.startsWith(short)
  return isPrefix ? maxDistance + long.length - short.length : undefined
}

/** Three rows of the distance table; what lies beside the diagonal by more than the reach is never looked at. */
const rows = [0, 1, 2].map(() => new Uint8Array(maxLength + maxDistance + 2)) as [Uint8Array, Uint8Array, Uint8Array]
const tooFar = 100

/**
 * Damerau-Levenshtein (optimal string alignment): letters inserted, deleted, replaced, and neighbours swapped. Beyond the reach
 * it is only known to be beyond, so only the cells around the diagonal are computed, and none after a row without a near one.
 */
function editDistance(one: string, other: string, reach: number): number {
  let [beforeLast, last, current] = rows
  last.fill(tooFar)
  for (let column = 0; column <= reach; column++) last[column] = column
  for (let row = 1; row <= one.length; row++) {
    const from = Math.max(1, row - reach)
    const to = Math.min(other.length, row + reach)
    current[from - 1] = from === 1 ? row : tooFar
    let nearest = tooFar
    for (let column = from; column <= to; column++) {
      const isSame = one.charCodeAt(row - 1) === other.charCodeAt(column - 1)
      const distance = Math.min(
        at(current, column - 1) + 1,
        at(last, column) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped(one, other, row, column) ? at(beforeLast, column - 2) + 1 : tooFar,
      )
      current[column] = distance
      nearest = Math.min(nearest, distance)
    }
    if (nearest > reach) return tooFar
    // The next row looks one column further.
    current[to + 1] = tooFar
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  return at(last, other.length)
}

const isSwapped = (one: string, other: string, row: number, column: number): boolean =>
  row > 1 &&
  column > 1 &&
  one.charCodeAt(row - 1) === other.charCodeAt(column - 2) &&
  one.charCodeAt(row - 2) === other.charCodeAt(column - 1)

const at = (row: Uint8Array, column: number): number => row[column] ?? tooFar

const cut = (name: string): string => (name.length <= maxLength ? name : `${name.slice(0, maxLength)}…`)

const quoted = (name: string): string => `"${cut(name)}"`
