import Type, { type Static } from 'typebox'
import { invalid } from '../../kernel/errors.ts'
import { firstRows, pageFields } from './bounded-rows.ts'
import {
  bbox,
  boxWords,
  type DatasetEstimate,
  type DatasetSummary,
  escapeLike,
  geometryOf,
  limit,
  nullable,
  offset,
} from './dataset.ts'
import { datasetIdsInBox } from './datasets-in-box.ts'
import { tool } from './tool.ts'

const listedDataset = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  attributes: Type.Integer({ description: 'How many there are' }),
  geometry: nullable(Type.Object({ attribute: Type.String(), type: Type.String() })),
  rowEstimate: nullable(Type.Number()),
  extent: nullable(Type.Array(Type.Number()), boxWords),
})

export const listDatasets = tool({
  name: 'list_datasets',
  title: 'List datasets',
  description:
    'Lists the datasets that can be queried: id, name, description, geometry, and about how many rows they have and where (null where that is not known). Begin here.',
  input: Type.Object(
    {
      search: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the name or description' })),
      bbox: Type.Optional({ ...bbox, description: `Only those with something in ${boxWords}` }),
      limit: limit(20, 50),
      cursor: Type.Optional(
        Type.String({ maxLength: 100, description: 'The nextCursor of the page before, with the same search' }),
      ),
      offset,
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    datasets: Type.Array(listedDataset),
    ...pageFields,
    nextCursor: Type.Optional(Type.String({ description: 'The cursor with which the rest begins' })),
  }),
  async run(call, { search, bbox, limit = 20, cursor, offset = 0 }, { estimates }) {
    if (cursor !== undefined && offset > 0) throw invalid('arguments/cursor', 'must not be given together with offset')
    const start = cursor === undefined ? offset : readCursor(cursor)
    const pattern = { $iLike: `%${escapeLike(search ?? '')}%` }
    const query = {
      ...(search && { filter: { $or: [{ name: pattern }, { description: pattern }] } }),
      sort: ['name'],
      limit: limit + 1,
      offset: start,
    }
    const datasets = (await call('datasets.list', { query })) as DatasetSummary[]
    const estimateOf = await estimates(datasets.slice(0, limit))
    const page = firstRows(
      datasets.map((dataset) => brief(dataset, estimateOf.get(dataset.id))),
      limit,
      start,
    )
    const { rows, truncated, nextOffset } = page
    const rest = { truncated, ...(nextOffset !== undefined && { nextCursor: cursorOf(nextOffset), nextOffset }) }
    if (!bbox) return { datasets: rows, ...rest }
    const ids = await datasetIdsInBox(call, datasets.slice(0, rows.length), bbox)
    return { datasets: rows.filter(({ id }) => ids.has(id)), ...rest }
  },
})

function brief(dataset: DatasetSummary, estimate: DatasetEstimate | undefined): Static<typeof listedDataset> {
  const geometry = geometryOf(dataset)
  const { id, name, description, attributes } = dataset
  return {
    id,
    name,
    description: description.slice(0, 500),
    attributes: attributes.length,
    geometry: geometry ? { attribute: geometry.name, type: geometry.geometryType ?? 'Geometry' } : null,
    rowEstimate: estimate?.rows ?? null,
    extent: estimate?.extent ? [...estimate.extent] : null,
  }
}

const cursorOf = (offset: number): string => Buffer.from(`from ${offset}`).toString('base64url')

function readCursor(cursor: string): number {
  const [, digits] = /^from (\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (digits === undefined) throw invalid('arguments/cursor', 'must be a nextCursor of this tool')
  return Number(digits)
}
