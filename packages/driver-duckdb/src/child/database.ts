import { createHash } from 'node:crypto'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { DatabaseAddress, DuckdbTable, RefusedFile } from '../messages.ts'
import { faultOf, isFatal } from './engine-error.ts'
import type { FactsCache } from './file-facts.ts'
import { type Folder, type FolderFile, readFolder } from './folder.ts'
import { type InstanceMaker, lockInstance, withConnection } from './instance.ts'
import { quotedName } from './sql/sql-text.ts'
import { type FileFacts, UnusableFile } from './table-facts.ts'

/** The databases of a tenant: an instance for each, opened when asked for and again when its files have changed. */
export type OpenDatabase = {
  readonly instance: DuckDBInstance
  readonly directory: string
  readonly tables: ReadonlyMap<string, DuckdbTable>
  readonly refused: readonly RefusedFile[]
  /** What it spills goes here, and what is written. */
  readonly temporaryDirectory: string
  /** The names of what was written; see write-parquet.ts. */
  readonly written: Set<string>
}

export type Databases = {
  /** The instance stays open while `work` goes on, whatever happens to the files. */
  use<T>(address: DatabaseAddress, signal: AbortSignal, work: (database: OpenDatabase) => Promise<T>): Promise<T>
}

type Entry = {
  readonly fingerprint: string
  readonly opening: Promise<OpenDatabase>
  users: number
  isCurrent: boolean
}

export function createDatabases(instances: InstanceMaker, cache: FactsCache): Databases {
  const entries = new Map<string, Entry>()
  /** One at a time, so that it is known which file a process died of. */
  let last: Promise<unknown> = Promise.resolve()

  function entryOf(address: DatabaseAddress): Entry {
    const folder = readFolder(address.directory)
    const fingerprint = [address.directory, folder.fingerprint, ...address.quarantined].join('\n')
    const former = entries.get(address.id)
    if (former?.fingerprint === fingerprint) return former
    if (former) retire(former)
    const opening = last.then(() => open(instances, cache, address, folder))
    last = opening.catch(() => undefined)
    const entry: Entry = { fingerprint, opening, users: 0, isCurrent: true }
    entries.set(address.id, entry)
    opening.catch(() => entries.get(address.id) === entry && entries.delete(address.id))
    return entry
  }

  function retire(entry: Entry): void {
    entry.isCurrent = false
    if (entry.users === 0) void close(entry)
  }

  async function close({ opening }: Entry): Promise<void> {
    const database = await opening.catch(() => undefined)
    if (database) instances.close(database.instance)
  }

  return {
    async use(address, signal, work) {
      const entry = entryOf(address)
      entry.users++
      try {
        return await work(await unlessAborted(entry.opening, signal))
      } finally {
        entry.users--
        if (entry.users === 0 && !entry.isCurrent) void close(entry)
      }
    },
  }
}

/** Opening goes on for others when one no longer waits for it. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let onAbort: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (onAbort) signal.removeEventListener('abort', onAbort)
  }
}

async function open(
  instances: InstanceMaker,
  cache: FactsCache,
  { directory, quarantined }: DatabaseAddress,
  folder: Folder,
): Promise<OpenDatabase> {
  const refused = [...folder.refused]
  const usable: UsableFile[] = []
  for (const file of folder.files) {
    const facts = await cache.factsOf(file, quarantined)
    if (facts instanceof UnusableFile) refused.push({ file: file.file, reason: facts.message })
    else usable.push({ file, facts })
  }
  const instance = await instances.make()
  const tables = await withConnection(instance, (connection) => makeViews(connection, usable, refused, directory))
  await lockInstance(instance, [...new Set([...tables.values()].map(({ file }) => `${directory}/${file}`))])
  const temporaryDirectory = instances.directoryOf(instance)
  return { instance, directory, tables, refused, temporaryDirectory, written: new Set() }
}

type UsableFile = { readonly file: FolderFile; readonly facts: FileFacts }

/** A file that cannot be served after all is refused; the others are. */
async function makeViews(
  connection: DuckDBConnection,
  files: readonly UsableFile[],
  refused: RefusedFile[],
  directory: string,
): Promise<ReadonlyMap<string, DuckdbTable>> {
  const tables = new Map<string, DuckdbTable>()
  for (const usable of files) {
    try {
      await makeViewsOf(connection, usable, tables)
    } catch (error) {
      if (isFatal(error)) throw error
      const reason = error instanceof UnusableFile ? error.message : faultOf(error, [directory]).message
      refused.push({ file: usable.file.file, reason })
    }
  }
  return tables
}

async function makeViewsOf(
  connection: DuckDBConnection,
  { file, facts }: UsableFile,
  tables: Map<string, DuckdbTable>,
): Promise<void> {
  if (facts.attach) await connection.run(facts.attach)
  // Without device and inode, which are others on each machine that has a copy.
  const contents = file.fingerprint.split(':').slice(2).join(':')
  const version = createHash('sha256').update(contents).digest('base64url').slice(0, 16)
  for (const { select, selectPositions, ...table } of facts.tables) {
    if (tables.has(table.name)) throw new UnusableFile(`Another file already has a table called ${table.name}.`)
    await connection.run(`CREATE VIEW ${quotedName(table.name)} AS ${select}`)
    const withPositions = selectPositions && positionsName(table.name)
    if (withPositions) await connection.run(`CREATE VIEW ${quotedName(withPositions)} AS ${selectPositions}`)
    const { file: name, format, bytes } = file
    tables.set(table.name, { ...table, file: name, format, bytes, version, ...(withPositions && { withPositions }) })
  }
}

/** No table has a blank in its name. */
const positionsName = (table: string): string => `${table} with positions`
