/** A geocoder of others (Photon, Nominatim, Pelias): its answers are untrusted, and a failure is no reason to find nothing. */
import { LRUCache } from 'lru-cache'
import { createSingleFlight } from '../../../kernel/concurrency/single-flight.ts'
import type { Place, PlaceRequest } from './place.ts'

export type Geocoder = {
  /** Undefined where it failed or has no room for the question. */
  search(request: PlaceRequest, signal: AbortSignal): Promise<Place[] | undefined>
}

/** What it uses of the egress guard. */
type Fetch = (
  url: string,
  request: {
    readonly headers: Record<string, string>
    readonly timeoutMs: number
    readonly maxBytes: number
    readonly signal: AbortSignal
  },
) => Promise<{ readonly status: number; readonly body: Buffer }>

export type GeocoderOptions = {
  /** GEOCODER_URL */
  readonly address: string
  readonly fetch: Fetch
  onError(error: unknown): void
}

const timeoutMs = 3_000
const maxBytes = 262_144
const believedMs = 300_000
const maxRemembered = 500
/** Questions under way at once in this process. */
const maxAtOnce = 8
/** After a failure it is left alone for so long. */
const restMs = 10_000
const maxText = 200

export function createGeocoder({ address, fetch, onError }: GeocoderOptions): Geocoder {
  const remembered = new LRUCache<string, Place[]>({ max: maxRemembered, ttl: believedMs })
  const flights = createSingleFlight<Place[]>()
  let atOnce = 0
  let restsUntil = 0

  async function ask(url: string, limit: number, signal: AbortSignal): Promise<Place[]> {
    atOnce++
    try {
      const headers = { accept: 'application/json, application/geo+json', 'user-agent': 'Graticule' }
      const { status, body } = await fetch(url, { headers, timeoutMs, maxBytes, signal })
      if (status !== 200) throw new Error(`The geocoder answered with status ${status}.`)
      const places = placesOf(JSON.parse(body.toString('utf8'))).slice(0, limit)
      remembered.set(url, places)
      return places
    } finally {
      atOnce--
    }
  }

  return {
    async search(request, signal) {
      const url = addressOf(address, request)
      const known = remembered.get(url)
      if (known) return known
      if (atOnce >= maxAtOnce || performance.now() < restsUntil) return undefined
      try {
        return await flights.join(url, signal, (end) => ask(url, request.limit, end))
      } catch (error) {
        if (signal.aborted) throw error
        restsUntil = performance.now() + restMs
        onError(error)
        return undefined
      }
    },
  }
}

/** `{q}`, `{limit}`, `{lon}` and `{lat}` are filled in; without `{q}` the parameters `q` and `limit` are added, as Photon has them. */
export function addressOf(template: string, { text, limit, near }: PlaceRequest): string {
  // Rounded, because the view moves a little with each question, and its exact place is nobody's business.
  const [lon, lat] = (near ?? []).map((degrees) => degrees.toFixed(1))
  const values: Record<string, string> = { q: text, limit: `${limit}`, lon: lon ?? '', lat: lat ?? '' }
  if (template.includes('{q}'))
    return template.replaceAll(/\{(q|limit|lon|lat)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''))
  const url = new URL(template)
  url.searchParams.set('q', text)
  url.searchParams.set('limit', `${limit}`)
  if (lon !== undefined && lat !== undefined) {
    url.searchParams.set('lon', lon)
    url.searchParams.set('lat', lat)
  }
  return url.href
}

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A FeatureCollection of points, as Photon and Pelias answer, or a list with `lat` and `lon`, as Nominatim. What is neither is left out. */
export function placesOf(answer: unknown): Place[] {
  const features = isObject(answer) ? answer.features : answer
  if (!Array.isArray(features)) throw new Error('The geocoder answered neither GeoJSON nor a list.')
  return features.slice(0, 100).flatMap((item) => {
    if (!isObject(item)) return []
    return isObject(item.geometry) ? placeOfFeature(item, item.geometry) : placeOfRow(item)
  })
}

function placeOfFeature(feature: Json, geometry: Json): Place[] {
  const properties = isObject(feature.properties) ? feature.properties : {}
  const { extent, name, label, display_name, street, housenumber, city, country } = properties
  const road = [textOf(street), textOf(housenumber)].filter(Boolean).join(' ')
  const own = textOf(label) || textOf(display_name)
  const parts = [textOf(name) || road, textOf(name) ? road : '', textOf(city)].filter((part) => part !== '')
  const numbers = Array.isArray(extent) ? extent : feature.bbox
  // Photon's extent is west, north, east, south.
  const [west, one, east, other] = Array.isArray(numbers) ? numbers.map(Number) : []
  const bounds = [
    west,
    Math.min(one ?? Number.NaN, other ?? Number.NaN),
    east,
    Math.max(one ?? Number.NaN, other ?? Number.NaN),
  ]
  return placeAt({
    position: Array.isArray(geometry.coordinates) ? geometry.coordinates : [],
    name: own || [...new Set(parts)].join(', '),
    country: textOf(properties.countrycode) || textOf(properties.country_code),
    countryName: textOf(country),
    bounds,
  })
}

function placeOfRow(row: Json): Place[] {
  const address = isObject(row.address) ? row.address : {}
  const [south, north, west, east] = Array.isArray(row.boundingbox) ? row.boundingbox.map(Number) : []
  return placeAt({
    position: [row.lon, row.lat].map((value) => (typeof value === 'string' && value !== '' ? Number(value) : value)),
    name: textOf(row.display_name) || textOf(row.name),
    country: textOf(address.country_code),
    countryName: textOf(address.country),
    bounds: [west, south, east, north],
  })
}

type GeocoderFeature = {
  position: readonly unknown[]
  name: string
  country: string
  countryName: string
  bounds: readonly (number | undefined)[]
}

function placeAt({ position: [longitude, latitude], name, country, countryName, bounds }: GeocoderFeature): Place[] {
  if (!isDegrees(longitude, 180) || !isDegrees(latitude, 90) || name === '') return []
  return [
    {
      name,
      matched: null,
      kind: 'address',
      country: /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : null,
      countryName: countryName || null,
      population: null,
      position: [longitude, latitude],
      bounds: boundsOf(bounds),
      zoom: 15,
      source: 'geocoder',
    },
  ]
}

const isDegrees = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= most

function boundsOf([west, south, east, north]: GeocoderFeature['bounds']): Place['bounds'] {
  const isBox =
    isDegrees(west, 180) &&
    isDegrees(east, 180) &&
    isDegrees(south, 90) &&
    isDegrees(north, 90) &&
    west < east &&
    south < north
  return isBox ? [west, south, east, north] : null
}

/** In one line, without control characters and what turns the direction of writing, and short. */
const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .slice(0, 4 * maxText)
        .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim()
        .slice(0, maxText)
    : ''
