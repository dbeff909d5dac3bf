// The commands `backup` and `restore`.
import { existsSync } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { startProgress } from '../../../bin/progress-line.js'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { openEmbedded } from '../../kernel/db/embedded/embedded.ts'
import { openPostgres } from '../../kernel/db/postgres/postgres.ts'
import { checkMigrations } from '../../kernel/db/schema/migrate.ts'
import { raw } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/settings/config.ts'
import { openBucket } from '../../kernel/storage/open-file-store.ts'
import { createArchive } from '../backup/archive.ts'
import { openBucketFiles } from '../backup/bucket-files.ts'
import { type DataFiles, openDataFiles } from '../backup/data-files.ts'
import { copyDirectory } from '../backup/database-copy.ts'
import { readPassphrase } from '../backup/passphrase.ts'
import type { LeftOut } from '../backup/records.ts'
import { checkBackup, restoreBackup, type Summary } from '../backup/restore.ts'
import { demandNoUnfinishedRestore, demandRoom, megabytes } from '../backup/restore-target.ts'
import { type BackupProgress, writeBackup } from '../backup/write-backup.ts'
import { readVersion } from '../start/version.ts'
import { askControlSocket } from './control-socket.ts'

export type BackupOptions = {
  /** Where the archive is, or shall be. */
  readonly file: string | undefined
  readonly passphraseFile: string | undefined
  /** Only look at the archive. */
  readonly isCheck: boolean
}

/** The text to show. */
export async function runBackup(config: Config, options: BackupOptions, signal: AbortSignal): Promise<string> {
  const file = demandFile(options)
  if (existsSync(file)) throw new StartError(`${file} exists already. Give the name of a new file.`)
  await demandNoUnfinishedRestore(config.DATA_DIR)
  const source = { file: options.passphraseFile, setting: config.BACKUP_PASSPHRASE, isNew: true }
  const passphrase = await readPassphrase(source)
  const progress = { tables: 0, files: 0, bytes: 0 }
  const { db, close } = await openSource(config)
  const endProgress = startProgress('Backing up', { detail: () => describe(progress) })
  try {
    const secret = await readSecret(config, db)
    await demandBackupRoom(db, dirname(file))
    const leftOut = await writeWhole(file, passphrase, async (archive) => {
      const files = await openFiles(config)
      const { tag: version } = await readVersion()
      return writeBackup({ db, files, archive, secret, version, progress, signal })
    })
    const { size } = await stat(file)
    return [`${file}: ${describe(progress)}, ${megabytes(size)} compressed.`, ...listLeftOut(leftOut)].join('\n')
  } catch (error) {
    throw explained(error, signal)
  } finally {
    endProgress()
    await close()
  }
}

export async function runRestore(config: Config, options: BackupOptions, signal: AbortSignal): Promise<string> {
  const path = demandFile(options)
  if (!existsSync(path)) throw new StartError(`There is no file ${path}.`)
  const source = { file: options.passphraseFile, setting: config.BACKUP_PASSPHRASE, isNew: false }
  const passphrase = await readPassphrase(source)
  const progress = { tables: 0, files: 0, bytes: 0 }
  const title = options.isCheck ? 'Checking' : 'Restoring'
  const endProgress = startProgress(title, { detail: () => describe(progress) })
  const { DATA_DIR: directory, database, SECRET_KEY: secretKey } = config
  try {
    if (options.isCheck) return summaryText('Whole', await checkBackup({ path, passphrase, progress, signal }))
    const files = await openFiles(config)
    const openDatabase = () => openTarget(config)
    const parts = {
      path,
      passphrase,
      directory,
      files,
      secretKey,
      isEmbedded: database === undefined,
      openDatabase,
      progress,
      signal,
    }
    const summary = await restoreBackup(parts)
    const lines = [summaryText('Restored', summary), ...listLeftOut(summary.leftOut)]
    if (summary.leftOut.length > 0) lines.push(`Their definitions are in ${join(directory, 'left-out.sql')}.`)
    return lines.join('\n')
  } catch (error) {
    throw explained(error, signal)
  } finally {
    endProgress()
  }
}

/** Where the settings say that files are. */
async function openFiles(config: Config): Promise<DataFiles> {
  const bucket = await openBucket(config)
  if (!bucket) return openDataFiles(config.DATA_DIR)
  return openBucketFiles(bucket, join(config.DATA_DIR, 'cache'))
}

function demandFile({ file }: BackupOptions): string {
  if (file === undefined)
    throw new StartError('Give the name of the file, such as: npm start -- backup backup.graticule')
  return resolve(file)
}

