// Inserts rows.
import Type from 'typebox'
import { denied } from '../../api/access/acl.ts'
import { freeObject } from '../../api/http/input/bounded-schemas.ts'
import type { Answer } from '../../api/http/operation.ts'
import type { Row, Transaction } from '../../kernel/db/db.ts'
import { ident, joinSql, quoted, raw, type Sql, sql } from '../../kernel/db/sql.ts'
import { ApiError, faulty, invalid, maxFaults } from '../../kernel/errors.ts'
import { limits } from '../../kernel/limits/limits.ts'
import type { Cell } from '../../query/formats/cell.ts'
import { dataset as datasetResource } from '../datasets/dataset.ts'
import type { Dataset } from '../datasets/dataset-record.ts'
import { timeoutOf } from '../datasets/queries/query-parameters.ts'
import { quotaExceeded } from '../uploads/http/arriving-uploads.ts'
import {
  beginEdit,
  demandDataset,
  type Edit,
  type EditContext,
  mayQuery,
  operation,
  writeInTransaction,
} from './editing.ts'
import { type CheckedRows, checkNewRows } from './input/checked-rows.ts'
import type { GeometryOptions } from './input/geometry-column.ts'
import { maxBodyBytes, type RowsBody, readBody } from './input/input-rows.ts'
import { aheadOfSequence } from './input/row-numbers.ts'
import { rowAnswer } from './rows/row-answer.ts'
import { keyAddress, keyWriter, rowShape } from './rows/row-shape.ts'
import type { EditTable } from './writing/edit-table.ts'
import { bodyWithSetValues, mayBecome } from './writing/ruled-write.ts'
import { isDuplicateKey } from './writing/write-errors.ts'
import { type ConflictRule, conflictRules, type InsertOptions, insertRows } from './writing/write-rows.ts'

export const repairParameter = Type.Optional(
  Type.Boolean({ description: 'Makes geometries valid that are not, and adds or drops heights as the column needs' }),
)

const rowSchema = freeObject('bodyBytes')

/** A row, rows, a GeoJSON feature or a FeatureCollection. */
const bodySchema = Type.Union([rowSchema, Type.Array(rowSchema, { maxItems: limits.writtenRows.value })], {
  examples: [{ name: 'Oslo' }, [{ name: 'Oslo' }, { name: 'Bergen' }]],
})

const countSchema = Type.Object({
  count: Type.Integer({ description: 'How many rows were written' }),
  keys: Type.Optional(
    Type.Array(Type.Unknown(), { description: 'Their keys; lists of values where the key has several columns' }),
  ),
})

export const insertOperation = operation({
  id: 'datasets.insertRows',
  method: 'POST',
  path: `${datasetResource.path}/{id}/rows`,
  summary: 'Insert rows',
  description:
    'One row as JSON, many as a list, a GeoJSON Feature or FeatureCollection, or CSV with a header (text/csv): as queries answer them. ' +
    'All rows are inserted, or none. Columns that a row lacks get their default. ' +
    'One row is answered as it is stored; many by their count and keys. ' +
    'A key that grants append and not write gets the count and the key alone, and cannot use onConflict.',
  access: { class: 'datasets', level: 'append' },
  query: Type.Object({
    onConflict: Type.Optional(
      Type.Enum([...conflictRules], {
        description:
          '`ignore` keeps a row that has the same key, `update` gives it the values that are sent; otherwise 409',
      }),
    ),
    repair: repairParameter,
  }),
  body: bodySchema,
  beforeBody: demandDataset,
  readsText: ['application/geo+json', 'text/csv'],
  bodyLimit: maxBodyBytes,
  success: {
    status: 201,
    otherStatus: 200,
    description: 'The row, or the count and keys; 200 where nothing was inserted',
    schema: Type.Union([rowSchema, countSchema]),
    headers: ['ETag', 'Location'],
  },
  failures: [409, 413, 429, 502, 504],
  handle: (context, { params: { id }, query }) => insert(context, id, query),
})

