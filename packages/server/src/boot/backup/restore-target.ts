// Where a backup is restored to: an empty place, and after an interruption an empty place again.
import { readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { raw } from '../../kernel/db/sql.ts'
import { StartError } from '../../kernel/errors.ts'
import { fileRoots } from './data-files.ts'

/** While it is there, what is in DATA_DIR comes from a restore that has not ended. */
const marker = 'restore-unfinished'

/** What a restore puts into DATA_DIR. `database` is the embedded one. */
const restored = ['database', 'secret.key', ...fileRoots]

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

export async function markedId(directory: string): Promise<string | undefined> {
  return readFile(join(directory, marker), 'utf8').catch((error) => {
    if (!isAbsent(error)) throw error
    return undefined
  })
}

/** Of the server and its commands. */
export async function demandNoUnfinishedRestore(directory: string): Promise<void> {
  if ((await markedId(directory)) === undefined) return
  throw new StartError(
    `A restore into ${directory} was interrupted. Run it again: npm start -- restore FILE, with the same file and settings.`,
  )
}

/** Demands an empty DATA_DIR, and empties it of what an interrupted restore has left. */
export async function prepareDirectory(
  directory: string,
  secret: string,
  secretKey: string | undefined,
): Promise<void> {
  if ((await markedId(directory)) !== undefined) {
    for (const name of restored) await rm(join(directory, name), { recursive: true, force: true })
  }
  for (const name of restored) {
    if (name === 'secret.key') continue
    const names = await readdir(join(directory, name)).catch(() => [])
    if (names.length > 0) {
      throw new StartError(
        `${join(directory, name)} is not empty, and restore replaces nothing. Set DATA_DIR to another directory, or move this one away.`,
      )
    }
  }
  await demandSecret(directory, secret, secretKey)
}

async function demandSecret(directory: string, secret: string, secretKey: string | undefined): Promise<void> {
  const file = join(directory, 'secret.key')
  const present = secretKey ?? (await readFile(file, 'utf8').catch(() => undefined))?.trim()
  if (present === undefined || createSecrets(present).fingerprint === createSecrets(secret).fingerprint) return
  throw new StartError(
    secretKey === undefined
      ? `${file} is not the secret of the backup, and restore replaces nothing. Move it away.`
      : 'SECRET_KEY is not the secret of the backup. Unset it for the restore, which writes the right one to DATA_DIR/secret.key.',
  )
}

export async function demandEmptyDatabase(db: Db): Promise<void> {
  const [row] = await db.query(
    raw(
      `SELECT nspname AS name FROM pg_catalog.pg_namespace WHERE nspname = 'svc' OR nspname ~ '^app_[0-9a-f]{32}$' LIMIT 1`,
    ),
  )
  if (!row) return
  throw new StartError(
    `The database has a schema "${row.name}" already, and restore replaces nothing. Create an empty database, and name it in DATABASE_URL.`,
  )
}

/** Whether the transaction of an interrupted restore was committed: the platform's tables are there, with this secret. */
export async function isRestored(db: Db, secret: string): Promise<boolean> {
  const [there] = await db.query(raw(`SELECT to_regclass('svc.settings') IS NOT NULL AS "isThere"`))
  if (!there?.isThere) return false
  const [row] = await db.query(raw(`SELECT value FROM svc.settings WHERE name = 'secret_fingerprint'`))
  return row?.value === createSecrets(secret).fingerprint
}

export async function demandRoom(directory: string, bytes: number, whatFor: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory)
  const free = bavail * bsize
  if (free >= bytes) return
  throw new StartError(
    `There are ${megabytes(free)} left in ${directory}; ${whatFor} needs about ${megabytes(bytes)}. Make room, or choose another place.`,
  )
}

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`

export const markUnfinished = (directory: string, id: string): Promise<void> =>
  writeFile(join(directory, marker), id, { mode: 0o600, flush: true })

export const unmark = (directory: string): Promise<void> => rm(join(directory, marker), { force: true })
