/** Steps for QGIS, which can only GET: queries that need a POST are downloaded to a file first. */
import type { DatasetQuery } from '@graticule/client'
import { curlSnippet, geometryIn, placeholderKey, type SnippetInput } from './snippet-input.ts'

export function qgisSnippet(input: SnippetInput): string {
  const format = geometryIn(input) ? 'geojson' : 'csv'
  return isSimple(input.query) ? protocolSteps(input, format) : fileSteps(input, format)
}

const isSimple = ({ group, distinct, sample, nearest }: DatasetQuery): boolean =>
  !(group || distinct || sample || nearest)

function protocolSteps(input: SnippetInput, format: 'geojson' | 'csv'): string {
  const lines = [
    'As features:',
    '1. Layer > Add Layer > Add Vector Layer…',
    `2. Source type: Protocol: HTTP(S); Type: ${format === 'geojson' ? 'GeoJSON' : 'Others'}`,
    '3. URI:',
    simpleAddress(input, format),
    '4. Add',
  ]
  const { dataset, server, query } = input
  const isWhole = !(query.attributes || query.offset)
  if (format !== 'geojson' || !isWhole) return lines.join('\n')
  const filter = query.where ? `&filter=${encodeURIComponent(JSON.stringify(query.where))}` : ''
  return [
    ...lines,
    '',
    'As vector tiles, for many rows (without limit and order):',
    '1. Layer > Add Layer > Add Vector Tile Layer… > New > New Generic Connection',
    '2. URL, zooms 0 to 14:',
    `${server}/tiles/${dataset.id}/{z}/{x}/{y}.mvt?api-key=${placeholderKey}${filter}`,
    '3. Add',
  ].join('\n')
}

/** The query as a GET URL. */
export function simpleAddress({ server, dataset, query, parameters }: SnippetInput, format: string): string {
  const { attributes, where, order, limit, offset } = query
  const search = new URLSearchParams({
    format,
    ...(attributes && { attributes: attributes.join(',') }),
    ...(where && { filter: JSON.stringify(where) }),
    ...(order && { sort: order.join(',') }),
    ...(limit !== undefined && { limit: String(limit) }),
    ...(offset !== undefined && { offset: String(offset) }),
    ...parameters,
    'api-key': placeholderKey,
  })
  return `${server}/api/v1/datasets/${dataset.id}/query?${search}`
}

function fileSteps(input: SnippetInput, format: 'geojson' | 'csv'): string {
  return [
    'QGIS asks by GET, which knows no groups, samples or distances. Fetch the rows into a file:',
    '',
    `${curlSnippet(input, { format })} \\`,
    `  -o rows.${format}`,
    '',
    `Then drag rows.${format} into QGIS.`,
  ].join('\n')
}