type InsertRules = { readonly onConflict?: ConflictRule; readonly repair?: boolean }

async function insert(context: EditContext, id: string, { onConflict, repair = false }: InsertRules): Promise<Answer> {
  const { request } = context
  const edit = await beginEdit(context.services, context.scope, id)
  const { table } = edit
  if (edit.isAppendOnly) refuseBeyondAppend(request, onConflict)
  if (onConflict === 'update' && table.key.length === 0)
    throw new ApiError(
      'conflict',
      'The table has no primary key, so onConflict=update cannot tell which row to change.',
    )
  const body = readBody(request.body, request.headers['content-type'], table)
  const shown = shownOf(context, edit, body)
  return shown.answer(await insertBody(context, edit, body, { onConflict, repair, returning: shown.returning }))
}

/** Existing rows are neither changed nor compared by whoever may only add rows. */
export function refuseBeyondAppend({ headers }: EditContext['request'], onConflict: ConflictRule | undefined): void {
  if (onConflict !== undefined)
    throw denied('onConflict needs write access to the dataset, and is not for callers whom rules bind.')
  if (headers['if-match'] !== undefined) throw invalid('header/if-match', 'must be left out: the key may only add rows')
}

/** Inserts the rows of a body, and answers what is returned of each. */
export async function insertBody(
  context: EditContext,
  edit: Edit,
  body: RowsBody,
  { crs, ...inserting }: InsertOptions & Pick<GeometryOptions, 'crs'>,
): Promise<Row[]> {
  const { services, signal } = context
  const { dataset, table, isAppendOnly } = edit
  const { repair } = inserting
  const keyToFill = await keyWithoutDefault(services, dataset, table)
  const filledKey = new Set(keyToFill === undefined ? [] : [keyToFill])
  const options = { repair, crs, filled: filledKey, hidesColumns: isAppendOnly && !mayQuery(context, dataset) }
  const checking = { connection: await table.connect(), timeoutMs: timeoutOf(undefined), signal }
  const rows = await checkNewRows(bodyWithSetValues(body, edit), table, options, checking)
  const ruled: InsertOptions = { ...inserting, mayBecome: (names) => mayBecome(edit, 'append', names) }
  const quota = table.isPlatform
    ? await services.uploading.storage.measure(services.db, dataset.applicationId)
    : undefined
  const { made } = await writeInTransaction(context, edit, async (tx) => {
    const sequence = await fillKey(tx, edit, keyToFill, rows)
    const maxLead = isAppendOnly ? limits.writtenRows.value : undefined
    const advance = await aheadOfSequence(tx, table, rows.largestKey, { sequence, maxLead })
    const made: Row[] = []
    for await (const batch of rows.batches())
      for (const row of await insertRows(tx, table, batch, ruled, signal)) made.push(row)
    await advance()
    if (quota && (await quota.left(tx)) < 0) throw quotaExceeded(quota.bytes)
    return { made, count: made.length, columns: rows.columns }
  }).catch((error) => nameDuplicates(edit, rows, error))
  return made
}

type InsertAnswer = { readonly returning: Sql; answer(made: readonly Row[]): Answer }

/** One row is answered whole, to whoever may query and change it. */
function shownOf(context: EditContext, edit: Edit, { isOne, isFeature }: RowsBody): InsertAnswer {
  const { dataset, table, isAppendOnly } = edit
  if (!isOne || isAppendOnly || !mayQuery(context, dataset)) return keysOnly(edit)
  const shape = rowShape(context.services, dataset, isFeature)
  return {
    returning: shape.columns,
    answer([row]) {
      if (!row) return counted([], table)
      return rowAnswer(shape.read(row), { isFeature, status: 201, location: `${rowsPath(dataset)}/` })
    },
  }
}

const rowsPath = ({ id }: Dataset): string => `${datasetResource.path}/${id}/rows`

