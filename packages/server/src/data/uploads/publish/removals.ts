// DELETE of datasets and tile sources, with the tables and files that uploads made for them.
import Type from 'typebox'
import type { Operation } from '../../../api/http/operation.ts'
import { deleteOperation } from '../../../api/resource/crud.ts'
import type { Removal } from '../../../api/resource/removal.ts'
import { codeOf } from '../../../kernel/db/database-error.ts'
import type { Db, Queryable } from '../../../kernel/db/db.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { type FileStore, filesPrefix, removeNowOrLater } from '../../../kernel/storage/file-store.ts'
import type { Connections } from '../../databases/connection.ts'
import { isPlatformType, platformTypes } from '../../databases/drivers.ts'
import { loginKey } from '../../databases/login-key.ts'
import { type DatasetServices, dataset } from '../../datasets/dataset.ts'
import { datasetTypeNames, datasetTypeOf } from '../../datasets/dataset-types.ts'
import { demandRecordWrite } from '../../datasets/rules/record-view.ts'
import { deleteTileSourcesOf } from '../../tiles/source/store-tile-source.ts'
import { type TileSourceServices, tileSource } from '../../tiles/source/tile-source.ts'

export type RemovalServices = DatasetServices &
  TileSourceServices & { readonly connections: Connections; readonly files: FileStore }

/** The table that an upload made. The destination is a `loginKey`; without one it is in the application's schema. */
type UploadedTable = { databaseId: string; destination?: string; schema: string; name: string }
type TableLocation = { db: Db | 'platform'; table: UploadedTable }

/** Keeps the wait for readers short, because other queries queue behind this lock. */
const lockTimeout = '1s'

const keepData = Type.Optional(
  Type.Boolean({ description: 'Leave the table that an upload made. Its tile sources go all the same.' }),
)

/** For a dataset made by an upload: also its table, unless another dataset uses it, and its tile sources. */
const datasetRemoval: Removal<RemovalServices> = {
  parameters: { keepData },
  async prepare({ entity, query, scope }, { db, connections, tiles }) {
    const { id, applicationId } = entity
    demandRecordWrite(scope.caller, entity)
    await tiles.context.data.cancelOverview(String(id))
    const [row] = await db.query<{ table: UploadedTable | null }>(
      sql`SELECT uploaded_table AS "table" FROM svc.datasets WHERE id = ${String(id)}::uuid`,
    )
    const table = row?.table
    if (!table) return undefined
    const location = query.keepData === true ? undefined : await locationOf(connections, String(applicationId), table)
    return async (tx) => {
      await tx.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
      if (location && !(await isShared(tx, String(applicationId), String(id), location))) await dropTable(tx, location)
      await deleteTileSourcesOf(tx, String(applicationId), String(id))
      return undefined
    }
  },
}

/** Undefined if the table cannot be reached: its database record is gone or points elsewhere. */
async function locationOf(
  connections: Connections,
  applicationId: string,
  table: UploadedTable,
): Promise<TableLocation | undefined> {
  const record = await connections.lookUp(applicationId, table.databaseId)
  if (isPlatformType(record?.type)) return { db: 'platform', table }
  if (!record || loginKey(record) !== table.destination) return undefined
  return { db: (await connections.writable(record)).db, table }
}

const inDatabases = datasetTypeNames.filter((type) => datasetTypeOf({ type }).readsTable)

/** Whether another dataset of the application uses the table, for instance in its SQL. */
async function isShared(
  tx: Queryable,
  applicationId: string,
  id: string,
  { db, table }: TableLocation,
): Promise<boolean> {
  const isPlatform = db === 'platform'
  const others = await tx.query<{ type: string; source: string }>(sql`
    SELECT d.type, d.source FROM svc.datasets d JOIN svc.databases b ON b.id = d.database_id
    WHERE d.application_id = ${applicationId}::uuid AND d.id <> ${id}::uuid AND d.type = ANY (${inDatabases}::text[])
      AND (d.database_id = ${table.databaseId}::uuid OR (${isPlatform} AND b.type = ANY (${platformTypes}::text[])))`)
  const { schema, name } = table
  for (const other of others)
    if (await datasetTypeOf(other).readsTable?.(other.source, { schema, name }, isPlatform)) return true
  return false
}

async function dropTable(tx: Queryable, { db, table: { schema, name } }: TableLocation): Promise<void> {
  const drop = async (there: Queryable): Promise<void> => {
    const [row] = await there.query(sql`
      SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${schema} AND c.relname = ${name} AND c.relkind = 'r'`)
    if (row) await there.query(sql`DROP TABLE IF EXISTS ${ident(schema, name)}`).catch(explainDependents)
  }
  if (db === 'platform') return drop(tx)
  await db.transaction(async (there) => {
    await there.script(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    await drop(there)
  })
}

function explainDependents(error: unknown): never {
  if (codeOf(error) !== '2BP01') throw error
  throw new ApiError(
    'conflict',
    'Other objects of the database, such as views, depend on the table of the dataset. Delete them first, or keep the table with ?keepData=true.',
    { cause: error },
  )
}

/** Tile archives of uploads: `<id of the upload>.mbtiles`. Files that others put there are kept. */
const uploadedArchive = /^(?:mbtiles|pmtiles):\/\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(?:mbtiles|pmtiles))$/i

/** For a tile source of an uploaded archive: also the file, unless another tile source uses it. */
const tileSourceRemoval: Removal<RemovalServices> = {
  async prepare({ entity: { id, applicationId, type, source } }, { files }) {
    const [, file] = uploadedArchive.exec(String(source)) ?? []
    if (type !== 'tilelive' || file === undefined) return undefined
    return async (tx) => {
      const [other] = await tx.query(sql`
        SELECT FROM svc.tilesources WHERE application_id = ${String(applicationId)}::uuid AND id <> ${String(id)}::uuid
          AND lower(source) = lower(${String(source)})`)
      return other ? undefined : () => removeNowOrLater(files, filesPrefix(String(applicationId)) + file)
    }
  },
}

export const removalOperations: readonly Operation<RemovalServices>[] = [
  deleteOperation<RemovalServices>(dataset, datasetRemoval),
  deleteOperation<RemovalServices>(tileSource, tileSourceRemoval),
]
