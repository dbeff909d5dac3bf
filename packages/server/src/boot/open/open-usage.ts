/** Creates the counters of what applications use, and what each area is given to count with. */
import type { FastifyBaseLogger } from 'fastify'
import type { OnQuery } from '../../data/datasets/queries/stream-slots.ts'
import type { TileUse } from '../../data/tiles/cache/pending-slots.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import type { Config } from '../../kernel/settings/config.ts'
import { createTallies, type Tallies } from '../../tenants/usage/tallies.ts'

type UsageOptions = {
  readonly db: Db
  readonly works: WorkWatch
  readonly logger: FastifyBaseLogger
  readonly config: Pick<Config, 'USAGE_DAYS' | 'METRICS_APPLICATIONS'>
}

export type OpenUsage = {
  readonly usage: Tallies
  readonly onQuery: OnQuery
  readonly tileUse: TileUse
  onInvocation(applicationId: string): void
  onDelivered(applicationId: string, table: 'outbox' | 'deliveries'): void
}

export function openUsage({ db, works, logger, config }: UsageOptions): OpenUsage {
  const usage = createTallies({
    db,
    days: config.USAGE_DAYS,
    keepsTotals: config.METRICS_APPLICATIONS > 0,
    onError: (error) => logger.warn({ err: error }, 'usage was not written'),
    watch: works.part('usage'),
  })
  return {
    usage,
    onQuery(applicationId, seconds) {
      usage.add(applicationId, 'queries')
      usage.add(applicationId, 'querySeconds', seconds)
    },
    tileUse: tileUseOf(usage),
    onInvocation: (applicationId) => usage.add(applicationId, 'invocations'),
    onDelivered: (applicationId, table) => usage.add(applicationId, table === 'outbox' ? 'mails' : 'messages'),
  }
}

/** The built-in base map belongs to no application. */
const tileUseOf = (usage: Tallies): TileUse => ({
  served(applicationId, isCached) {
    if (applicationId) usage.add(applicationId, isCached ? 'tilesCached' : 'tilesMade')
  },
  made(applicationId, seconds) {
    if (applicationId) usage.add(applicationId, 'tileSeconds', seconds)
  },
})
