import Type, { type Static } from 'typebox'
import { uuidText } from '../../api/http/input/bounded-schemas.ts'
import { invalid } from '../../kernel/errors.ts'
import type { ArgumentPath } from './argument-paths.ts'
import { boundedRows, pageFields, pageSchema, rowSchema } from './bounded-rows.ts'
import type { CallOperation } from './call-operation.ts'
import {
  conditionsOf,
  type DatasetColumns,
  type DatasetRow,
  distanceMeters,
  geometryOf,
  loadColumns,
  names,
  offset,
  plainAttributes,
  position,
  queryRows,
  selection,
} from './dataset.ts'
import { tool } from './tool.ts'

const maxRows = 20
const maxMatches = 10
const maxNearby = 200

/** The name of the distance. An attribute of the same name is hidden. */
const distanceName = 'distanceMeters'
const centimetres = 100

/** The arguments of a join, besides its condition. */
const joinInput = {
  ...selection,
  attributes: names('The attributes to return of the first dataset'),
  toAttributes: names('The attributes to return of the other'),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxRows, default: 10 })),
  offset,
}
const joinSchema = Type.Object({ ...joinInput, toDatasetId: Type.String() })
type Join = Static<typeof joinSchema>

/** All is optional, because a row that is too long is replaced by a note. */
const joinedRow = Type.Object({
  row: Type.Optional({ ...rowSchema, description: 'Of the first dataset' }),
  matches: Type.Optional(Type.Array(rowSchema, { description: 'Rows of the other dataset' })),
  moreMatches: Type.Optional(Type.Boolean({ description: 'There are more matches than are shown' })),
})

export const spatialJoin = tool({
  name: 'spatial_join',
  title: 'Find what lies near or within',
  description: `For each row of one dataset, finds the rows of another that are near it (in metres; nearest first, each with ${distanceName}), touch it or lie within it.`,
  input: Type.Object(
    {
      ...joinInput,
      toDatasetId: uuidText({ description: 'Whose rows are looked for' }),
      predicate: Type.Optional(
        Type.Enum(['near', 'intersects', 'within'], {
          default: 'near',
          description: 'What holds of a row of the other dataset: near needs distanceMeters',
        }),
      ),
      distanceMeters: Type.Optional(distanceMeters),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({ rows: Type.Array(joinedRow), ...pageFields }),
  async run(call, input) {
    const { predicate = 'near', distanceMeters: distance } = input
    if ((predicate === 'near') !== (distance !== undefined)) {
      throw invalid('arguments/distanceMeters', 'is required with the predicate near and not allowed with any other')
    }
    return joined(
      call,
      input,
      predicate === 'near' ? nearTo(distance) : (geometry) => ({ [`$${predicate}`]: geometry }),
    )
  },
})

/** What holds of rows within so many metres. */
const nearTo = (distance: number | undefined) => (geometry: unknown) => ({ $dwithin: { geometry, distance } })

const { near: _, limit: __, ...nearbyInput } = joinInput

export const findNearby = tool({
  name: 'find_nearby',
  title: 'Find what is near',
  description: `Finds the rows of a dataset within some metres of a point, nearest first, each with ${distanceName}; or, given toDatasetId, for each row of the first dataset the ${maxMatches} nearest rows of the other within some metres of it.`,
  input: Type.Object(
    {
      ...nearbyInput,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxNearby,
          default: 10,
          description: `At most ${maxNearby}, with toDatasetId ${maxRows}`,
        }),
      ),
      point: Type.Optional({ ...position, description: '[longitude, latitude]; either this or toDatasetId' }),
      toDatasetId: Type.Optional(uuidText({ description: 'Whose rows are looked for' })),
      distanceMeters,
    },
    { additionalProperties: false },
  ),
  output: pageSchema,
  async run(call, { point, toDatasetId, distanceMeters: distance, ...input }) {
    if ((point === undefined) === (toDatasetId === undefined)) {
      throw invalid('arguments/point', 'is required unless toDatasetId is given; give only one of them')
    }
    const { limit = 10, offset = 0, parameters } = input
    if (toDatasetId !== undefined) {
      if (limit > maxRows) throw invalid('arguments/limit', `must be at most ${maxRows} with toDatasetId`)
      return joined(call, { ...input, toDatasetId }, nearTo(distance))
    }
    const dataset = await loadColumns(call, input.datasetId)
    const attribute = geometryNameOf(dataset, 'datasetId')
    const near = { point: point ?? [], distanceMeters: distance }
    const { where, origins } = conditionsOf(dataset, { ...input, near })
    const attributes = besideDistance(plainAttributes(dataset, input.attributes))
    const nearest = { attribute, as: distanceName, point: near.point }
    const query = { attributes, where, nearest, limit: limit + 1, offset }
    const rows = await queryRows(call, dataset.id, query, { parameters, origins: origins.map(withoutNear) })
    return boundedRows(rows.map(withShortDistance), limit, offset)
  },
})

