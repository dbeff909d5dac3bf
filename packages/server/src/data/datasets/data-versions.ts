// Version numbers of datasets' data, for cache invalidation.

import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import type { Connections } from '../databases/connection.ts'
import { isPlatformType } from '../databases/drivers.ts'
import { tenantSchema } from '../databases/tenant-schema.ts'
import type { Dataset } from './dataset-record.ts'
import { datasetTypeOf } from './dataset-types.ts'
import { lastLogged } from './external-version.ts'

/** Data whose changes we cannot watch get a new version after this time. */
const unwatchedMs = 15_000
/** The same for our own table while its watch cannot be set up because a writer holds a lock. */
const unsureMs = 900
/** Interval between attempts to watch tables. */
const watchMs = 5_000

/** Tables made by the service: overviews, which follow their base tables, and uploads being loaded. */
const serviceTables = 'svc\\_%'

type DatasetTable = Pick<Dataset, 'applicationId' | 'databaseId' | 'type' | 'source'>
type TableVersion = {
  table: string | null
  version: string
  files: string
  columns: string | null
  /** The tables whose writes, or some of them, are not noted. */
  unwatched: number
  /** The tables of which those of ordinary sessions are noted, though all could be. */
  loose: number
  lastChange: string | null
}

export type DataState = {
  readonly version: string
  /** The version that the change feed gives the newest change which can be seen, if somebody follows the table. */
  readonly lastChange: string | undefined
}

export type DataVersions = {
  /** Data on another server are considered unchanged for a while. */
  of(dataset: DatasetTable): Promise<string>
  stateOf(dataset: DatasetTable): Promise<DataState>
  /** Undefined where changes cannot be noticed. */
  exactly(dataset: DatasetTable): Promise<string | undefined>
}

/** In the platform's database, triggers record the changes of tables. */
export function createDataVersions({ db, connections }: { db: Db; connections: Connections }): DataVersions {
  const tried = new Map<string, { at: number; files: string }>()

  async function look(schema: string, name: string | null): Promise<TableVersion> {
    const [row] = await db.query<TableVersion>(sql`
      WITH tables AS (
        SELECT c.oid, c.relname, c.relkind, c.relfilenode, c.relkind = 'r' AND NOT c.relhassubclass AS is_whole,
          t.tgenabled AS fires, t.xmin AS altered, pg_has_role(c.relowner, 'USAGE') AS is_owned
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = 'svc_note_change'
        WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'p', 'm') AND c.relname NOT LIKE ${serviceTables}),
      -- What is written to a part of a table is noted there.
      asked AS (SELECT oid, relname FROM tables WHERE relname = ${name}::text AND is_whole),
      read AS (SELECT * FROM tables WHERE relname = (SELECT relname FROM asked) OR NOT EXISTS (SELECT FROM asked))
      SELECT (SELECT relname::text FROM asked) AS table,
        svc.data_version(${schema}, (SELECT relname::text FROM asked)) AS version,
        -- Another table of the same name, one that was rewritten, or one whose trigger was disabled for a while.
        (SELECT md5(coalesce(string_agg(concat_ws('.', oid, relfilenode, altered), ' ' ORDER BY oid), '')) FROM read) AS files,
        -- Dropping or renaming a column rewrites nothing.
        (SELECT md5(string_agg(concat_ws(' ', a.attnum, a.atttypid, a.atttypmod, a.attname), ',' ORDER BY a.attnum))
         FROM asked JOIN pg_attribute a ON a.attrelid = asked.oid WHERE a.attnum > 0 AND NOT a.attisdropped) AS columns,
        -- For rows that logical replication brings no trigger of a statement fires.
        (SELECT count(*)::int FROM read WHERE relkind <> 'm' AND (coalesce(fires NOT IN ('O', 'A'), true)
         OR EXISTS (SELECT FROM pg_subscription_rel s WHERE s.srrelid = read.oid))) AS unwatched,
        (SELECT count(*)::int FROM read WHERE fires = 'O' AND is_owned) AS loose,
        (SELECT l.xid || '.' || l.seq FROM svc.change_log l WHERE l.relation = (SELECT oid FROM asked)
         ORDER BY l.xid DESC, l.seq DESC LIMIT 1) AS "lastChange"`)
    return row ?? { table: null, version: '', files: '', columns: null, unwatched: 1, loose: 0, lastChange: null }
  }

  async function watch(schema: string, files: string): Promise<boolean> {
    const at = performance.now()
    const last = tried.get(schema)
    if (last && last.files === files && at - last.at < watchMs) return false
    tried.set(schema, { at, files })
    await db.query(sql`SELECT svc.watch_tables(${schema})`)
    return true
  }

  async function find(dataset: DatasetTable): Promise<Version> {
    const { applicationId, databaseId, source } = dataset
    const database = await connections.find(applicationId, databaseId)
    const { readsTable, tableOf } = datasetTypeOf(dataset)
    if (!isPlatformType(database?.type) || !readsTable) {
      const logged = database ? await lastLogged(db, dataset, database) : ''
      return { text: `${era(unwatchedMs)} ${logged}`, isExact: false, lastChange: logged || undefined }
    }
    const own = tenantSchema(applicationId)
    const { schema, name } = tableOf?.(source, own) ?? { schema: own, name: null }
    const seen = await look(schema, name)
    const isNew = seen.unwatched + seen.loose > 0 && (await watch(own, seen.files))
    return versionOf(isNew ? await look(schema, name) : seen, schema === own)
  }

  return {
    of: async (dataset) => (await find(dataset)).text,
    async stateOf(dataset) {
      const { text, lastChange } = await find(dataset)
      return { version: text, lastChange }
    },
    async exactly(dataset) {
      const { text, isExact } = await find(dataset)
      return isExact ? text : undefined
    },
  }
}

type Version = { readonly text: string; readonly isExact: boolean; readonly lastChange?: string | undefined }

function versionOf({ table, version, files, columns, unwatched, ...rest }: TableVersion, isPlatform: boolean): Version {
  const seen = `${version} ${files} ${columns ?? ''}`
  // A view or a query may call now() or read tables that we cannot watch, so its version expires.
  if (table !== null && unwatched === 0) return { text: seen, isExact: true, lastChange: rest.lastChange ?? undefined }
  return { text: `${seen} ${unwatched} ${era(unwatched > 0 && isPlatform ? unsureMs : unwatchedMs)}`, isExact: false }
}

const era = (ms: number): string => String(Math.floor(Date.now() / ms))
