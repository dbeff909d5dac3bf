/**
 * The places that the bundled base map labels, searched by the beginning of their names: an index in memory by the first two letters,
 * made when it is first needed, in slices that leave the event loop free.
 */
import { readFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { foldName, kilometresBetween, type Place, type PlaceRequest } from './place.ts'

const unpack = promisify(gunzip)

export type Gazetteer = { search(request: PlaceRequest): Promise<Place[]> }

type Entry = Omit<Place, 'matched' | 'countryName' | 'bounds' | 'source'>
/** A name from one of its words on. */
type Name = { readonly folded: string; readonly isWhole: boolean; readonly name: string; readonly place: Entry }
type Index = {
  /** By the first two letters, the most populous first. */
  readonly names: ReadonlyMap<string, readonly Name[]>
  readonly countries: ReadonlyMap<string, { readonly name: string; readonly folded: readonly string[] }>
}

const sliceLines = 500
const zooms: Readonly<Record<string, number>> = { country: 4, region: 6, city: 10 }

export function createGazetteer(file: string): Gazetteer {
  let loading: Promise<Index> | undefined
  async function index(): Promise<Index> {
    loading ??= load(file)
    try {
      return await loading
    } catch (error) {
      loading = undefined
      throw error
    }
  }
  return { search: async (request) => searchIn(await index(), request) }
}

async function load(file: string): Promise<Index> {
  const text = (await unpack(await readFile(file))).toString('utf8')
  const names = new Map<string, Name[]>()
  const countries = new Map<string, { name: string; folded: string[] }>()
  let start = 0
  for (let count = 1; start < text.length; count++) {
    const end = text.indexOf('\n', start)
    addLine(text.slice(start, end === -1 ? undefined : end).split('\t'), names, countries)
    if (end === -1) break
    start = end + 1
    if (count % sliceLines === 0) await setImmediate()
  }
  return { names, countries }
}

function addLine(
  [kind = '', name = '', country = '', population = '', longitude = '', latitude = '', others = '']: string[],
  names: Map<string, Name[]>,
  countries: Map<string, { name: string; folded: string[] }>,
): void {
  if (name === '') return
  const shownKind = kind === 'locality' ? 'city' : (kind as Place['kind'])
  const place: Entry = {
    name,
    kind: shownKind,
    country: country || null,
    population: Number(population) || null,
    position: [Number(longitude), Number(latitude)],
    zoom: zooms[shownKind] ?? 10,
  }
  const all = [name, ...(others ? others.split('|') : [])]
  for (const one of all) addName(names, one, place)
  if (kind === 'country' && country) countries.set(country, { name, folded: all.map(foldName) })
}

function addName(names: Map<string, Name[]>, name: string, place: Entry): void {
  const folded = foldName(name)
  for (let at = 0; at !== -1 && at < folded.length; at = nextWord(folded, at)) {
    const rest = folded.slice(at)
    const key = rest.slice(0, 2)
    const entry = { folded: rest, isWhole: at === 0, name, place }
    const bucket = names.get(key)
    if (bucket) bucket.push(entry)
    else names.set(key, [entry])
  }
}

function nextWord(text: string, at: number): number {
  const space = text.indexOf(' ', at)
  return space === -1 ? -1 : space + 1
}

function searchIn(index: Index, { text, limit, near }: PlaceRequest): Place[] {
  const folded = foldName(text)
  if (folded === '') return []
  const best = new Map<Entry, { name: string; score: number }>()
  collect(index, folded, undefined, near, best)
  if (best.size < limit) collectInCountries(index, folded, near, best)
  return [...best]
    .sort(([, one], [, other]) => other.score - one.score)
    .slice(0, limit)
    .map(([place, { name }]) => ({
      ...place,
      matched: name === place.name ? null : name,
      countryName: index.countries.get(place.country ?? '')?.name ?? null,
      bounds: null,
      source: 'gazetteer' as const,
    }))
}

type Best = Map<Entry, { name: string; score: number }>

/** "paris us", "bern, switzerland": the last words may be a country. */
function collectInCountries(index: Index, folded: string, near: PlaceRequest['near'], best: Best): void {
  const words = folded.split(' ')
  const most = Math.min(words.length - 1, 3)
  for (let count = 1; count <= most; count++) {
    const rest = words.slice(-count).join(' ')
    const codes = new Set<string>()
    for (const [code, { folded: names }] of index.countries) {
      if (code.toLowerCase() === rest || names.some((name) => name.startsWith(rest))) codes.add(code)
    }
    if (codes.size > 0) collect(index, words.slice(0, -count).join(' '), codes, near, best)
  }
}

function collect(
  { names }: Index,
  folded: string,
  countries: ReadonlySet<string> | undefined,
  near: PlaceRequest['near'],
  best: Best,
): void {
  const fits = ({ folded: name, place }: Name) =>
    name.startsWith(folded) && (!countries || countries.has(place.country ?? ''))
  for (const bucket of bucketsOf(names, folded)) {
    for (const entry of bucket.filter(fits)) {
      const { place, name } = entry
      const score = scoreOf(entry, folded, near)
      if (score > (best.get(place)?.score ?? Number.NEGATIVE_INFINITY)) best.set(place, { name, score })
    }
  }
}

function bucketsOf(names: Index['names'], folded: string): Iterable<readonly Name[]> {
  if (folded.length > 1) return [names.get(folded.slice(0, 2)) ?? []]
  return names
    .entries()
    .filter(([key]) => key.startsWith(folded))
    .map(([, bucket]) => bucket)
}

/** The beginning of the whole name before the beginning of a word of it; then size; a place nearby counts as a larger one. */
function scoreOf({ folded, isWhole, place }: Name, text: string, near: PlaceRequest['near']): number {
  const size = Math.log10((place.population ?? 0) + 10)
  const exact = folded === text ? 1 : 0
  const distance = near ? Math.log10(1 + kilometresBetween(near, place.position) / 20) : 0
  return (isWhole ? 10 : 0) + exact + size - 1.5 * distance
}
