import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGdalPool } from './gdal-pool.ts'
import { tidy } from './janitor.ts'
import { createReaders, type Readers } from './reader-process.ts'
import { type LoadingParts, uploadDirectory } from './run-upload.ts'
import { createStatusWatch, type StatusWatch } from './status-watch.ts'
import { attempt, removeTables, stopStatements } from './upload-attempt.ts'
import { createUploadSlots } from './upload-slots.ts'
import { forgetWorkers, giveUp, optionsOf, waiting } from './upload-state.ts'

/** What uploads need of jobs. */
export type UploadJobs = {
  work(
    queue: string,
    options: { concurrency: number; expireSeconds: number },
    handler: (job: { data: UploadJob }, signal: AbortSignal) => Promise<void>,
  ): void
  send(queue: string, data: UploadJob, options: { singletonKey: string }): Promise<string | undefined>
}

/** There is an upload of the application to be taken on. Whoever has time for it takes the one whose turn it is. */
export type UploadJob = { readonly applicationId: string }

export type UploadsOptions = LoadingParts & {
  readonly jobs: UploadJobs
  /** A reader that makes no progress for so long is ended. */
  readonly stalledMs: number
  /** An upload that takes longer fails. */
  readonly workMs: number
  /** How many of an application are worked on at once. */
  readonly perApplication: number
  onError(error: unknown): void
}

export type Uploads = {
  /** A file has come, and is about to begin. */
  expect(): void
  begin(upload: { id: string; applicationId: string }): Promise<void>
  stop(upload: { id: string; applicationId: string }): Promise<void>
  /** For clients that wait for a change of status. */
  readonly watch: StatusWatch
  /** Looks after what others have left, from now on. */
  start(): Promise<void>
  close(): Promise<void>
}

const queue = 'uploads'
const concurrency = 4
const expireSeconds = 6 * 3600
/** How often it is looked for uploads that nobody works on. */
const sweepMs = 5_000
const tidyMs = 3_600_000

/** Ends uploads that were tried too often; answers which they were. */
async function endPoisoned(options: UploadsOptions): Promise<string[]> {
  const ended = await giveUp(options.db)
  for (const upload of ended) {
    await removeTables(options, upload)
    await rm(uploadDirectory(options.directory, upload.id), { recursive: true, force: true })
  }
  return ended.map(({ id }) => id)
}

function createReadersWithGdal(cacheDirectory: string, stalled: number): Readers {
  const gdal = createGdalPool(join(cacheDirectory, 'gdal'))
  const readers = createReaders(cacheDirectory, { stalled }, gdal.convert)
  return { ...readers, close: async () => void (await Promise.all([readers.close(), gdal.close()])) }
}

export function createUploads(options: UploadsOptions): Uploads {
  const { db, jobs, perApplication, directory, onError } = options
  const readers = createReadersWithGdal(join(directory, 'cache'), options.stalledMs)
  let isClosing = false
  const attempts = { ...options, takeReader: readers.take, isClosing: () => isClosing }
  const watch = createStatusWatch(db)
  const slots = createUploadSlots(db, { slots: concurrency, perApplication }, (upload, signal, abort) =>
    attempt(attempts, upload, signal, abort),
  )
  const { running } = slots

  const order = (applicationId: string, key: string): Promise<unknown> =>
    jobs.send(queue, { applicationId }, { singletonKey: key })

  async function work(signal: AbortSignal): Promise<void> {
    if (isClosing) return
    const upload = await slots.take(signal)
    if (!upload) return
    watch.tell(upload.id)
    await running.get(upload.id)?.ended.finally(() => watch.tell(upload.id))
    if (!isClosing) await passOn()
  }

  /**
   * A slot is free again: whoever waits for it gets a job, whose key is its own. The key of the upload may still be that of
   * a job which took on another upload, such as the one that ends here.
   */
  async function passOn(): Promise<void> {
    const [next] = await waiting(db)
    if (next) await order(next.applicationId, randomUUID())
  }

  async function sweep(): Promise<void> {
    for (const id of await endPoisoned(options)) watch.tell(id)
    for (const { id, applicationId } of await waiting(db)) await order(applicationId, id)
  }

  let sweeping: Promise<void> | undefined
  async function look(): Promise<void> {
    sweeping ??= sweep().catch(onError)
    await sweeping
    sweeping = undefined
  }

  const timers: NodeJS.Timeout[] = []
  jobs.work(queue, { concurrency, expireSeconds }, (_, signal) => work(signal))

  return {
    watch,
    expect: readers.prepare,
    begin: async ({ id, applicationId }) => void (await order(applicationId, id).catch(onError)),
    async stop({ id, applicationId }) {
      const here = running.get(id)
      here?.controller.abort()
      const record = await optionsOf(db, id)
      await stopStatements(options, { id, applicationId, options: record }).catch(onError)
      if (!here) await rm(uploadDirectory(directory, id), { recursive: true, force: true })
    },
    async start() {
      if (db.kind === 'embedded') await forgetWorkers(db)
      await tidy(options)
      timers.push(setInterval(look, sweepMs).unref(), setInterval(() => tidy(options).catch(onError), tidyMs).unref())
      await look()
    },
    async close() {
      isClosing = true
      watch.close()
      for (const timer of timers) clearInterval(timer)
      for (const { controller } of running.values()) controller.abort()
      await Promise.allSettled([readers.close(), ...[...running.values()].map(({ ended }) => ended)])
    },
  }
}
