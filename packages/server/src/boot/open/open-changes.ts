/** Creates the change feed, and the limit of its listeners. */
import type { FastifyBaseLogger } from 'fastify'
import type { Gauges } from '../../api/metrics/metrics.ts'
import { type ChangeFeed, createChangeFeed } from '../../data/changes/change-feed.ts'
import { createAdmission } from '../../kernel/concurrency/admission.ts'
import type { WorkWatch } from '../../kernel/concurrency/work-watch.ts'
import type { Db } from '../../kernel/db/db.ts'
import { overLimit } from '../../kernel/limits/limits.ts'
import type { Config } from '../../kernel/settings/config.ts'

type ChangeOptions = {
  readonly db: Db
  readonly works: WorkWatch
  readonly logger: FastifyBaseLogger
  readonly config: Pick<Config, 'LISTENERS_PER_APPLICATION'>
}

export function openChanges({ db, works, logger, config: { LISTENERS_PER_APPLICATION: most } }: ChangeOptions) {
  const onError = (error: unknown) => logger.warn({ err: error }, 'changes of datasets could not be read')
  return {
    changeFeed: createChangeFeed(db, onError, () => works.part('changes')),
    listenerSlots: createAdmission({
      perOwner: most,
      maxWaiting: 0,
      refuse: () =>
        overLimit(
          'changeListeners',
          most,
          `This application already has ${most} clients that follow changes, its limit. Try again in a moment.`,
          { headers: { 'Retry-After': '5' } },
        ),
    }),
  }
}

/** Values of the feed that are read when they are scraped. */
export const changeGauges = (feed: ChangeFeed): Gauges => ({
  change_listeners: { help: 'Clients that follow changes of datasets', read: () => feed.listeners },
  change_tables: { help: 'Tables that they follow', read: () => feed.tables() },
  change_held_seconds: {
    help: 'For how long the oldest running transaction has held changes back',
    aggregator: 'max',
    read: () => feed.heldSeconds(),
  },
})
