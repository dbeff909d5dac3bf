import Type from 'typebox'
import type { ArgumentPath } from './argument-paths.ts'
import { boundedRows, pageSchema } from './bounded-rows.ts'
import {
  conditionsOf,
  type DatasetRow,
  geometryOf,
  limit,
  loadColumns,
  names,
  offset,
  queryRows,
  selection,
} from './dataset.ts'
import { type GeometryDetail, geometryInDetail } from './geometry-detail.ts'
import { tool } from './tool.ts'

const strict = { additionalProperties: false }

export const queryDataset = tool({
  name: 'query_dataset',
  title: 'Query a dataset',
  description:
    'Returns rows of a dataset. Geometry is left out unless asked for. To count or add up, use summarize_dataset instead of reading rows.',
  input: Type.Object(
    {
      ...selection,
      attributes: names('The attributes to return; all but geometry unless named'),
      order: names('The attributes to sort by; `-` in front sorts downwards', 5),
      group: names('One row for each combination of these; attributes may then be such as count(*)', 5),
      limit: limit(50, 200),
      offset,
      geometry: Type.Optional(
        Type.Enum(['none', 'centroid', 'bbox', 'simplified', 'full'], {
          default: 'none',
          description: 'centroid is the middle of the bounding box; simplified has about a hundred positions at most',
        }),
      ),
    },
    strict,
  ),
  output: pageSchema,
  async run(call, input) {
    const { datasetId: id, group, attributes = group, order = [], limit = 50, offset = 0, parameters } = input
    const detail = (input.geometry ?? 'none') as GeometryDetail
    const dataset = await loadColumns(call, id)
    const shown = new Set(attributes ?? dataset.attributes.map(({ name }) => name))
    const geometries = dataset.attributes.filter(({ type }) => type === 'geometry').map(({ name }) => name)
    for (const name of geometries) if (detail === 'none') shown.delete(name)
    const [first] = geometries
    if (detail !== 'none' && first !== undefined && !group) shown.add(first)
    const { where, origins } = conditionsOf(dataset, input)
    const query = { attributes: [...shown], where, order, ...(group && { group }), limit: limit + 1, offset }
    const named = indexOrigins([...shown], 'attributes', input.attributes ?? [])
    const rows = await queryRows(call, id, query, { parameters, origins: [...origins, ...named] })
    return boundedRows(
      rows.map((row) => withGeometries(row, geometries, detail)),
      limit,
      offset,
    )
  },
})

/** Where each attribute of the query stands in a list that the caller wrote. */
const indexOrigins = (names: readonly string[], argument: string, written: readonly string[]): ArgumentPath[] =>
  names.flatMap((name, index) => {
    const at = written.indexOf(name)
    return at === -1 ? [] : [[`attributes/${index}`, `${argument}/${at}`]]
  })

function withGeometries(row: DatasetRow, names: readonly string[], detail: GeometryDetail): DatasetRow {
  const shown = names.filter((name) => name in row).map((name) => [name, geometryInDetail(row[name], detail)])
  return { ...row, ...Object.fromEntries(shown) }
}

const maxGroups = 100
const spatial: ReadonlySet<unknown> = new Set(['extent', 'area', 'length'])

export const summarizeDataset = tool({
  name: 'summarize_dataset',
  title: 'Summarize a dataset',
  description:
    'Counts, adds up or averages the rows of a dataset, by group if wanted, or finds their extent, their area in square metres or their length in metres (along the ellipsoid).',
  input: Type.Object(
    {
      ...selection,
      groupBy: names('One result for each combination of these attributes', 5),
      measures: Type.Array(
        Type.Object(
          {
            function: Type.Enum(['count', 'sum', 'avg', 'min', 'max', 'extent', 'area', 'length']),
            attribute: Type.Optional(
              Type.String({
                maxLength: 1_000,
                description: 'count needs none; extent, area and length take the geometry unless another is named',
              }),
            ),
          },
          strict,
        ),
        { minItems: 1, maxItems: 20 },
      ),
      order: names('For example -count, sum_population or -area_geom', 5),
    },
    strict,
  ),
  output: pageSchema,
  async run(call, input) {
    const { datasetId: id, groupBy = [], measures, order = [], parameters } = input
    const dataset = await loadColumns(call, id)
    const geometry = geometryOf(dataset)?.name
    const computed = measures.map(({ function: name, attribute }) => {
      const usual = spatial.has(name) ? geometry : undefined
      return `${name}(${attribute ?? usual ?? '*'})`
    })
    const { where, origins } = conditionsOf(dataset, input)
    const query = { attributes: [...groupBy, ...computed], where, group: groupBy, order, limit: maxGroups + 1 }
    const named: ArgumentPath[] = [
      ...indexOrigins(query.attributes, 'groupBy', groupBy),
      ...computed.map((_, index): ArgumentPath => [`attributes/${groupBy.length + index}`, `measures/${index}`]),
      ['attributes', 'measures'],
      ['group', 'groupBy'],
    ]
    return boundedRows(await queryRows(call, id, query, { parameters, origins: [...origins, ...named] }), maxGroups, 0)
  },
})