const describe = ({ tables, files, bytes }: BackupProgress): string =>
  `${tables} tables, ${files} files, ${megabytes(bytes)}`

const summaryText = (done: string, { backup, tables, files, bytes }: Summary): string =>
  `${done}: the backup of ${backup.madeAt} by version ${backup.version}, ${describe({ tables, files, bytes })}.`

const shownItems = 50

function listLeftOut(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return []
  const more = leftOut.length > shownItems ? [`  and ${leftOut.length - shownItems} more`] : []
  return ['Not restored by itself:', ...leftOut.slice(0, shownItems).map(({ what }) => `  ${what}`), ...more]
}

function explained(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return new StartError('Interrupted; nothing is left of it.')
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === '53100')
    return new StartError(`There is no room left: ${message}. Make room, and start again.`)
  return error
}

/** The file appears under its name when all of it is on the disk, or not at all. */
async function writeWhole<T>(
  file: string,
  passphrase: string,
  work: (archive: Awaited<ReturnType<typeof createArchive>>) => Promise<T>,
): Promise<T> {
  const unfinished = join(dirname(file), `.${basename(file)}.${process.pid}.unfinished`)
  const archive = await createArchive(unfinished, passphrase)
  try {
    const result = await work(archive)
    await rename(unfinished, file)
    const directory = await open(dirname(file))
    await directory.sync().finally(() => directory.close())
    return result
  } catch (error) {
    archive.abandon()
    await rm(unfinished, { force: true })
    throw error
  }
}

type Source = { readonly db: Db; close(): Promise<void> }

/** Without migrating it: a backup is what one makes before an upgrade. */
async function openSource(config: Config): Promise<Source> {
  const { database, DATA_DIR: directory } = config
  const source = database
    ? closing(openPostgres({ platform: database, poolSize: 2, onError: console.error }))
    : await openEmbeddedSource(directory)
  try {
    const [there] = await source.db.query(raw(`SELECT to_regclass('svc.migrations') IS NOT NULL AS "isThere"`))
    if (!there?.isThere) throw nothing()
    await checkMigrations(await source.db.query(raw('SELECT number, name, checksum FROM svc.migrations')))
    return source
  } catch (error) {
    await source.close()
    throw error
  }
}

const nothing = () => new StartError('There is nothing to back up: the database has not been set up yet.')

const closing = (db: Db): Source => ({ db, close: () => db.close() })

/** A running server copies its files, which takes a moment, and goes on; the copy is opened here. */
async function openEmbeddedSource(directory: string): Promise<Source> {
  if (!existsSync(join(directory, 'database'))) throw nothing()
  const answer = await askControlSocket(directory, { command: 'copy-database' })
  if (answer === undefined)
    return closing(await openEmbedded({ directory: join(directory, 'database'), onError: console.error }))
  const copy = copyDirectory(resolve(directory))
  if (answer !== copy)
    throw new StartError('The server that runs is of another version. Stop it, or use its own program.')
  const remove = () => rm(copy, { recursive: true, force: true })
  try {
    const db = await openEmbedded({ directory: copy, onError: console.error })
    return { db, close: () => db.close().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A table takes at least a twentieth of its size in an archive; less room cannot be enough. */
const bestCompression = 20

async function demandBackupRoom(db: Db, directory: string): Promise<void> {
  const [row] = await db.query<{ bytes: number }>(
    raw(`
    SELECT coalesce(sum(pg_table_size(c.oid)), 0)::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND (n.nspname = 'svc' OR n.nspname ~ '^app_[0-9a-f]{32}$')`),
  )
  await demandRoom(directory, (row?.bytes ?? 0) / bestCompression, 'the backup')
}

/** The secret that the database was set up with. */
async function readSecret({ DATA_DIR, SECRET_KEY }: Config, db: Db): Promise<string> {
  const file = join(DATA_DIR, 'secret.key')
  const secret = SECRET_KEY ?? (await readFile(file, 'utf8').catch(() => '')).trim()
  const [kept] = await db.query(raw(`SELECT value FROM svc.settings WHERE name = 'secret_fingerprint'`))
  if (!kept) throw nothing()
  if (secret !== '' && createSecrets(secret).fingerprint === kept.value) return secret
  throw new StartError(`${SECRET_KEY ? 'SECRET_KEY' : file} is not the secret that this database was set up with.`)
}

const openTarget = async ({ database, DATA_DIR: directory }: Config): Promise<Db> =>
  database
    ? openPostgres({ platform: database, poolSize: 2, onError: console.error })
    : openEmbedded({ directory: join(directory, 'database'), onError: console.error })
