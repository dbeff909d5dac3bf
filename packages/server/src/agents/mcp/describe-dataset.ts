import Type, { type Static } from 'typebox'
import { ApiError } from '../../kernel/errors.ts'
import type { ArgumentPath } from './argument-paths.ts'
import { rowSchema } from './bounded-rows.ts'
import type { CallOperation } from './call-operation.ts'
import {
  boxWords,
  type DatasetRow,
  type DatasetSummary,
  datasetId,
  geometryOf,
  loadDataset,
  names,
  nullable,
  queryRows,
} from './dataset.ts'
import { tool } from './tool.ts'

const describedAttribute = Type.Object({
  name: Type.String(),
  type: Type.String(),
  description: Type.String(),
  nullable: Type.Boolean(),
  primaryKey: Type.Boolean(),
  geometryType: Type.Optional(Type.String()),
  srid: Type.Optional(Type.Integer()),
  unit: Type.Optional(Type.String()),
})

/** What the rows themselves tell; a note in its place where they could not be read. */
const measured = {
  rows: Type.Optional(Type.Number()),
  extent: Type.Optional(nullable(Type.Array(Type.Number()), boxWords)),
  nulls: Type.Optional(
    Type.Record(Type.String(), Type.Number(), { description: 'By attribute: how many rows have none' }),
  ),
  ranges: Type.Optional(
    Type.Record(Type.String(), Type.Object({ min: Type.Unknown(), max: Type.Unknown() }), {
      description: 'By attribute: its least and greatest value',
    }),
  ),
  note: Type.Optional(Type.String()),
}
const measuredSchema = Type.Object(measured)

export const describeDataset = tool({
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'Tells the attributes of a dataset with their types, descriptions and units, the number of rows, the geometry and its reference system, the extent, and of each attribute the range and how often it is null. Coordinates in answers are always WGS 84.',
  input: Type.Object(
    { datasetId, valuesOf: names('Also tell the ten commonest values of these attributes', 5) },
    { additionalProperties: false },
  ),
  output: Type.Object({
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    attributes: Type.Array(describedAttribute),
    geometry: nullable(
      Type.Object({ attribute: Type.String(), type: Type.String(), srid: nullable(Type.Integer()) }),
      'The first geometry; null where there is none',
    ),
    parameters: Type.Unknown({
      description: 'A list of {name, type, default?, required?}: what the dataset can be told',
    }),
    ...measured,
    values: Type.Optional(
      Type.Record(Type.String(), Type.Array(rowSchema), { description: 'By attribute: the commonest values' }),
    ),
  }),
  async run(call, { datasetId: id, valuesOf = [] }) {
    const dataset = await loadDataset(call, id)
    const values: Record<string, DatasetRow[]> = {}
    for (const [index, name] of valuesOf.entries()) values[name] = await commonest(call, id, name, index)
    const geometry = geometryOf(dataset)
    return {
      id,
      name: dataset.name,
      description: dataset.description,
      attributes: dataset.attributes.slice(0, maxAttributes).map((attribute) => explained(attribute, dataset)),
      geometry: geometry
        ? { attribute: geometry.name, type: geometry.geometryType ?? 'Geometry', srid: sridOf(geometry, dataset) }
        : null,
      parameters: dataset.metadata.parameters ?? [],
      ...(await measure(call, dataset)),
      ...(valuesOf.length > 0 && { values }),
    }
  },
})

const maxAttributes = 200
const maxWords = 200

type AttributeSummary = DatasetSummary['attributes'][number]

/** `metadata.attributes` says what the columns of a table or query cannot: `{height: {description, unit}}`. */
function explained(attribute: AttributeSummary, { metadata }: DatasetSummary): Static<typeof describedAttribute> {
  const { description, unit } = memberOf(metadata.attributes, attribute.name)
  const shownUnit = shortText(unit)
  return {
    ...attribute,
    description: shortText(description) ?? attribute.description.slice(0, maxWords),
    ...(shownUnit !== undefined && { unit: shownUnit }),
  }
}

function memberOf(value: unknown, name: string): { description?: unknown; unit?: unknown } {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return (isThere && (value as Record<string, object | null>)[name]) || {}
}

const shortText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, maxWords) : undefined

/** Null where the numbers are degrees that nobody called so. */
function sridOf({ srid }: AttributeSummary, { metadata }: DatasetSummary): number | null {
  return srid || (typeof metadata.srid === 'number' ? metadata.srid : null)
}

const ranged = new Set(['integer', 'number', 'date', 'datetime', 'time'])
const maxRanges = 20
const maxCounted = 50

/** Counts and ranges in one query. A dataset that needs parameters, or time, is described without them. */
async function measure(call: CallOperation, dataset: DatasetSummary): Promise<Static<typeof measuredSchema>> {
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
    const [row = {}] = await queryRows(call, dataset.id, { attributes, limit: 1 })
    const ranges = measured.map(({ name }, index) => [name, { min: row[`min${index}`], max: row[`max${index}`] }])
    const nulls = counted.map(({ name }, index) => [name, Number(row.rows) - Number(row[`known${index}`])])
    const extent = (row.extent ?? null) as number[] | null
    return { rows: Number(row.rows), extent, nulls: Object.fromEntries(nulls), ranges: Object.fromEntries(ranges) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { note: `Rows could not be counted: ${error.message}` }
  }
}

function commonest(call: CallOperation, id: string, name: string, index: number): Promise<DatasetRow[]> {
  const query = { attributes: [name, 'count(*) as rows'], group: [name], order: ['-rows'], limit: 10 }
  const origins = ['attributes/0', 'group/0', 'attributes', 'group'].map(
    (place): ArgumentPath => [place, `valuesOf/${index}`],
  )
  return queryRows(call, id, query, { origins })
}
