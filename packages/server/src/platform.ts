import { join } from 'node:path'
import pg from 'pg'
import type { Secrets } from './access/secrets.ts'
import type { Config } from './config.ts'
import { closeToOthers } from './data-directory.ts'
import type { Db, Queryable } from './db/db.ts'
import { openEmbedded } from './db/embedded.ts'
import { migrate } from './db/migrate.ts'
import { openPostgres } from './db/postgres.ts'
import { ApiError, StartError } from './errors.ts'
import { loadSecrets, setUp } from './first-start.ts'
import { installBaseStyles } from './maps/install-base-styles.ts'
import { loadSample } from './sample.ts'

/** What every command needs: the database, up to date and set up, and the secrets in it. */
export type Platform = {
  readonly db: Db
  readonly secrets: Secrets
  /** The migrations that were applied now. */
  readonly applied: readonly number[]
  /** The master key, if it was made now. */
  readonly newMasterKey: string | undefined
}

/** The database, up to date. */
export async function openDatabase(
  config: Config,
  onError: (error: unknown) => void = console.error,
): Promise<Pick<Platform, 'db' | 'applied'>> {
  const { DATABASE_URL: url, DATA_DIR: directory } = config
  const db = url
    ? await openPostgres({ url, poolSize: config.DATABASE_POOL_SIZE, onError })
    : await openEmbedded({ directory: join(directory, 'database'), onError })
  try {
    // Not before: a new embedded database is a copy of a template, with the modes that the template has.
    await closeToOthers(directory, onError)
    return { db, applied: await migrate(db) }
  } catch (error) {
    await db.close()
    throw url ? explained(error) : error
  }
}

export async function openPlatform(
  config: Config,
  onError: (error: unknown) => void = console.error,
  { isEmpty = false } = {},
): Promise<Platform> {
  const { db, applied } = await openDatabase(config, onError)
  try {
    const secrets = await loadSecrets(db, config.DATA_DIR, config.SECRET_KEY)
    const beginning = { install: installStyles, ...(isEmpty ? {} : { fill: loadSample }) }
    return { db, secrets, applied, newMasterKey: await setUp(db, secrets, config.MASTER_API_KEY, beginning) }
  } catch (error) {
    await db.close()
    throw config.DATABASE_URL ? explained(error) : error
  }
}

/** Writing the styles takes a library that is needed for nothing else, so it is loaded for this alone. */
async function installStyles(tx: Queryable): Promise<void> {
  const { baseStyles } = await import('./maps/base-styles.ts')
  await installBaseStyles(tx, baseStyles())
}

/** What is wrong with a PostgreSQL server is for its operator to mend, and needs no stack. */
function explained(error: unknown): unknown {
  if (error instanceof ApiError) return new StartError(`DATABASE_URL: ${error.message} (${causeOf(error)})`)
  return error instanceof pg.DatabaseError ? new StartError(`DATABASE_URL: the server says: ${error.message}`) : error
}

const causeOf = ({ cause }: ApiError): string => (cause instanceof Error ? cause.message || cause.name : String(cause))
