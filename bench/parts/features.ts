import type { Feature, FeatureCollection } from 'geojson'
import type { Bench, Layer, World } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { type Answer, isGraticule, requestCase } from '../request-case.ts'

const limit = 100
const smallBox = { width: 1.5, height: 1.1 }
const largeBox = { width: 18, height: 10 }

export const features: Part = {
  name: 'features',
  about:
    'GeoJSON: a row by its key, and 100 features of a box with more of them (small: 1.5° by 1.1°; large: 18° by 10°). pg_featureserv and TiPg promise no order; Graticule keeps the pages of a box stable. `node:http` is one prepared SELECT by key and nothing else.',
  seconds: 320,
  async *cases(bench) {
    const world = await bench.world()
    const ours = await bench.startGraticule()
    const named = ['pg_featureserv', 'tipg', 'postgrest'] as const
    const others = await bench.startPeers(named, { schema: world.schema })
    const table = `${world.schema}.${world.points.table}`
    const bare = await bench.startScript('bare/bare-rows', { DATABASE_URL: bench.databaseUrl, TABLE: table })
    yield byKey(bench, world, [ours, ...others, { ...bare, name: 'node:http' }])
    const boxed = [ours, ...others.filter(({ name }) => name !== 'postgrest')]
    yield inBoxes(bench, world, { servers: boxed, layer: world.points, size: smallBox, what: 'small box' })
    yield inBoxes(bench, world, { servers: boxed, layer: world.areas, size: smallBox, what: 'small box' })
    yield inBoxes(bench, world, { servers: boxed, layer: world.points, size: largeBox, what: 'large box' })
  },
}

const wanted = { ratio: { pg_featureserv: 1, tipg: 5, postgrest: 1 } }

const byKey = (bench: Bench, { schema, points }: World, servers: readonly Server[]): Case =>
  requestCase(bench, {
    work: 'one feature by its key',
    servers,
    load: (server) => ({
      paths: Array.from({ length: 500 }, (_, n) => keyPath(server, schema, points, 1 + ((n * 7919) % 100_000))),
      headers: headersFor(bench, server),
    }),
    equal: sameFeature,
    wanted,
  })

const headersFor = (bench: Bench, server: Server): Record<string, string> =>
  isGraticule(server) ? bench.headers : server.name === 'postgrest' ? { accept: 'application/geo+json' } : {}

function keyPath({ name }: Server, schema: string, { table, dataset }: Layer, id: number): string {
  if (name === 'pg_featureserv') return `/collections/${schema}.${table}/items/${id}.json`
  if (name === 'tipg') return `/collections/${schema}.${table}/items/${id}?f=geojson`
  if (name === 'postgrest') return `/${table}?id=eq.${id}`
  return `/api/v1/datasets/${dataset}/query?format=geojson&filter[id]=${id}`
}

type Boxes = { servers: readonly Server[]; layer: Layer; size: typeof smallBox; what: string }

function inBoxes(bench: Bench, { schema }: World, { servers, layer, size, what }: Boxes): Case {
  const boxes = Array.from({ length: 24 }, (_, n) => {
    const [west, south] = [-8 + ((n * 7.3) % (40 - size.width)), 38 + ((n * 3.7) % (20 - size.height))]
    return [west, south, west + size.width, south + size.height].map((degrees) => degrees.toFixed(3)).join(',')
  })
  return requestCase(bench, {
    work: `${limit} ${layer.table} of a ${what}`,
    servers,
    load: (server) => ({
      paths: boxes.map((box) => boxPath(server, schema, layer, box)),
      headers: headersFor(bench, server),
    }),
    equal: alikeInBoxes,
    wanted,
  })
}

function boxPath({ name }: Server, schema: string, { table, dataset }: Layer, box: string): string {
  if (name === 'pg_featureserv') return `/collections/${schema}.${table}/items.json?limit=${limit}&bbox=${box}`
  if (name === 'tipg') return `/collections/${schema}.${table}/items?f=geojson&limit=${limit}&bbox=${box}`
  return `/api/v1/datasets/${dataset}/query?format=geojson&limit=${limit}&filter[geom][$bbox]=${box}`
}

function read({ body }: Answer): Feature[] {
  const found = JSON.parse(body.toString()) as FeatureCollection | Feature
  return found.type === 'Feature' ? [found] : found.features
}

function sameFeature(ours: readonly Answer[], theirs: readonly Answer[]): void {
  for (const [index, answer] of ours.entries()) {
    const [mine, other] = [answer, theirs[index] ?? answer].map((one) => essence(read(one)[0]))
    if (mine !== other) throw new Error(`${other} and not ${mine}`)
  }
}

/** Geometry to a metre, and the properties but the id, which is one only for some. */
function essence(feature: Feature | undefined): string {
  const { id: _, ...properties } = feature?.properties ?? {}
  const sorted = Object.entries(properties).sort(([a], [b]) => a.localeCompare(b))
  const rounded = (_key: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(5)) : value)
  const coordinates = feature?.geometry && 'coordinates' in feature.geometry ? feature.geometry.coordinates : null
  return JSON.stringify([coordinates, sorted], rounded)
}

/** As many, with the same properties. Which ones of a box is up to the server. */
function alikeInBoxes(ours: readonly Answer[], theirs: readonly Answer[]): void {
  for (const [index, answer] of ours.entries()) {
    const [mine, other] = [read(answer), read(theirs[index] ?? answer)]
    if (mine.length !== other.length) throw new Error(`${other.length} features and not ${mine.length}`)
    const [names, otherNames] = [mine, other].map(([first]) => propertyNames(first))
    if (names !== otherNames) throw new Error(`the properties ${otherNames} and not ${names}`)
  }
}

const propertyNames = (feature: Feature | undefined): string =>
  Object.keys(feature?.properties ?? {})
    .filter((name) => name !== 'id')
    .sort()
    .join(', ')
