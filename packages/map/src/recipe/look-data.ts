/** What the look of a data source needs to know: from the server of a dataset, or from the features themselves. */
import type { AttributeStatistics, Dataset } from '@graticule/client'
import type { GeoJsonCollection } from '../geojson.ts'
import type { MapClient } from '../map-client.ts'
import { geometryOf } from './defaults.ts'
import type { LayerGeometryKind } from './recipe.ts'
import type { LookData } from './source-look.ts'

/** Natural breaks of so many quantiles differ little from those of all values. */
const quantiles = 100

/** `tilesId` is the id of a dataset, or of a tile source that is made from one. */
export async function dataOfServer(client: MapClient, tilesId: string, apiKey: string | undefined): Promise<LookData> {
  const request = apiKey ? { apiKey } : {}
  const read = (id: string) => client.datasets.get(id, request)
  const dataset = await read(tilesId).catch(async (error: { status?: number }) => {
    const { dataset: made } = error.status === 404 ? await client.tiles.describe(tilesId, request) : {}
    if (!made) throw error
    return await read(made.id)
  })
  return {
    name: dataset.name,
    geometry: geometryOf(dataset as Pick<Dataset, 'attributes'>) ?? 'mixed',
    statistics: (attribute) => client.datasets.statistics(dataset.id, attribute, { quantiles, ...request }),
  }
}

export const dataOfFeatures = (name: string, { features }: GeoJsonCollection): LookData => ({
  name,
  geometry: kindOf(features),
  statistics: async (attribute) => statisticsOf(attribute, features),
})

function kindOf(features: GeoJsonCollection['features']): LayerGeometryKind {
  const kinds = new Set(features.map(({ geometry }) => kindOfType(geometry?.type ?? '')))
  const [only, another] = kinds
  return another === undefined && only !== undefined ? only : 'mixed'
}

function kindOfType(type: string): LayerGeometryKind {
  if (type.endsWith('Point')) return 'point'
  if (type.endsWith('LineString')) return 'line'
  return type.endsWith('Polygon') ? 'area' : 'mixed'
}

const maxFrequent = 20

function statisticsOf(attribute: string, features: GeoJsonCollection['features']): AttributeStatistics {
  const values = features.map(({ properties }) => properties?.[attribute] as unknown)
  const given = values.filter((value) => value !== null && value !== undefined)
  if (given.length === 0) throw new Error(`No feature has a property "${attribute}".`)
  const type = typeOfValues(given)
  const sorted = type === 'string' || type === 'boolean' ? [] : orderedValues(given)
  const counts = new Map<string | number | boolean, number>()
  for (const value of given.filter(isPlain)) counts.set(value, (counts.get(value) ?? 0) + 1)
  const frequent = [...counts].map(([value, count]) => ({ value, count }))
  const shown = frequent.toSorted((a, b) => b.count - a.count).slice(0, maxFrequent)
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? ''
  return {
    attribute,
    type,
    rows: { count: values.length, isEstimate: false },
    count: given.length,
    nulls: values.length - given.length,
    distinct: counts.size,
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    mean: null,
    quantiles:
      sorted.length === 0
        ? []
        : Array.from({ length: quantiles + 1 }, (_, n) => ({ p: n / quantiles, value: at(n / quantiles) })),
    histogram: [],
    frequent: shown,
    sampled: false,
    sampleSize: values.length,
  }
}

const isPlain = (value: unknown): value is string | number | boolean => typeof value !== 'object'
const isoDate = /^\d{4}-\d{2}-\d{2}(T|$)/

function typeOfValues(values: readonly unknown[]): AttributeStatistics['type'] {
  const every = (holds: (value: unknown) => boolean): boolean => values.every(holds)
  if (every((value) => typeof value === 'boolean')) return 'boolean'
  if (every((value) => typeof value === 'number')) return every(Number.isInteger) ? 'integer' : 'number'
  return every((value) => typeof value === 'string' && isoDate.test(value)) ? 'datetime' : 'string'
}

const orderedValues = (values: readonly unknown[]): (string | number)[] =>
  (values as (string | number)[]).toSorted((a, b) => (a < b ? -1 : Number(a > b)))
