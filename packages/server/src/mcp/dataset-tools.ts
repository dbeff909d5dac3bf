import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { boundedRows } from './bounded-rows.ts'
import type { CallOperation } from './call-operation.ts'
import {
  bbox,
  boxWords,
  type DatasetSummary,
  datasetId,
  escapeLike,
  geometryOf,
  loadDataset,
  names,
  queryRows,
  type Row,
  selection,
  whereOf,
} from './dataset.ts'
import { idsInBox } from './in-box.ts'
import { type GeometryDetail, shownGeometry } from './shown-geometry.ts'
import { tool } from './tool.ts'

const limit = (fallback: number, maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: fallback }))
const offset = Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 }))
const strict = { additionalProperties: false }

export const listDatasets = tool({
  name: 'list_datasets',
  title: 'List datasets',
  description: 'Lists the datasets that can be queried: id, name, description and geometry. Begin here.',
  input: Type.Object(
    {
      search: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the name or description' })),
      bbox: Type.Optional({ ...bbox, description: `Only those with something in ${boxWords}` }),
      limit: limit(20, 50),
      offset,
    },
    strict,
  ),
  async run(call, { search, bbox, limit = 20, offset = 0 }) {
    const pattern = { $iLike: `%${escapeLike(search ?? '')}%` }
    const query = {
      ...(search && { filter: { $or: [{ name: pattern }, { description: pattern }] } }),
      sort: ['name'],
      limit: limit + 1,
      offset,
    }
    const found = (await call('datasets.list', { query })) as DatasetSummary[]
    const { rows, ...rest } = boundedRows(found.map(brief), limit, offset)
    if (!bbox) return { datasets: rows, ...rest }
    const ids = await idsInBox(call, found.slice(0, rows.length), bbox)
    return { datasets: rows.filter(({ id }) => ids.has(String(id))), ...rest }
  },
})

function brief(dataset: DatasetSummary): Row {
  const geometry = geometryOf(dataset)
  const { id, name, description, attributes } = dataset
  return {
    id,
    name,
    description: description.slice(0, 500),
    attributes: attributes.length,
    geometry: geometry ? { attribute: geometry.name, type: geometry.geometryType ?? 'Geometry' } : null,
  }
}

export const describeDataset = tool({
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'Tells the attributes of a dataset with their types, the number of rows, the extent, and of each attribute the range and how often it is null. Coordinates in answers are always WGS 84.',
  input: Type.Object(
    { datasetId, valuesOf: names('Also tell the ten commonest values of these attributes', 5) },
    strict,
  ),
  async run(call, { datasetId: id, valuesOf = [] }) {
    const dataset = await loadDataset(call, id, 'read')
    const values: Record<string, Row[]> = {}
    for (const name of valuesOf) values[name] = await commonest(call, id, name)
    return {
      id,
      name: dataset.name,
      description: dataset.description,
      attributes: dataset.attributes.slice(0, maxAttributes).map(withShortDescription),
      parameters: dataset.metadata.parameters ?? [],
      ...(await measure(call, dataset)),
      ...(valuesOf.length > 0 && { values }),
    }
  },
})

const maxAttributes = 200
const withShortDescription = (attribute: DatasetSummary['attributes'][number]) => ({
  ...attribute,
  description: attribute.description.slice(0, 200),
})

const ranged = new Set(['integer', 'number', 'date', 'datetime', 'time'])
const maxRanges = 20
const maxCounted = 50

/** Counts and ranges in one query. A dataset that needs parameters, or time, is described without them. */
async function measure(call: CallOperation, dataset: DatasetSummary): Promise<object> {
  const measured = dataset.attributes.filter(({ type }) => ranged.has(type)).slice(0, maxRanges)
  const counted = dataset.attributes.filter(({ nullable }) => nullable).slice(0, maxCounted)
  const geometry = geometryOf(dataset)
  const attributes = [
    'count(*) as rows',
    ...(geometry ? [`extent(${geometry.name}) as extent`] : []),
    ...counted.map(({ name }, index) => `count(${name}) as known${index}`),
    ...measured.flatMap(({ name }, index) => [`min(${name}) as min${index}`, `max(${name}) as max${index}`]),
  ]
  try {
    const [row = {}] = await queryRows(call, dataset.id, { attributes, limit: 1 }, {})
    const ranges = measured.map(({ name }, index) => [name, { min: row[`min${index}`], max: row[`max${index}`] }])
    const nulls = counted.map(({ name }, index) => [name, Number(row.rows) - Number(row[`known${index}`])])
    const extent = row.extent ?? null
    return { rows: row.rows, extent, nulls: Object.fromEntries(nulls), ranges: Object.fromEntries(ranges) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { note: `Rows could not be counted: ${error.message}` }
  }
}

function commonest(call: CallOperation, id: string, name: string): Promise<Row[]> {
  return queryRows(call, id, { attributes: [name, 'count(*) as rows'], group: [name], order: ['-rows'], limit: 10 }, {})
}

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
  async run(call, input) {
    const { datasetId: id, group, attributes = group, order = [], limit = 50, offset = 0, parameters } = input
    const detail = (input.geometry ?? 'none') as GeometryDetail
    const dataset = await loadDataset(call, id, 'execute')
    const shown = new Set(attributes ?? dataset.attributes.map(({ name }) => name))
    const geometries = dataset.attributes.filter(({ type }) => type === 'geometry').map(({ name }) => name)
    for (const name of geometries) if (detail === 'none') shown.delete(name)
    const [first] = geometries
    if (detail !== 'none' && first !== undefined && !group) shown.add(first)
    const where = whereOf(dataset, input)
    const query = { attributes: [...shown], where, order, ...(group && { group }), limit: limit + 1, offset }
    const rows = await queryRows(call, id, query, parameters)
    return boundedRows(
      rows.map((row) => withGeometries(row, geometries, detail)),
      limit,
      offset,
    )
  },
})

function withGeometries(row: Row, names: readonly string[], detail: GeometryDetail): Row {
  const shown = names.filter((name) => name in row).map((name) => [name, shownGeometry(row[name], detail)])
  return { ...row, ...Object.fromEntries(shown) }
}

const maxGroups = 100

export const summarizeDataset = tool({
  name: 'summarize_dataset',
  title: 'Summarize a dataset',
  description: 'Counts, adds up, averages or finds the extent of the rows of a dataset, by group if wanted.',
  input: Type.Object(
    {
      ...selection,
      groupBy: names('One result for each combination of these attributes', 5),
      measures: Type.Array(
        Type.Object(
          {
            function: Type.Enum(['count', 'sum', 'avg', 'min', 'max', 'extent']),
            attribute: Type.Optional(Type.String({ maxLength: 1_000, description: 'Only count needs none' })),
          },
          strict,
        ),
        { minItems: 1, maxItems: 20 },
      ),
      order: names('For example -count or sum_population', 5),
    },
    strict,
  ),
  async run(call, input) {
    const { datasetId: id, groupBy = [], measures, order = [], parameters } = input
    const dataset = await loadDataset(call, id, 'execute')
    const computed = measures.map(({ function: name, attribute }) => `${name}(${attribute ?? '*'})`)
    const query = {
      attributes: [...groupBy, ...computed],
      where: whereOf(dataset, input),
      group: groupBy,
      order,
      limit: maxGroups + 1,
    }
    return boundedRows(await queryRows(call, id, query, parameters), maxGroups, 0)
  },
})
