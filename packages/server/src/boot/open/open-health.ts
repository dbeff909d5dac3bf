/** Creates what monitors and load balancers ask: health, readiness, and the free space of the disk. */
import { join } from 'node:path'
import type { Secrets } from '../../api/access/secrets/secrets.ts'
import { createHealth } from '../../api/server-info/health.ts'
import { createReadiness } from '../../api/server-info/readiness.ts'
import { watchStorage } from '../../api/server-info/storage.ts'
import { canTenantsLogIn } from '../../data/databases/tenant-login.ts'
import type { Bus } from '../../kernel/bus/bus.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { Config } from '../../kernel/settings/config.ts'

type HealthOptions = {
  readonly db: Db
  readonly secrets: Secrets
  readonly works: WorkWatch
  readonly config: Pick<Config, 'DATA_DIR' | 'DATA_MIN_FREE_MB' | 'NATS_URL' | 'database'>
  isStopping(): boolean
}

const mebibyte = 1024 * 1024

/** A bus inside one machine cannot be cut. */
export function openHealth(
  { db, secrets, config, isStopping, works: { failing, lacksRoom } }: HealthOptions,
  bus: Bus,
) {
  const health = createHealth(db)
  const directories = [config.DATA_DIR, ...(db.kind === 'embedded' ? [join(config.DATA_DIR, 'database')] : [])]
  const storage = watchStorage({ directories, minFreeBytes: config.DATA_MIN_FREE_MB * mebibyte, lacksRoom })
  const broker = config.NATS_URL === undefined ? undefined : bus
  const { database } = config
  const canLogIn = database && db.kind === 'postgres' && (() => canTenantsLogIn(db, secrets, database))
  const parts = { db, health, storage, isStopping, failing, bus: broker }
  return { health, storage, readiness: createReadiness({ ...parts, ...(canLogIn && { canTenantsLogIn: canLogIn }) }) }
}
