// Renames, describes and retypes a column of a dataset's table, and tells before what a new type would lose.
import Type, { type Static } from 'typebox'
import { alsoAt } from '../../api/access/acl.ts'
import { etagOf } from '../../api/resource/revision.ts'
import { outputSchema } from '../../api/resource/schemas.ts'
import { getText } from '../../api/resource/store.ts'
import type { Transaction } from '../../kernel/db/db.ts'
import { ident, raw, sql } from '../../kernel/db/sql.ts'
import { ApiError, invalid } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { show } from '../../query/values/fault.ts'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import { renameAttribute } from '../datasets/store-dataset.ts'
import { type Conversion, conversionSql, convertedSql, demandConvertible } from './column-conversion.ts'
import { checkColumnName, columnSchema, literal, scalarOf } from './column-definition.ts'
import { attributesWith, readColumnFacts } from './column-facts.ts'
import { beginColumns, changeColumns } from './column-operations.ts'
import { demandDataset, type EditContext, operation } from './editing.ts'
import { cellText } from './input/cell-text.ts'
import { explainDdl } from './make-table.ts'
import type { EditColumn, EditTable } from './writing/edit-table.ts'
import { setWriteLimits } from './writing/write-rows.ts'

const { name, type, dbType, description, default: preset } = columnSchema.properties

const changeSchema = Type.Object(
  { name: Type.Optional(name), type, dbType, description, nullable: Type.Optional(Type.Boolean()), default: preset },
  { additionalProperties: false, minProperties: 1, examples: [{ name: 'height_m', description: 'In metres' }] },
)

type ColumnChange = Static<typeof changeSchema>

const conversionSchema = Type.Object({
  values: Type.Integer({ description: 'How many are not null' }),
  lost: Type.Integer({ description: 'How many would become null, being none of the new type' }),
  changed: Type.Integer({
    description: 'How many would be written in another way, such as rounded or without their time',
  }),
  examples: Type.Array(Type.Object({ from: Type.String(), to: Type.Union([Type.String(), Type.Null()]) })),
  dropsDefault: Type.Boolean({ description: 'Whether the column has a default, which goes unless it is given anew' }),
})

const path = `${datasetResource.path}/{id}/columns/{column}` as const

export const changeColumn = operation({
  id: 'datasets.changeColumn',
  method: 'PATCH',
  path,
  summary: 'Rename, retype or describe a column',
  description:
    'What is not given stays. `metadata.time` of its datasets follows a new name; maps and queries do not. A new type converts the values that are there; if some cannot be converted: 409, unless `onLoss=null` makes them null ' +
    '(`GET …/conversion` counts them before). A default of null removes the default; a new type removes it, too, unless it is given anew.',
  access: { class: 'datasets', level: 'write' },
  query: Type.Object({
    onLoss: Type.Optional(
      Type.Enum(['refuse', 'null'], { description: 'What becomes of values that cannot be converted' }),
    ),
  }),
  beforeBody: demandDataset,
  body: changeSchema,
  success: { status: 200, description: 'The dataset', schema: outputSchema(datasetResource), headers: ['ETag'] },
  failures: [409, 502, 504],
  async handle(context, { params: { id, column: name }, query: { onLoss = 'refuse' }, body }) {
    const { edit, column } = await beginColumn(context, id, name)
    const { table } = edit
    const planned = planChange(column, table, body)
    const { dbType } = planned
    await changeColumns(context, edit, name, async (tx, ids) => {
      if (dbType !== undefined) await retype(tx, table, { column, dbType, losesValues: onLoss === 'null' })
      await describeColumn(tx, table, column, planned)
      if (planned.name !== name) await renameAttribute(tx, ids, name, planned.name)
      const now = (await readColumnFacts(tx, table.tableName)).get(planned.name)
      if (!now) throw new ApiError('conflict', 'The column was dropped meanwhile. Read the dataset again.')
      return attributesWith(name, now)
    })
    const { json: text, tag } = await getText(
      { resource: datasetResource, services: context.services },
      context.scope,
      id,
    )
    return { headers: { etag: etagOf(tag) }, json: text }
  },
})

async function beginColumn(context: EditContext, id: string, name: string) {
  const edit = await beginColumns(context, id)
  const column = edit.table.columns.get(name)
  if (!column) throw new ApiError('not_found', unknownName('a column', name, edit.table.columns.keys()))
  return { edit, column }
}

/** What is changed; undefined where it stays. */
type PlannedChange = {
  readonly name: string
  readonly dbType?: string
  /** Null removes the default. */
  readonly defaultText?: string | null
  readonly nullable: boolean | undefined
  readonly description: string | undefined
}

function planChange(column: EditColumn, { key }: EditTable, change: ColumnChange): PlannedChange {
  const { name = column.name, nullable, description } = change
  if (change.name !== undefined) checkColumnName(name, 'body')
  if (nullable && key.includes(column)) throw invalid('body/nullable', 'must be false: the column is part of the key')
  const typed = newTypeOf(column, key, change)
  const isRetyped = typed.dbType !== column.dbType
  const defaultText = defaultTextOf({ ...column, ...typed, castTo: typed.dbType }, change, isRetyped)
  return {
    name,
    nullable,
    description,
    ...(isRetyped && { dbType: typed.dbType }),
    ...(defaultText !== undefined && { defaultText }),
  }
}

