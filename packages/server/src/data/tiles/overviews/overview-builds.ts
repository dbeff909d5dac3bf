/**
 * The jobs that build overviews, for tables of the platform's database and for those of other servers: one job for each dataset at a
 * time, whose state `svc.overviews` tells. A kind of table says what is built and how it is staged.
 */
import { exactPartOf, type MachineShare } from '../../../kernel/concurrency/machine-share.ts'
import { cancelStatements } from '../../../kernel/db/cancel-statements.ts'
import type { Db } from '../../../kernel/db/db.ts'
import type { Jobs } from '../../../kernel/jobs/jobs.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { TileBudget } from '../source/tile-budget.ts'
import type { Buildable, Builder, OverviewTables } from './build-overview.ts'
import { beingBuilt, overviewTable } from './overview.ts'
import { type BuiltFrom, builtRecord, noteProgress, noteState } from './overview-record.ts'
import { dropUnfinished, type OverviewTarget, swapOverview } from './swap-overview.ts'

export type OverviewJob = { readonly applicationId: string; readonly datasetId: string }

export type BuildOptions = {
  readonly db: Db
  readonly jobs: Pick<Jobs, 'work' | 'send' | 'cancel'>
  readonly share: MachineShare
  /** Smaller tables have no overview. */
  readonly minRows: number
  /** Of a tile, unless its source says otherwise. */
  readonly budget: TileBudget
  findDataset(applicationId: string, id: string): Promise<Dataset | undefined>
  onError(error: unknown): void
}

/** The tables of an overview that are ready to be put in use. */
export type StagedOverview = {
  readonly buildable: Buildable
  readonly staged: OverviewTables
  /** Of the table that it was built from. */
  readonly oid: string
}

/** An overview that is to be built. */
export type Build = BuiltFrom & {
  readonly place: OverviewTarget
  stage(builder: Builder): Promise<StagedOverview>
}

export type BuildKind = {
  /** The name of the jobs' queue. */
  readonly queue: string
  /** What is to be built of a dataset; undefined if there can be no overview of it. */
  prepare(dataset: Dataset, signal: AbortSignal): Promise<Build | undefined>
  /** After a job was cancelled or lost: whoever takes the next one drops its tables, or cancelled it to drop them. */
  leave?(place: OverviewTarget): Promise<void>
  /** Whether the queue tries again at once what has failed. */
  readonly isTriedAgain: boolean
}

export type OverviewBuilds = {
  /** Queues a build, unless one is queued or under way. */
  order(dataset: Pick<Dataset, 'applicationId' | 'id'>): void
  /** Ends the work on a dataset's overview, so that its table can be dropped. */
  cancel(datasetId: string): Promise<void>
}

const buildsAtOnce = 2

export function createOverviewBuilds(options: BuildOptions, kind: BuildKind): OverviewBuilds {
  const { db, jobs, share, findDataset, onError } = options
  const { queue } = kind

  async function build({ applicationId, datasetId: id }: OverviewJob, job: Omit<Builder, 'onProgress'>): Promise<void> {
    const dataset = await findDataset(applicationId, id)
    const prepared = dataset && (await kind.prepare(dataset, job.signal))
    if (!prepared) return
    const { place, version, shape, stage } = prepared
    await noteState(db, id, { state: 'building', version })
    try {
      await db.transaction((tx) => dropUnfinished(tx, place))
      const onProgress = (fraction: number): Promise<void> => noteProgress(db, id, fraction)
      const { buildable, staged, oid } = await stage({ ...job, onProgress })
      const record = builtRecord(id, staged, { version, shape })
      await swapOverview(db, buildable, { record, oid, isHeld: job.isHeld })
    } catch (error) {
      if (job.signal.aborted || !(await job.isHeld(db))) {
        await kind.leave?.(place)
        throw error
      }
      await db.transaction((tx) => dropUnfinished(tx, place)).catch(onError)
      const reason = error instanceof Error ? error.message : String(error)
      await noteState(db, id, { state: 'failed', version, error: reason }).catch(onError)
      if (kind.isTriedAgain) throw error
      onError(error)
    }
  }

  const concurrency = exactPartOf(buildsAtOnce, share)
  jobs.work<OverviewJob>(queue, { concurrency }, ({ data, isHeld }, signal) => build(data, { signal, isHeld }))

  return {
    order({ applicationId, id }) {
      jobs.send(queue, { applicationId, datasetId: id }, { singletonKey: id }).catch(onError)
    },
    async cancel(datasetId) {
      await jobs.cancel(queue, datasetId)
      await cancelStatements(db, overviewTable(datasetId, beingBuilt))
    },
  }
}
