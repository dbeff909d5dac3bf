import Type, { type Static, type TSchema } from 'typebox'
import { freeObject, uuidText } from '../../api/http/input/bounded-schemas.ts'
import type { Operation } from '../../api/http/operation.ts'
import { limits } from '../../kernel/limits/limits.ts'
import { type ArgumentPath, inArguments } from './argument-paths.ts'
import type { CallOperation } from './call-operation.ts'

type AttributeSummary = {
  name: string
  type: string
  description: string
  nullable: boolean
  primaryKey: boolean
  geometryType?: string
  srid?: number
}
export type DatasetSummary = {
  id: string
  name: string
  description: string
  type: string
  attributes: AttributeSummary[]
  metadata: { parameters?: unknown; gazetteer?: unknown; attributes?: unknown; srid?: unknown }
}

/** About how many rows a dataset has and where; null where that is not known. */
export type DatasetEstimate = { readonly rows: number | null; readonly extent: readonly number[] | null }

/** A text as it stands, in a pattern. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const datasetId = uuidText({ description: 'As list_datasets tells it' })
export const names = (description: string, maxItems = 50) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 1_000 }), { description, maxItems }))

/** A value that may be null. */
export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

export const limit = (fallback: number, maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: fallback }))
export const offset = Type.Optional(Type.Integer({ minimum: 0, maximum: limits.offset.value, default: 0 }))
export const distanceMeters = Type.Number({
  minimum: 0,
  maximum: 20_100_000,
  description: 'How far to look, in metres: 0 to 20 100 000, half round the earth',
})
export const position = Type.Array(Type.Number(), { minItems: 2, maxItems: 2 })
export const boxWords = '[west, south, east, north] in degrees of WGS 84'
export const bbox = Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: boxWords })

/** The arguments of every tool that reads rows. */
export const selection = {
  datasetId,
  where: Type.Optional(
    freeObject('bodyBytes', {
      description:
        'Conditions by attribute, for example {"population": {"$gt": 1000}, "name": {"$iLike": "new%"}}. Operators: $eq $ne $gt $gte $lt $lte $in $between $like $iLike $substring; $and, $or and $not nest.',
    }),
  ),
  bbox: Type.Optional(bbox),
  near: Type.Optional(
    Type.Object(
      { point: position, distanceMeters },
      { additionalProperties: false, description: 'point is [longitude, latitude]' },
    ),
  ),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 10_000 }), {
      maxProperties: 100,
      description: 'Values for the parameters that describe_dataset lists',
    }),
  ),
}
const selectionSchema = Type.Object(selection)
export type Selection = Static<typeof selectionSchema>

export async function loadDataset(call: CallOperation, id: string): Promise<DatasetSummary> {
  return (await call('datasets.get', { params: { id } })) as DatasetSummary
}

/** The part of a dataset that its rows reveal too. */
export type DatasetColumns = Pick<DatasetSummary, 'id' | 'attributes'>

export async function loadColumns(call: CallOperation, id: string): Promise<DatasetColumns> {
  return (await call(columnsOperationId, { params: { id } })) as DatasetColumns
}

const columnsOperationId = 'datasets.columns'

/** An internal operation for tools, without a path: who may query a dataset may know its columns. */
export function columnsOperation<S>(operations: readonly Operation<S>[]): Operation<S>[] {
  return operations
    .filter(({ id }) => id === 'datasets.get')
    .map((get) => ({
      ...get,
      id: columnsOperationId,
      access: { class: 'datasets', level: 'execute' },
      handle: (context, input) => get.handle(context, { ...input, query: { fields: ['id', 'attributes'] } }),
    }))
}

export const geometryOf = ({ attributes }: Pick<DatasetSummary, 'attributes'>): AttributeSummary | undefined =>
  attributes.find(({ type }) => type === 'geometry')

/** These attributes, or all; without geometry in any case. */
export function plainAttributes({ attributes }: DatasetColumns, wanted: readonly string[] | undefined): string[] {
  const geometries = new Set(attributes.flatMap(({ name, type }) => (type === 'geometry' ? [name] : [])))
  return (wanted ?? attributes.map(({ name }) => name)).filter((name) => !geometries.has(name))
}

/** All conditions as one filter, with the origin of its parts. */
export function conditionsOf(dataset: DatasetColumns, { where, bbox, near }: Omit<Selection, 'datasetId'>) {
  const geometry = geometryOf(dataset)?.name ?? 'geometry'
  const origins: ArgumentPath[] = []
  const filters: object[] = []
  const add = (filter: object, ...inside: readonly ArgumentPath[]) => {
    for (const [place, argument] of inside) origins.push([`where/$and/${filters.length}${place}`, argument])
    filters.push(filter)
  }
  if (where) add(where, ['', 'where'])
  if (bbox) add({ [geometry]: { $bbox: bbox } }, [`/${geometry}/$bbox`, 'bbox'])
  if (near) {
    const { point, distanceMeters: distance } = near
    const place = `/${geometry}/$dwithin`
    add({ [geometry]: { $dwithin: { point, distance } } }, [`${place}/point`, 'near/point'], [place, 'near'])
  }
  return { where: { $and: filters }, origins }
}

export type DatasetRow = Record<string, unknown>
type Query = {
  attributes?: string[]
  where?: object
  order?: string[]
  group?: string[]
  limit: number
  offset?: number
  nearest?: { attribute: string; as: string; point?: number[]; geometry?: unknown }
}

const usualTimeoutMs = 10_000

/** What of a query is not the query itself. */
type Asking = {
  parameters?: Selection['parameters']
  /** Where its parts came from, for errors; those that have the same name in the arguments need not be told. */
  origins?: readonly ArgumentPath[]
  timeoutMs?: number
}

export async function queryRows(
  call: CallOperation,
  id: string,
  query: Query,
  { parameters, origins = [], timeoutMs = usualTimeoutMs }: Asking = {},
): Promise<DatasetRow[]> {
  const input = { params: { id }, query: { format: 'json', timeout: timeoutMs }, body: query, parameters }
  const rows = await call('datasets.queryAdvanced', input).catch((error: unknown) => {
    throw inArguments(error, [...origins, ...sameNames])
  })
  return rows as DatasetRow[]
}

const sameNames = ['attributes', 'where', 'order', 'group', 'limit', 'offset'].map((name): ArgumentPath => [name, name])