function newTypeOf(
  column: EditColumn,
  key: EditTable['key'],
  change: Pick<ColumnChange, 'type' | 'dbType'>,
): Pick<EditColumn, 'type' | 'dbType'> {
  if (change.type === undefined && change.dbType === undefined) return column
  const typed = change.type === 'geometry' ? anyGeometry : scalarOf(change, 'body')
  if (typed.dbType !== column.dbType) demandConvertible(column, key, typed.type)
  return typed
}

const anyGeometry = { type: 'geometry', dbType: 'geometry' } as const

/** A default of the old type is none of the new one. */
function defaultTextOf(column: EditColumn, change: ColumnChange, isRetyped: boolean): string | null | undefined {
  if (column.identity || column.isGenerated) {
    if (change.default !== undefined) throw invalid('body/default', 'must be left out: the database gives these values')
    return undefined
  }
  if (change.default === undefined) return isRetyped && column.hasDefault ? null : undefined
  if (change.default === null) return null
  if (column.geometry) throw invalid('body/default', 'must not be given for a geometry')
  return cellText(column, change.default, 'body/default', { isText: false, repair: false })
}

type Retyping = { readonly column: EditColumn; readonly dbType: string; readonly losesValues: boolean }

async function retype(tx: Transaction, table: EditTable, { column, dbType, losesValues }: Retyping): Promise<void> {
  // Every row is written anew.
  await setWriteLimits(tx)
  const { lost, values, examples } = await readConversion(tx, table, column, dbType)
  if (lost > 0 && !losesValues) throw lossRefused({ lost, values, examples }, dbType)
  const converted = convertedSql(column, dbType)
  const alter = sql`ALTER TABLE ${table.from} ALTER COLUMN ${ident(column.name)}`
  if (column.hasDefault && !column.identity) await tx.query(sql`${alter} DROP DEFAULT`).catch(explainDdl)
  await tx.query(sql`${alter} TYPE ${raw(dbType)} USING ${converted}`).catch(explainDdl)
}

function lossRefused(
  { lost, values, examples }: Pick<Conversion, 'lost' | 'values' | 'examples'>,
  dbType: string,
): ApiError {
  const [example] = examples
  const such = example ? `, such as ${show(example.from)}` : ''
  const detail = `${lost} of ${values} values cannot be converted to ${dbType}${such}. Nothing was changed; onLoss=null makes them null.`
  return new ApiError('conflict', detail, { extensions: { lost, values, examples } })
}

async function readConversion(
  tx: Transaction,
  table: EditTable,
  column: EditColumn,
  dbType: string,
): Promise<Conversion> {
  const [row] = await tx.query<Conversion>(conversionSql(table, column, dbType))
  const { values = 0, lost = 0, changed = 0, examples = [] } = row ?? {}
  return { values: Number(values), lost: Number(lost), changed: Number(changed), examples }
}

/** Everything but the type. The name comes last, because the others are addressed by the old one. */
async function describeColumn(
  tx: Transaction,
  { from }: EditTable,
  column: EditColumn,
  planned: PlannedChange,
): Promise<void> {
  const { name, nullable, defaultText, description } = planned
  const dbType = planned.dbType ?? column.castTo
  const old = ident(column.name)
  const alter = sql`ALTER TABLE ${from} ALTER COLUMN ${old}`
  const statements = [
    defaultText === null && sql`${alter} DROP DEFAULT`,
    typeof defaultText === 'string' && sql`${alter} SET DEFAULT ${literal(defaultText)}::${raw(dbType)}`,
    nullable !== undefined && (nullable ? sql`${alter} DROP NOT NULL` : sql`${alter} SET NOT NULL`),
    description !== undefined && sql`COMMENT ON COLUMN ${from}.${old} IS ${literal(description)}`,
    name !== column.name && sql`ALTER TABLE ${from} RENAME COLUMN ${old} TO ${ident(name)}`,
  ]
  for (const statement of statements) if (statement) await tx.query(statement).catch(explainDdl)
}

export const columnConversion = operation({
  id: 'datasets.columnConversion',
  method: 'GET',
  path: `${path}/conversion`,
  summary: 'What another type would do to the values of a column',
  description: 'Reads all values, and changes nothing. The key needs execute on the dataset, too.',
  access: { class: 'datasets', level: 'write' },
  query: Type.Object({ type: Type.Optional(type), dbType: Type.Optional(dbType) }),
  success: { status: 200, description: 'How many values are lost or changed, with examples', schema: conversionSchema },
  failures: [409, 429, 502, 504],
  async handle(context, { params: { id, column: name }, query }) {
    const scope = alsoAt(context.scope, 'datasets', 'execute')
    const { edit, column } = await beginColumn({ ...context, scope }, id, name)
    const { dataset, table } = edit
    const typed = newTypeOf(column, table.key, query)
    const release = await context.services.writeSlots.take(dataset.applicationId, context.signal)
    try {
      const conversion = await table.db.transaction(async (tx) => {
        await setWriteLimits(tx)
        return readConversion(tx, table, column, typed.dbType)
      })
      return { body: { ...conversion, dropsDefault: column.hasDefault && !column.identity } }
    } finally {
      release()
    }
  },
})
