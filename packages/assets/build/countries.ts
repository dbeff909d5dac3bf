import { createRequire } from 'node:module'
import type { Feature, MultiLineString, MultiPolygon, Polygon } from 'geojson'
import isoCountries from 'i18n-iso-countries'
import { feature, mesh } from 'topojson-client'
import { labelPoint, largestPart, squareDegrees } from './geometry.ts'
import { countryNames } from './names.ts'

const require = createRequire(import.meta.url)

type Country = { id?: string; properties: { name: string } }
type Topology = { objects: { countries: unknown } }
type Scale = '50m' | '10m'
type Area = Feature<Polygon | MultiPolygon, { name: string }>

/** Leased ground that Natural Earth draws as if it were a country. */
const leases = new Set(['Baikonur', 'USNB Guantanamo Bay', 'Dhekelia', 'Akrotiri', 'Cyprus U.N. Buffer Zone'])

const read = (scale: Scale): Topology => require(`world-atlas/countries-${scale}.json`)

/** Borders between countries as they are held on the ground; those that are contested say so. */
export function readBorders(scale: Scale): Feature<MultiLineString>[] {
  const topology = read(scale)
  const lines = (wanted: (a: Country, b: Country) => boolean, properties: object): Feature<MultiLineString> => ({
    type: 'Feature',
    properties: { kind: 'country', kind_detail: 2, ...properties },
    geometry: mesh(topology, topology.objects.countries, (a, b) => a !== b && wanted(a, b)) as MultiLineString,
  })
  const isLease = ({ properties }: Country) => leases.has(properties.name)
  const isContested = ({ id, properties }: Country) =>
    (id === undefined && properties.name !== 'Kosovo') || id === '732'
  return [
    lines((a, b) => !isLease(a) && !isLease(b) && !isContested(a) && !isContested(b), {}),
    lines((a, b) => !isLease(a) && !isLease(b) && (isContested(a) || isContested(b)), { disputed: true }),
  ]
}

/** A labelled point in each country. `populations` are by two-letter code. */
export function readCountryLabels(populations: ReadonlyMap<string, number>): Feature[] {
  const topology = read('50m')
  const countries = feature(topology, topology.objects.countries) as { features: Area[] }
  return countries.features.flatMap((country) => {
    const code = isoCountries.numericToAlpha2(String(country.id ?? ''))
    const names = countryNames(code, country.properties.name)
    if (leases.has(country.properties.name) || !names) return []
    const place = largestPart(country.geometry)
    const area = squareDegrees(place)
    const population = populations.get(code ?? '') ?? 0
    const properties = {
      kind: 'country',
      ...names,
      min_zoom: minZoom(area, population),
      population_rank: rankOf(population, area),
    }
    const sorted = { ...properties, sort_key: properties.min_zoom * 100 - Math.round(Math.log2(population + 1)) }
    return [{ type: 'Feature', properties: sorted, geometry: { type: 'Point', coordinates: labelPoint(place) } }]
  })
}

function minZoom(area: number, population: number): number {
  const weight = area + population / 1e6
  return [400, 120, 50, 12, 3].findIndex((limit) => weight >= limit) + 1 || 6
}

/** Protomaps’ scale of 0 to 17; it decides the size of the letters. */
function rankOf(population: number, area: number): number {
  const rank = Math.round(Math.log10(population + 1) * 2) - 1
  return area > 60 ? Math.max(rank, 11) : Math.min(rank, area > 8 ? 10 : 7)
}
