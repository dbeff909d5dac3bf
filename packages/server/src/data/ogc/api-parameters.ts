// The parameters of /ogc as its API definition describes them.

import { maxAddressText } from '../../api/http/input/bounded-schemas.ts'
import { limits as serverLimits } from '../../kernel/limits/limits.ts'
import { crs84 } from './collections/crs.ts'
import { filterLanguages } from './items/cql-filter.ts'
import { limits } from './items/items-query.ts'
import { tileMatrixSetId } from './tiles/tile-matrix-set.ts'

type Schema = Readonly<Record<string, unknown>>

const form = { style: 'form', explode: false }

const inQuery = (name: string, schema: Schema, description: string) => ({
  name,
  in: 'query',
  required: false,
  description,
  ...form,
  schema,
})

const text = { type: 'string', maxLength: maxAddressText }
const list = { type: 'array', maxItems: serverLimits.names.value, items: { type: 'string', maxLength: 1_000 } }
const uri = { type: 'string', format: 'uri', maxLength: 200, default: crs84.uri }

const described: readonly (readonly [name: string, schema: Schema, description: string])[] = [
  ['f', { ...text, enum: ['json', 'html'] }, 'The form of the answer; the Accept header is asked otherwise.'],
  [
    'limit',
    { type: 'integer', minimum: 1, maximum: limits.maximum, default: limits.default },
    'The size of the page. More than the maximum counts as the maximum.',
  ],
  [
    'offset',
    { type: 'integer', minimum: 0, maximum: limits.offset, default: 0 },
    'Skips so many. Prefer the next link.',
  ],
  ['cursor', text, 'Continues behind the previous page. Take it from the next link.'],
  [
    'bbox',
    { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
    'Features that intersect this box, and features without a geometry: the lower corner, then the upper one. A box whose west is greater than its east crosses the antimeridian.',
  ],
  ['bbox-crs', uri, 'The reference system of bbox.'],
  [
    'datetime',
    text,
    'Features whose time intersects this time, day, month, year or period (2026-01-01/2026-01-31, 2026-01, ../2026-01-31T12:00:00Z), and features without a time.',
  ],
  ['filter', text, 'Features for which this CQL2 expression is true. The queryables say what it may name.'],
  [
    'filter-lang',
    { ...text, enum: filterLanguages, default: 'cql2-text' },
    'The language of filter. cql-text is another name for cql2-text.',
  ],
  ['filter-crs', uri, 'The reference system of geometries in filter.'],
  ['crs', uri, 'The reference system of the geometries: any that PostGIS knows.'],
  ['properties', list, 'The properties to return; all of them by default.'],
  ['skipGeometry', { type: 'boolean', default: false }, 'Leave out the geometries.'],
  ['sortby', list, 'The properties to sort by; - in front of one sorts downwards.'],
  [
    'resultType',
    { ...text, enum: ['results', 'hits'], default: 'results' },
    'hits: only how many features there are, in numberMatched.',
  ],
  ['time', text, 'Features whose time meets this period (2026-01/2026-03, ../2026), and none without a time.'],
  ['aggregate', text, 'Counts the features by cell: h3:auto, h3:0 to h3:15, grid:auto, grid:0 to grid:26, or cluster.'],
  ['value', list, 'With aggregate: sum, avg, min or max of a numeric property, such as avg(pop).'],
  [
    'repair',
    { type: 'boolean', default: false },
    'Makes geometries valid that are not, and adds or drops heights as the collection needs.',
  ],
]

export const parameters = Object.fromEntries(
  described.map(([name, schema, description]) => [name, inQuery(name, schema, description)]),
)

const inPath = (name: string, description: string, schema: Schema = text) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
})

export const pathParameters = {
  collectionId: inPath('collectionId', 'The id of the collection'),
  tileMatrixSetId: inPath('tileMatrixSetId', 'The id of the tile matrix set', { ...text, enum: [tileMatrixSetId] }),
  tileMatrix: inPath('tileMatrix', 'The zoom'),
  tileRow: inPath('tileRow', 'The row, from the north', { type: 'integer', minimum: 0 }),
  tileCol: inPath('tileCol', 'The column, from the west', { type: 'integer', minimum: 0 }),
  file: inPath('file', 'The name of a file'),
  featureId: inPath('featureId', 'The id of the feature'),
}

const inHeader = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: text,
})

export const headerParameters = {
  'Content-Crs': inHeader(
    'Content-Crs',
    `The reference system of the geometries in the body; ${crs84.uri} by default.`,
  ),
  'If-Match': inHeader('If-Match', 'The ETag of the feature as it is known: if it has changed since, 412.'),
}
