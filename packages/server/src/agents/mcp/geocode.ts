import Type from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import { boundedRows, pageFields, rowSchema } from './bounded-rows.ts'
import type { CallOperation } from './call-operation.ts'
import { type DatasetRow, type DatasetSummary, escapeLike, geometryOf, plainAttributes, queryRows } from './dataset.ts'
import { geometryInDetail } from './geometry-detail.ts'
import { tool } from './tool.ts'

const maxGazetteers = 5
const maxPlaces = 20

export const geocode = tool({
  name: 'geocode',
  title: 'Find a place by its name',
  description:
    'Finds places whose name begins with or contains a text, in the datasets with the tag gazetteer. Nobody else is asked.',
  input: Type.Object(
    {
      text: Type.String({ minLength: 1, maxLength: 200, description: 'The name of a place, or a part of it' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPlaces, default: 5 })),
    },
    { additionalProperties: false },
  ),
  output: Type.Object({
    places: Type.Array(rowSchema, { description: 'datasetId, name, center [lon, lat], bbox and the other attributes' }),
    truncated: pageFields.truncated,
    note: Type.Optional(Type.String()),
  }),
  async run(call, { text, limit = 5 }) {
    const query = { tags: ['gazetteer'], sort: ['name'], limit: maxGazetteers }
    const gazetteers = (await call('datasets.list', { query })) as DatasetSummary[]
    const places: DatasetRow[] = []
    for (const pattern of [`${escapeLike(text)}%`, `_%${escapeLike(text)}%`]) {
      for (const gazetteer of gazetteers) {
        if (places.length <= limit) places.push(...(await find(call, gazetteer, pattern, limit + 1 - places.length)))
      }
    }
    const { rows, truncated } = boundedRows(places, limit, 0)
    const note =
      gazetteers.length === 0 &&
      'No dataset is a gazetteer. Add the tag gazetteer to metadata.tags of a dataset with place names.'
    return { places: rows, truncated, ...(note && { note }) }
  },
})

async function find(
  call: CallOperation,
  gazetteer: DatasetSummary,
  pattern: string,
  limit: number,
): Promise<DatasetRow[]> {
  const { id } = gazetteer
  const geometry = geometryOf(gazetteer)?.name
  const name = nameAttribute(gazetteer)
  if (geometry === undefined || name === undefined) return []
  const plain = plainAttributes(gazetteer, undefined)
  const query = { attributes: [...plain, geometry], where: { [name]: { $iLike: pattern } }, order: [name], limit }
  const rows = await queryRows(call, id, query).catch(ifClosed)
  return rows.map(({ [geometry]: shape, ...attributes }) => ({
    datasetId: id,
    name: attributes[name],
    center: geometryInDetail(shape, 'centroid'),
    bbox: geometryInDetail(shape, 'bbox'),
    attributes,
  }))
}

/** A gazetteer that may be seen but not queried is none. */
function ifClosed(error: unknown): DatasetRow[] {
  if (error instanceof ApiError && error.status === 401) return []
  throw error
}

/** `metadata.gazetteer.name` says which it is; otherwise `name`, or the first text there is. */
function nameAttribute({ attributes, metadata }: DatasetSummary): string | undefined {
  const { name } = (metadata.gazetteer ?? {}) as { name?: unknown }
  const texts = attributes.flatMap((attribute) => (attribute.type === 'string' ? [attribute.name] : []))
  return texts.find((text) => text === (name ?? 'name')) ?? texts[0]
}
