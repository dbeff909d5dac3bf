/** The queries of the map pages. */
import type { AttributeStatistics, Client, Dataset, Style } from '@graticule/client'
import { type Distribution, distributionOf, numberOf } from '@graticule/map/recipe'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { queryOptions } from '@tanstack/react-query'
import { consoleUrl } from '../../address.ts'
import { queryKeys } from '../../query-keys.ts'

const listLimit = 1_000

export const styleListQuery = (client: Client) =>
  queryOptions({
    queryKey: queryKeys.styles.listWith('summaries'),
    queryFn: ({ signal }) =>
      client.styles.list({
        fields: ['id', 'name', 'description', 'updatedAt', 'metadata'],
        sort: ['name'],
        limit: listLimit,
        signal,
      }),
  })

export type StyleSummary = Awaited<ReturnType<NonNullable<ReturnType<typeof styleListQuery>['queryFn']>>>[number]

/** Whether it is a base map: one of the server's, or one marked as such. */
export const isBaseStyle = ({ metadata }: Pick<Style, 'metadata'>): boolean => metadata.base !== undefined

export interface ReadStyle {
  record: Style
  /** For `If-Match` (optimistic concurrency). */
  etag: string | null
}

export const styleQuery = (client: Client, id: string) =>
  queryOptions({
    queryKey: queryKeys.styles.one(id, 'with-etag'),
    async queryFn({ signal }): Promise<ReadStyle> {
      let etag: string | null = null
      const record = await client.styles.get(id, {
        signal,
        onResponse: ({ headers }) => {
          etag = headers.get('etag')
        },
      })
      return { record, etag }
    },
  })

/** The server's base map, for applications without base styles. */
export async function readDefaultBase(theme: 'light' | 'dark'): Promise<StyleSpecification> {
  const response = await fetch(consoleUrl(`base/${theme}.json`))
  if (!response.ok) throw new Error(`The base map's style could not be loaded (${response.status}).`)
  return response.json()
}

export const datasetListQuery = (client: Client) =>
  queryOptions({
    queryKey: queryKeys.datasets.listWith('for-maps'),
    queryFn: ({ signal }) =>
      client.datasets.list({
        fields: ['id', 'name', 'description', 'type', 'attributes'],
        sort: ['name'],
        limit: listLimit,
        signal,
      }),
  })

export type DatasetSummary = Pick<Dataset, 'id' | 'name' | 'description' | 'type' | 'attributes'>

export const datasetQuery = (client: Client, id: string) =>
  queryOptions({ queryKey: queryKeys.datasets.one(id), queryFn: ({ signal }) => client.datasets.get(id, { signal }) })

export const tileSourceListQuery = (client: Client) =>
  queryOptions({
    queryKey: queryKeys.tilesources.listWith('all'),
    queryFn: ({ signal }) => client.tileSources.list({ limit: listLimit, signal }),
  })

/** Prefers a tile source of the dataset, because a key needs only that to show the map; otherwise the dataset's own tiles. */
export async function findTilesId(client: Client, datasetId: string): Promise<string> {
  const filter = { type: 'dataset', source: datasetId }
  const sources = await client.tileSources
    .list({ filter, fields: ['id'], sort: ['createdAt'], limit: 1 })
    .catch(() => [])
  return sources[0]?.id ?? datasetId
}

export interface TileDescription {
  bounds?: [number, number, number, number]
  center?: [number, number, number]
  name?: string
}

export const tileDescriptionQuery = (client: Client, id: string) =>
  queryOptions({
    queryKey: queryKeys.tilesources.one(id, 'tilejson'),
    queryFn: ({ signal }) => client.tiles.describe<TileDescription>(id, { signal }),
    staleTime: 60_000,
  })

/** Enough values for class breaks; computing them takes 21 ms. */
const sampleRows = 10_000
/** Above this, `system` sampling is used: it is biased for sorted data, but `bernoulli` reads the whole table. */
const bernoulliMaxRows = 2_000_000

export interface AttributeValues {
  statistics: AttributeStatistics
  distribution: Distribution
  /** Whether `distribution.values` is only a sample. */
  isSample: boolean
}

const rangeTypes = new Set(['integer', 'number', 'date', 'datetime'])

/** Statistics of an attribute and, if it has a range, a sample of its values. */
export const valuesQuery = (client: Client, datasetId: string, attribute: string) =>
  queryOptions({
    queryKey: queryKeys.datasets.one(datasetId, 'values', attribute),
    staleTime: 300_000,
    async queryFn({ signal }): Promise<AttributeValues> {
      const statistics = await client.datasets.statistics(datasetId, attribute, { quantiles: 100, signal })
      if (!rangeTypes.has(statistics.type) || statistics.count === 0)
        return { statistics, distribution: distributionOf(statistics), isSample: statistics.sampled }
      const rows = await client.datasets.query(datasetId, sampleOf(attribute, statistics.rows.count), { signal })
      const values = rows.map((row) => numberOf(row[attribute], statistics.type)).filter(Number.isFinite)
      return {
        statistics,
        distribution: distributionOf(statistics, values),
        isSample: statistics.rows.count > sampleRows,
      }
    },
  })

function sampleOf(attribute: string, rows: number) {
  const query = { attributes: [attribute], limit: sampleRows }
  if (rows <= sampleRows) return query
  // 10 % more than needed, because the sample's size varies.
  const percentage = Math.min(100, (100 * 1.1 * sampleRows) / rows)
  return { ...query, sample: { percentage, method: rows < bernoulliMaxRows ? 'bernoulli' : 'system', seed: 1 } }
}