const besideDistance = (attributes: readonly string[]): string[] => attributes.filter((name) => name !== distanceName)

const withShortDistance = ({ [distanceName]: distance, ...row }: DatasetRow): DatasetRow => ({
  ...row,
  [distanceName]: Math.round(Number(distance) * centimetres) / centimetres,
})

/** What other tools have in `near` stands by itself here. */
const withoutNear = ([place, argument]: ArgumentPath): ArgumentPath => [place, argument.replace(/^near\//, '')]

/** Spatial join: rows of the first dataset, each with the rows of the other that satisfy the condition. */
async function joined(call: CallOperation, input: Join, conditionOf: (geometry: unknown) => Condition) {
  const { limit = 10, offset = 0, parameters } = input
  const [from, to] = [await loadColumns(call, input.datasetId), await loadColumns(call, input.toDatasetId)]
  const geometry = geometryNameOf(from, 'datasetId')
  const target = geometryNameOf(to, 'toDatasetId')
  const shown = plainAttributes(from, input.attributes)
  const { where, origins } = conditionsOf(from, input)
  const query = { attributes: [...shown, geometry], where, limit: limit + 1, offset }
  const rows = await queryRows(call, from.id, query, { parameters, origins })
  const pairs: DatasetRow[] = []
  for (const row of rows.slice(0, limit)) {
    const { [geometry]: place, ...plain } = row
    // Nothing is near a row without geometry.
    const matches =
      place === null || place === undefined
        ? { rows: [], truncated: false }
        : await matchesOf(call, to, { attribute: target, condition: conditionOf(place) }, input.toAttributes)
    pairs.push({ row: plain, matches: matches.rows, ...(matches.truncated && { moreMatches: true }) })
  }
  return boundedRows([...pairs, ...rows.slice(limit)], limit, offset)
}

function geometryNameOf(dataset: DatasetColumns, argument: string): string {
  const geometry = geometryOf(dataset)
  if (!geometry) throw invalid(`arguments/${argument}`, 'must be a dataset with a geometry')
  return geometry.name
}

type Condition = { $dwithin?: { geometry: unknown } } & object

async function matchesOf(
  call: CallOperation,
  to: DatasetColumns,
  { attribute, condition }: { attribute: string; condition: Condition },
  wanted: readonly string[] | undefined,
) {
  const geometry = condition.$dwithin?.geometry
  const nearest = geometry === undefined ? undefined : { attribute, as: distanceName, geometry }
  const shown = plainAttributes(to, wanted)
  const query = {
    attributes: nearest ? besideDistance(shown) : shown,
    where: { [attribute]: condition },
    ...(nearest && { nearest }),
    limit: maxMatches + 1,
  }
  const matches = await queryRows(call, to.id, query, { origins: [['attributes', 'toAttributes']] })
  const rows = matches.slice(0, maxMatches)
  return { rows: nearest ? rows.map(withShortDistance) : rows, truncated: matches.length > maxMatches }
}