function keysOnly({ dataset, table }: Edit): InsertAnswer {
  const parts = table.key.map(({ name }, index) => sql`q.${ident(name)}::text AS ${raw(`k${index}`)}`)
  return {
    returning: parts.length === 0 ? raw('1') : joinSql(parts, ', '),
    answer(made) {
      const keys = made.map((row) => table.key.map((_, index) => row[`k${index}`] as Cell))
      const [only, ...others] = keys
      const hasPlace = only !== undefined && others.length === 0 && table.key.length > 0
      const headers = hasPlace && { location: `${rowsPath(dataset)}/${keyAddress(only.map(String))}` }
      return { ...counted(keys, table), ...(headers && { headers }) }
    },
  }
}

function counted(keys: readonly (readonly Cell[])[], { key }: EditTable): Answer {
  const write = keyWriter(key)
  const list = key.length === 0 ? '' : `,"keys":[${keys.map(write).join(',')}]`
  return { status: keys.length === 0 ? 200 : 201, json: `{"count":${keys.length}${list}}` }
}

/** The key of a table that an upload made, which numbers its rows but has no sequence. */
async function keyWithoutDefault(
  { db }: EditContext['services'],
  { id }: Dataset,
  { isPlatform, key, tableName }: EditTable,
): Promise<string | undefined> {
  const [column, ...others] = key
  if (!isPlatform || !column || others.length > 0 || column.hasDefault || column.identity || column.type !== 'integer')
    return undefined
  const [row] = await db.query<{ name: string | null }>(
    sql`SELECT uploaded_table->>'name' AS name FROM svc.datasets WHERE id = ${id}::uuid`,
  )
  return row?.name === tableName.name ? column.name : undefined
}

/** Gives such a key a sequence, when a row is first inserted without one, or by a caller whose numbers are limited. */
async function fillKey(
  tx: Transaction,
  { table, isAppendOnly }: Edit,
  name: string | undefined,
  { hasEveryKey }: CheckedRows,
): Promise<string | undefined> {
  const { from, tableName } = table
  if (name === undefined || (!isAppendOnly && hasEveryKey)) return undefined
  const column = ident(name)
  await tx.query(sql`ALTER TABLE ${from} ALTER COLUMN ${column} ADD GENERATED BY DEFAULT AS IDENTITY`)
  const [row] = await tx.query<{ sequence: string }>(sql`
    SELECT pg_get_serial_sequence(${`${quoted(tableName.schema)}.${quoted(tableName.name)}`}, ${name}) AS sequence,
      setval(pg_get_serial_sequence(${`${quoted(tableName.schema)}.${quoted(tableName.name)}`}, ${name}), greatest(1, max(${column})), count(*) > 0)
    FROM ${from}`)
  return row?.sequence
}

/** Tells which of the given keys exist already. */
async function nameDuplicates(edit: Edit, { keys }: CheckedRows, error: unknown): Promise<never> {
  const { table, isAppendOnly } = edit
  if (!isDuplicateKey(error) || isAppendOnly || keys.size === 0) throw error
  const paths = [...keys.values()]
  const parts = [...keys.keys()].map((key): string[] => JSON.parse(key))
  const names = table.key.map((_, index) => raw(`k${index}`))
  const arrays = table.key.map((_, index) => sql`${parts.map((key) => key[index] ?? null)}::text[]`)
  const same = table.key.map(
    ({ name, castTo }, index) => sql`q.${ident(name)} = r.${names[index] as Sql}::${raw(castTo)}`,
  )
  const rows = await table.db.query<{ n: number }>(sql`
    SELECT r.n::int4 AS n FROM unnest(${joinSql(arrays, ', ')}) WITH ORDINALITY AS r(${joinSql([...names, raw('n')], ', ')})
    JOIN ${table.from} AS q ON ${joinSql(same, ' AND ')} ORDER BY r.n LIMIT ${maxFaults}::int4`)
  if (rows.length === 0) throw error
  throw faulty(
    rows.map(({ n }) => ({
      path: paths[n - 1] ?? 'body',
      code: 'exists',
      message: 'has the key of a row that exists. onConflict=ignore keeps that row, onConflict=update changes it',
    })),
    'conflict',
  )
}
