import { join } from 'node:path'
import pg from 'pg'
import type { Secrets } from '../api/access/secrets/secrets.ts'
import { loadSample } from '../data/uploads/sample.ts'
import type { Db, Queryable } from '../kernel/db/db.ts'
import { openEmbedded } from '../kernel/db/embedded/embedded.ts'
import { openPostgres } from '../kernel/db/postgres/postgres.ts'
import { refuseTransactionPooling } from '../kernel/db/postgres/session-pooling.ts'
import { migrate } from '../kernel/db/schema/migrate.ts'
import { ApiError, StartError } from '../kernel/errors.ts'
import type { Config } from '../kernel/settings/config.ts'
import { installBaseStyles } from '../tenants/cartography/maps/install-base-styles.ts'
import { demandNoUnfinishedRestore } from './backup/restore-target.ts'
import { closeToOthers } from './start/data-directory.ts'
import { loadSecrets, setUp } from './start/first-start.ts'

/** What every command needs: the migrated and initialized database, and the secrets in it. */
export type Platform = {
  readonly db: Db
  readonly secrets: Secrets
  /** The migrations that this start applied. */
  readonly applied: readonly number[]
  /** The master key, if this start created it. */
  readonly newMasterKey: string | undefined
}

/** Opens and migrates the database. */
export async function openDatabase(
  config: Config,
  onError: (error: unknown) => void = console.error,
): Promise<Pick<Platform, 'db' | 'applied'>> {
  const { database, DATA_DIR: directory } = config
  await demandNoUnfinishedRestore(directory)
  const db = database
    ? await openPostgres({ platform: database, poolSize: config.DATABASE_POOL_SIZE, onError })
    : await openEmbedded({ directory: join(directory, 'database'), onError })
  try {
    // After opening, because a new embedded database is a copy of a template with its own file modes.
    await closeToOthers(directory, onError)
    if (database) await refuseTransactionPooling(database)
    return { db, applied: await migrate(db) }
  } catch (error) {
    await db.close()
    throw database ? explained(error) : error
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
    throw config.database ? explained(error) : error
  }
}

/** Lazy, because the library that writes the styles is needed for nothing else. */
async function installStyles(tx: Queryable): Promise<void> {
  const { baseStyles } = await import('../tenants/cartography/maps/base-styles.ts')
  await installBaseStyles(tx, baseStyles())
}

/** Errors of the PostgreSQL server are for the operator, so they are shown without a stack. */
function explained(error: unknown): unknown {
  if (error instanceof ApiError) return new StartError(`DATABASE_URL: ${error.message} (${causeOf(error)})`)
  if (!(error instanceof pg.DatabaseError)) return error
  const help = error.code === '42501' ? '. npm start -- doctor prints the statement that gives the right' : ''
  return new StartError(`DATABASE_URL: the server says: ${error.message}${help}`)
}

const causeOf = ({ cause }: ApiError): string => (cause instanceof Error ? cause.message || cause.name : String(cause))
