import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import type { Connections } from './databases/connection.ts'
import { tableName } from './datasets/introspect.ts'
import { relationsOf } from './datasets/tenant-sql.ts'
import type { Db, Queryable } from './db/db.ts'
import { ident, sql } from './db/sql.ts'
import { ApiError } from './errors.ts'
import type { Removal } from './resource/resource.ts'
import { destinationOf } from './uploading.ts'

type RemovalParts = { db: Db; connections: Connections; dataDirectory: string }

/** What goes with the records that have more than a row: tables, and files. */
export const createRemovals = (parts: RemovalParts): Record<'dataset' | 'tileSource' | 'application', Removal> => ({
  dataset: datasetRemoval(parts),
  tileSource: tileSourceRemoval(parts),
  application: applicationRemoval(parts),
})

/** The table that an upload made, and where it is. Without a destination: in the application's own schema. */
type UploadedTable = { databaseId: string; destination?: string; schema: string; name: string }
type Place = { db: Db | 'own'; table: UploadedTable }

/** Readers are let go on: whoever waits for us waits no longer than this. */
const lockTimeout = '1s'

const keepData = Type.Optional(
  Type.Boolean({ description: 'Leave the table that an upload made. Its tile sources go all the same.' }),
)

/** Of a dataset that an upload made: its table, unless another dataset names it, and the tile sources whose source it is. */
const datasetRemoval = ({ db, connections }: RemovalParts): Removal => ({
  parameters: { keepData },
  async prepare({ id, applicationId }, query) {
    const [row] = await db.query<{ table: UploadedTable | null }>(
      sql`SELECT uploaded_table AS "table" FROM svc.datasets WHERE id = ${String(id)}::uuid`,
    )
    const table = row?.table
    if (!table) return async () => undefined
    const place = query.keepData === true ? undefined : await placeOf(connections, String(applicationId), table)
    return async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
      if (place && !(await isShared(tx, String(applicationId), String(id), place))) await dropTable(tx, place)
      await tx.query(sql`
        DELETE FROM svc.tilesources
        WHERE application_id = ${String(applicationId)}::uuid AND type = 'dataset' AND lower(source) = ${String(id)}`)
      return undefined
    }
  },
})

/** Undefined where the table is out of reach: its database record is gone, or leads elsewhere by now. */
async function placeOf(
  connections: Connections,
  applicationId: string,
  table: UploadedTable,
): Promise<Place | undefined> {
  const record = await connections.lookUp(applicationId, table.databaseId)
  if (record?.type === 'internal') return { db: 'own', table }
  if (!record || destinationOf(record) !== table.destination) return undefined
  return { db: (await connections.writable(record)).db, table }
}

/** Whether another dataset of the application names the table, be it in its SQL. */
async function isShared(tx: Queryable, applicationId: string, id: string, { db, table }: Place): Promise<boolean> {
  const isOwn = db === 'own'
  const others = await tx.query<{ type: string; source: string }>(sql`
    SELECT d.type, d.source FROM svc.datasets d JOIN svc.databases b ON b.id = d.database_id
    WHERE d.application_id = ${applicationId}::uuid AND d.id <> ${id}::uuid AND d.type IN ('table', 'sql')
      AND (d.database_id = ${table.databaseId}::uuid OR (${isOwn} AND b.type = 'internal'))`)
  for (const other of others) if (await namesTable(other, table, isOwn)) return true
  return false
}

async function namesTable(
  { type, source }: { type: string; source: string },
  { schema, name }: UploadedTable,
  isOwn: boolean,
): Promise<boolean> {
  if (type === 'table') return isDeepStrictEqual(tableName(source, schema), { schema, name })
  // What was understood once and no longer is may name anything.
  const named = await relationsOf(source, { schema, isShared: isOwn }).catch(() => undefined)
  return named?.some((one) => one.name === name && (one.schema ?? schema) === schema) ?? source.includes(name)
}

async function dropTable(tx: Queryable, { db, table: { schema, name } }: Place): Promise<void> {
  const drop = async (there: Queryable): Promise<void> => {
    const [found] = await there.query(sql`
      SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind = 'r'`)
    if (found) await there.query(sql`DROP TABLE ${ident(schema, name)}`).catch(explainDependents)
  }
  if (db === 'own') return drop(tx)
  await db.transaction(async (there) => {
    await there.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await drop(there)
  })
}

function explainDependents(error: unknown): never {
  const isNeeded = error instanceof Error && 'code' in error && error.code === '2BP01'
  if (!isNeeded) throw error
  throw new ApiError(
    'conflict',
    'Other objects of the database, such as views, depend on the table of the dataset. Delete them first, or keep the table with ?keepData=true.',
    { cause: error },
  )
}

/** Files of tiles that uploads have put there: `<id of the upload>.mbtiles`. Those that somebody else put there stay. */
const uploadedArchive = /^(?:mbtiles|pmtiles):\/\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:mbtiles|pmtiles))$/i

const filesOf = (dataDirectory: string, applicationId: unknown): string =>
  join(dataDirectory, 'files', String(applicationId))

/** Of a tile source of an uploaded archive: the file, unless another tile source names it. */
const tileSourceRemoval = ({ dataDirectory }: RemovalParts): Removal => ({
  parameters: {},
  async prepare({ id, applicationId, type, source }) {
    const [, file] = uploadedArchive.exec(String(source)) ?? []
    if (type !== 'tilelive' || file === undefined) return async () => undefined
    return async (tx) => {
      const [other] = await tx.query(sql`
        SELECT FROM svc.tilesources WHERE application_id = ${String(applicationId)}::uuid AND id <> ${String(id)}::uuid
          AND lower(source) = lower(${String(source)})`)
      return other ? undefined : () => rm(join(filesOf(dataDirectory, applicationId), file), { force: true })
    }
  },
})

/** Of an application: its archives of tiles, and files that wait to be loaded. Tables go with its schema. */
const applicationRemoval = ({ dataDirectory }: RemovalParts): Removal => ({
  parameters: {},
  prepare:
    async ({ id }) =>
    async (tx) => {
      const uploads = await tx.query<{ id: string }>(
        sql`SELECT id FROM svc.uploads WHERE application_id = ${String(id)}::uuid`,
      )
      const folders = [
        filesOf(dataDirectory, id),
        ...uploads.map((upload) => join(dataDirectory, 'uploads', upload.id)),
      ]
      return async () => {
        for (const folder of folders) await rm(folder, { recursive: true, force: true })
      }
    },
})
