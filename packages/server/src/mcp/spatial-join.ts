import Type from 'typebox'
import { invalid } from '../errors.ts'
import { boundedRows } from './bounded-rows.ts'
import type { CallOperation } from './call-operation.ts'
import {
  type DatasetSummary,
  geometryOf,
  loadDataset,
  names,
  plainAttributes,
  queryRows,
  type Row,
  selection,
  whereOf,
} from './dataset.ts'
import { tool } from './tool.ts'

const maxRows = 20
const maxMatches = 10

export const spatialJoin = tool({
  name: 'spatial_join',
  title: 'Find what lies near or within',
  description:
    'For each row of one dataset, finds the rows of another that are near it (in metres), touch it or lie within it.',
  input: Type.Object(
    {
      ...selection,
      attributes: names('The attributes to return of the first dataset'),
      toDatasetId: Type.String({ format: 'uuid', description: 'Whose rows are looked for' }),
      toAttributes: names('The attributes to return of the other'),
      predicate: Type.Optional(
        Type.Enum(['near', 'intersects', 'within'], {
          default: 'near',
          description: 'What holds of a row of the other dataset: near needs distanceMeters',
        }),
      ),
      distanceMeters: Type.Optional(Type.Number({ minimum: 0, maximum: 20_100_000 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxRows, default: 10 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
    },
    { additionalProperties: false },
  ),
  async run(call, input) {
    const { limit = 10, offset = 0, predicate = 'near', distanceMeters, parameters } = input
    if ((predicate === 'near') !== (distanceMeters !== undefined)) {
      throw invalid('arguments/distanceMeters', 'goes with the predicate near, and only with that')
    }
    const [from, to] = [
      await loadDataset(call, input.datasetId, 'execute'),
      await loadDataset(call, input.toDatasetId, 'execute'),
    ]
    const geometry = geometryNameOf(from, 'datasetId')
    const target = geometryNameOf(to, 'toDatasetId')
    const shown = plainAttributes(from, input.attributes)
    const rows = await queryRows(
      call,
      from.id,
      { attributes: [...shown, geometry], where: whereOf(from, input), limit: limit + 1, offset },
      parameters,
    )
    const joined: Row[] = []
    for (const row of rows.slice(0, limit)) {
      const condition = conditionOf(predicate, row[geometry], distanceMeters)
      const matches = condition
        ? await matchesOf(call, to, plainAttributes(to, input.toAttributes), { [target]: condition })
        : { rows: [], truncated: false }
      const { [geometry]: _, ...plain } = row
      joined.push({ row: plain, matches: matches.rows, ...(matches.truncated && { moreMatches: true }) })
    }
    return boundedRows([...joined, ...rows.slice(limit)], limit, offset)
  },
})

function geometryNameOf(dataset: DatasetSummary, argument: string): string {
  const geometry = geometryOf(dataset)
  if (!geometry) throw invalid(`arguments/${argument}`, 'is a dataset without geometry')
  return geometry.name
}

/** Nothing where a row has no geometry: nothing is near it. */
function conditionOf(predicate: string, geometry: unknown, distance: number | undefined): object | undefined {
  if (geometry === null || geometry === undefined) return undefined
  if (predicate === 'near') return { $dwithin: { geometry, distance } }
  return { [`$${predicate}`]: geometry }
}

async function matchesOf(call: CallOperation, { id }: DatasetSummary, attributes: string[], where: object) {
  const rows = await queryRows(call, id, { attributes, where, limit: maxMatches + 1 }, {})
  return { rows: rows.slice(0, maxMatches), truncated: rows.length > maxMatches }
}
