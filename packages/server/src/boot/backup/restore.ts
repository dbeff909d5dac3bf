// Restores a backup: checks all of it, then fills an empty place.
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../../kernel/db/db.ts'
import { checkMigrations, migrate } from '../../kernel/db/schema/migrate.ts'
import { StartError } from '../../kernel/errors.ts'
import type { DataFiles } from './data-files.ts'
import { type BackupRecord, type CheckedEntry, type LeftOut, readChecked } from './records.ts'
import { startRestore } from './restore-database.ts'
import {
  demandEmptyDatabase,
  demandRoom,
  isRestored,
  markedId,
  markUnfinished,
  prepareDirectory,
  unmark,
} from './restore-target.ts'
import type { BackupProgress } from './write-backup.ts'

export type RestoreParts = {
  readonly path: string
  readonly passphrase: string
  /** DATA_DIR */
  readonly directory: string
  readonly files: DataFiles
  /** SECRET_KEY */
  readonly secretKey: string | undefined
  readonly isEmbedded: boolean
  /** The database to fill, empty. */
  openDatabase(): Promise<Db>
  readonly progress: BackupProgress
  readonly signal: AbortSignal
}

/** What an archive holds. */
export type Summary = {
  readonly backup: BackupRecord
  readonly tables: number
  readonly files: number
  readonly fileBytes: number
  readonly bytes: number
  readonly leftOut: readonly LeftOut[]
}

type CheckParts = Pick<RestoreParts, 'path' | 'passphrase' | 'progress' | 'signal'>

/** Reads all of an archive: every seal, every record, every statement and path. */
export async function checkBackup({ path, passphrase, progress, signal }: CheckParts): Promise<Summary> {
  let backup: BackupRecord | undefined
  let leftOut: readonly LeftOut[] = []
  let fileBytes = 0
  const paths = new Set<string>()
  for await (const entry of readChecked(path, passphrase)) {
    const { record } = entry
    demandOrder(record.kind === 'backup', backup === undefined)
    const bytes = await drain(entry, progress, signal)
    if (record.kind === 'backup') backup = record
    else if (record.kind === 'left-out') leftOut = record.items
    else if (record.kind === 'file') {
      addOnce(paths, record.path)
      fileBytes += bytes
    } else if (record.kind !== 'tenant' && record.kind !== 'tenant-end') progress.tables++
  }
  if (!backup) throw new StartError('The backup is empty.')
  await demandKnown(backup)
  return { backup, tables: progress.tables, files: paths.size, fileBytes, bytes: progress.bytes, leftOut }
}

function demandOrder(isBeginning: boolean, isFirst: boolean): void {
  if (isBeginning !== isFirst) throw new StartError('The backup has no beginning, or two.')
}

function addOnce(paths: Set<string>, path: string): void {
  if (paths.has(path)) throw new StartError(`The backup has a file twice: ${path}.`)
  paths.add(path)
}

async function demandKnown({ version, migrations }: BackupRecord): Promise<void> {
  await checkMigrations(migrations).catch((error: Error) => {
    throw new StartError(`The backup was made by version ${version}. ${error.message}`, { cause: error })
  })
}

async function drain({ content }: CheckedEntry, progress: BackupProgress, signal: AbortSignal): Promise<number> {
  let bytes = 0
  for await (const piece of content) {
    signal.throwIfAborted()
    bytes += piece.length
    progress.bytes += piece.length
  }
  return bytes
}

/**
 * Nothing is touched before all of the archive is checked. The database is filled in one transaction that is committed last;
 * files are marked as unfinished until then, so that a restore that was killed can only be repeated, not used.
 */
export async function restoreBackup(parts: RestoreParts): Promise<Summary> {
  const summary = await checkBackup(parts)
  const { directory, secretKey, isEmbedded } = parts
  const { id, secret } = summary.backup
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // The embedded database is below DATA_DIR, where all that an interrupted restore left is removed.
  const isRepeated =
    !isEmbedded && (await markedId(directory)) === id && (await inDatabase(parts, (db) => isRestored(db, secret)))
  if (!isRepeated) {
    await parts.files.prepare((await markedId(directory)) !== undefined)
    await prepareDirectory(directory, secret, secretKey)
    const indexed = isEmbedded ? 2 : 0
    await demandRoom(directory, summary.fileBytes + indexed * (summary.bytes - summary.fileBytes), 'the restore')
  }
  await inDatabase(parts, async (db) => {
    if (!isRepeated) await fill(parts, db, summary)
    await migrate(db)
  })
  await unmark(directory)
  return summary
}

async function inDatabase<T>({ openDatabase }: RestoreParts, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDatabase()
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

async function fill(parts: RestoreParts, db: Db, { backup, leftOut }: Summary): Promise<void> {
  const { directory, secretKey } = parts
  await demandEmptyDatabase(db)
  await markUnfinished(directory, backup.id)
  await db.transaction(async (tx) => {
    const restore = await startRestore(tx, backup, db.kind)
    await addEntries(parts, restore.add)
    await restore.finish()
    if (secretKey === undefined) await writeOnce(join(directory, 'secret.key'), backup.secret)
    if (leftOut.length > 0) await writeOnce(join(directory, 'left-out.sql'), leftOutText(leftOut))
    await syncDirectory(directory)
  })
}

async function addEntries(
  { path, passphrase, files, progress, signal }: RestoreParts,
  addToDatabase: (entry: CheckedEntry) => Promise<void>,
): Promise<void> {
  Object.assign(progress, { tables: 0, files: 0, bytes: 0 })
  for await (const { record, content } of readChecked(path, passphrase)) {
    const counted = counting(content, progress, signal)
    if (record.kind === 'file') await files.write(record.path, counted)
    else await addToDatabase({ record, content: counted })
    if (record.kind === 'file') progress.files++
    if (record.kind === 'table' || record.kind === 'records') progress.tables++
  }
}

async function* counting(content: CheckedEntry['content'], progress: BackupProgress, signal: AbortSignal) {
  for await (const piece of content) {
    signal.throwIfAborted()
    progress.bytes += piece.length
    yield piece
  }
}

const writeOnce = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600, flush: true })

const leftOutText = (items: readonly LeftOut[]): string =>
  [
    '-- What the backup found and did not restore. None of it was run: read it before you run any of it.',
    ...items.map(({ what, definition }) => `\n-- ${what.replaceAll(/\s+/g, ' ')}\n${definition}`),
  ].join('\n')

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync()
  await directory.close()
}
