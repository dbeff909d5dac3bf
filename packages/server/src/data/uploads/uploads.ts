// The upload worker: a queue under leases, with fairness between applications.
import { join } from 'node:path'
import { exactPartOf, type MachineShare } from '../../kernel/concurrency/machine-share.ts'
import type { Watch } from '../../kernel/concurrency/work-watch.ts'
import { createBackground } from '../../kernel/jobs/background.ts'
import { createLeaseQueue } from '../../kernel/jobs/lease-queue.ts'
import { createStatusWatch, type StatusWatch } from './http/status-watch.ts'
import { tidy, tidyDirectories } from './publish/janitor.ts'
import { createGdalPool } from './reader-process/gdal-pool.ts'
import { createReaders, type Readers } from './reader-process/reader-process.ts'
import { type ClaimedUpload, claimNext, giveUp, optionsOf, silenceSeconds, uploadTable } from './record/upload-state.ts'
import type { LoadingParts } from './run/loading-parts.ts'
import { createPreviews, type PreviewUpload } from './run/preview-upload.ts'
import { attempt, removeTables, stopStatements } from './run/upload-attempt.ts'
import { removeUpload } from './run/upload-files.ts'

export type UploadsOptions = LoadingParts & {
  /** A reader without progress for this long is killed. */
  readonly stalledMs: number
  /** The time limit of an upload. */
  readonly workMs: number
  /** The most uploads of one application that run at once. */
  readonly perApplication: number
  readonly share: MachineShare
  /** The status of an upload was changed here, for clients that wait elsewhere. */
  onStatus?(id: string): void
  onError(error: unknown): void
  /** Watches a part of the polling. */
  readonly watch?: (() => Watch) | undefined
}

export type Uploads = {
  /** A file has arrived and its upload is about to start. */
  expect(): void
  /** There is an upload to claim. */
  announce(): void
  stop(upload: { id: string; applicationId: string }): Promise<void>
  /** Tells what an upload would make. */
  readonly preview: PreviewUpload
  /** Long polling for clients. */
  readonly watch: StatusWatch
  /** Another process has changed the status of an upload. */
  heard(id: string): void
  /** Whether uploads are processed here at all; on a machine with many workers some only receive them. */
  readonly readsFiles: boolean
  /** Starts to process uploads, also those that other replicas left. */
  start(): Promise<void>
  close(): Promise<void>
}

const uploadsAtOnce = 4
/**
 * Polling interval: another replica may have received a file or died. On the embedded database it only finds retries.
 */
const lookMs = { postgres: 2_000, embedded: 5_000 } as const
/** Interval of the search for uploads with too many attempts. */
const sweepMs = 5_000
const tidyMs = 3_600_000
/** Of the files that this machine has received and another replica has read. */
const tidyDirectoriesMs = 60_000

/** An upload that this process works on. */
type RunningUpload = {
  readonly applicationId: string
  readonly controller: AbortController
  readonly ended: Promise<void>
}

/** Ends uploads with too many attempts; returns their ids. */
async function endPoisoned(options: UploadsOptions): Promise<string[]> {
  const ended = await giveUp(options.db)
  for (const upload of ended) {
    await removeTables(options, upload)
    await removeUpload(options, upload.id)
  }
  return ended.map(({ id }) => id)
}

function createReadersWithGdal(cacheDirectory: string, stalled: number): Readers {
  const gdal = createGdalPool(join(cacheDirectory, 'gdal'))
  const readers = createReaders(cacheDirectory, { stalled }, gdal.convert)
  return { ...readers, close: async () => void (await Promise.all([readers.close(), gdal.close()])) }
}

/** Changes are told to clients that wait here and elsewhere. */
const tellingOthers = (waiting: StatusWatch, { onStatus }: Pick<UploadsOptions, 'onStatus'>): StatusWatch => ({
  ...waiting,
  tell(id) {
    waiting.tell(id)
    onStatus?.(id)
  },
})

/**
 * Uploads are rows under leases, processed by the common queue. They choose the next one with their own query
 * (`claimNext`), because the limit per application holds over all replicas. Their progress reports renew the lease,
 * because they are written anyway.
 */
export function createUploads(options: UploadsOptions): Uploads {
  const { db, perApplication, onError } = options
  const concurrency = exactPartOf(uploadsAtOnce, options.share)
  const readers = createReadersWithGdal(join(options.directory, 'cache'), options.stalledMs)
  const background = createBackground(onError, options.watch)
  const running = new Map<string, RunningUpload>()
  const waiting = createStatusWatch(db)
  const watch = tellingOthers(waiting, options)
  const { isClosed: isClosing } = background
  const attempts = { ...options, takeReader: readers.take, isClosing, onProgress: watch.tellProgress }

  /** The last slot is reserved for an application that has none here, so that one application cannot fill them all. */
  function takeNext(): Promise<ClaimedUpload | undefined> {
    const holders = [...running.values()].map(({ applicationId }) => applicationId)
    return claimNext(db, { perApplication, passed: running.size >= concurrency - 1 ? holders : [] })
  }

  async function work(upload: ClaimedUpload, stopping: AbortSignal): Promise<void> {
    const controller = new AbortController()
    if (background.isClosed()) controller.abort()
    const signal = AbortSignal.any([stopping, controller.signal])
    const ended = attempt(attempts, upload, signal, (reason) => controller.abort(reason)).finally(() => {
      running.delete(upload.id)
      watch.tell(upload.id)
    })
    running.set(upload.id, { applicationId: upload.applicationId, controller, ended })
    watch.tell(upload.id)
    await ended
  }

  const queue = createLeaseQueue<ClaimedUpload>(
    { db, table: uploadTable, concurrency, claimNext: takeNext, work, isRenewedByWork: true },
    { background, leaseSeconds: silenceSeconds, onError, lookMs: lookMs[db.kind] },
  )

  async function sweep(): Promise<void> {
    for (const id of await endPoisoned(options)) watch.tell(id)
  }

  return {
    preview: createPreviews({ ...options, takeReader: readers.take }),
    watch,
    heard: waiting.tell,
    readsFiles: concurrency > 0,
    expect: concurrency > 0 ? readers.prepare : () => undefined,
    announce: queue.announce,
    async stop({ id, applicationId }) {
      const here = running.get(id)
      here?.controller.abort()
      const record = await optionsOf(db, id)
      await stopStatements(options, { id, applicationId, options: record }).catch(onError)
      if (!here) await removeUpload(options, id)
    },
    async start() {
      await queue.free()
      await tidy(options)
      await sweep()
      background.every(sweepMs, sweep)
      background.every(tidyMs, () => tidy(options))
      background.every(tidyDirectoriesMs, () => tidyDirectories(options))
      queue.start()
    },
    async close() {
      const closed = background.close()
      watch.close()
      for (const { controller } of running.values()) controller.abort()
      await closed
      await Promise.allSettled([readers.close(), ...[...running.values()].map(({ ended }) => ended)])
      await queue.close()
    },
  }
}
