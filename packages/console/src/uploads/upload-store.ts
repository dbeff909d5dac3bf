/**
 * The upload store, outside React, so that uploads continue during navigation. It belongs to a session: signing out or
 * switching the application drops it, and unsent files are not sent.
 */
import { ApiError, type Client, type Upload, type UploadOptions } from '@graticule/client'
import { formatBytes } from '../format.ts'
import { getSession, subscribeSession } from '../session/session-store.ts'
import { isDoubtful, previewedPart } from './preview/doubts.ts'
import { withSample } from './rate.ts'
import { askAbout } from './upload-dialog-store.ts'
import { hasOverviewsToCome, isEnded, phaseOf, type UploadJob } from './upload-job.ts'
import { createUploadWatch } from './upload-watch.ts'

/** More concurrent uploads would not be faster, and pages need connections too. */
const uploadsAtOnce = 2

interface Work {
  readonly client: Client
  readonly watch: ReturnType<typeof createUploadWatch>
  readonly sending: Map<string, AbortController>
  maxBytes: Promise<number> | undefined
}

let jobs: readonly UploadJob[] = []
let work: Work | null = null
let count = 0
const listeners = new Set<() => void>()
const endListeners = new Set<(job: UploadJob) => void>()

export const getUploads = (): readonly UploadJob[] => jobs

export function subscribeUploads(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Notifies when an upload has ended, successfully or not. */
export function subscribeUploadEnd(listener: (job: UploadJob) => void): () => void {
  endListeners.add(listener)
  return () => endListeners.delete(listener)
}

/** Queues files. */
export function addUploads(files: readonly File[], options: UploadOptions = {}): void {
  replace([...jobs, ...files.map((file) => newJob({ fileName: file.name, size: file.size, file, options }))])
  sendNext()
}

export function addRefused(fileName: string, error: Error): void {
  replace([...jobs, newJob({ fileName, phase: 'failed', error })])
}

/** Adds running uploads that this page did not send. */
export function adoptUploads(records: readonly Upload[]): void {
  const shown = new Set(jobs.map(({ upload }) => upload?.id))
  const foreign = records.filter(({ id }) => !shown.has(id))
  if (foreign.length === 0) return
  replace([
    ...jobs,
    ...foreign.map((upload) => newJob({ ...upload, upload, options: {}, error: null, phase: phaseOf(upload) })),
  ])
  currentWork()?.watch.wake()
}

/** Holds a waiting file while its options are edited. */
export function holdUpload(key: string, isHeld: boolean): void {
  change(key, { isHeld })
  if (!isHeld) sendNext()
}

/** Sends a waiting or failed file with new options. */
export function sendWithOptions(key: string, options: UploadOptions): void {
  const job = find(key)
  if (job?.phase === 'waiting') change(key, { options })
  else retryUpload(key, options)
}

/** Sends a file of which the user has said how it is read. */
export function sendChecked(key: string, options: UploadOptions): void {
  change(key, { phase: 'waiting', isChecked: true, options })
  sendNext()
}

/** Rejects with the server's error if it cannot be cancelled. */
export async function cancelUpload(key: string): Promise<void> {
  const job = find(key)
  if (job?.phase === 'waiting' || job?.phase === 'doubtful') change(key, { phase: 'cancelled' })
  else if (job?.phase === 'sending' || job?.phase === 'checking') currentWork()?.sending.get(key)?.abort()
  else if (job?.phase === 'processing' && job.upload) await cancelProcessing(key, job.upload)
}

async function cancelProcessing(key: string, { id }: Upload): Promise<void> {
  const { client } = currentWork() ?? {}
  await client?.uploads.delete(id)
  const upload = await client?.uploads.get(id).catch((error: unknown) => {
    // It had already ended: its record was deleted, and its datasets stay.
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  })
  if (upload) end(key, { phase: phaseOf(upload), upload })
  else end(key, { phase: 'cancelled', error: new Error('It had ended before it could be cancelled.') })
}

/** Sends a file again, optionally with other options, and deletes the record of the failure. */
export function retryUpload(key: string, options?: UploadOptions): void {
  const job = find(key)
  if (!job?.file) return
  if (job.upload) currentWork()?.client.uploads.delete(job.upload.id).catch(ignore)
  const fresh = { upload: null, error: null, preview: null, isChecked: options !== undefined, samples: [] }
  change(key, { phase: 'waiting', ...fresh, ...(options && { options }) })
  sendNext()
}

export function dismissUpload(key: string): void {
  replace(jobs.filter((job) => job.key !== key))
}

export function dismissEnded(): void {
  replace(jobs.filter((job) => !isEnded(job)))
}

function sendNext(): void {
  const now = currentWork()
  if (!now) return
  for (const job of jobs) {
    if (now.sending.size >= uploadsAtOnce) return
    if (job.phase !== 'waiting' || job.isHeld || !job.file) continue
    if (job.isChecked) void send(now, job, job.file)
    else void check(now, job, job.file)
  }
}

/** Asks what the file would become, where it leaves that open. */
async function check(now: Work, { key, options }: UploadJob, file: File): Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  now.sending.set(key, controller)
  change(key, { phase: 'checking' })
  try {
    await demandSize(now, file)
    const part = await previewedPart(file)
    const preview = part && (await now.client.uploads.preview(part, { ...options, fileName: file.name }, { signal }))
    const isAsked = preview !== null && isDoubtful(preview)
    change(key, { isChecked: !isAsked, phase: isAsked ? 'doubtful' : 'waiting', preview })
    if (isAsked) askAbout(key)
  } catch {
    // The upload itself will tell.
    change(key, signal.aborted ? { phase: 'cancelled' } : { phase: 'waiting', isChecked: true })
  }
  now.sending.delete(key)
  sendNext()
}

async function send(now: Work, { key, options }: UploadJob, file: File): Promise<void> {
  const controller = new AbortController()
  now.sending.set(key, controller)
  change(key, { phase: 'sending' })
  try {
    await demandSize(now, file)
    const upload = await now.client.uploads.upload(file, options, {
      signal: controller.signal,
      onProgress: ({ loaded }) => noteSent(key, loaded),
    })
    if (phaseOf(upload) === 'processing') change(key, { phase: 'processing', upload, samples: [] })
    else end(key, { phase: phaseOf(upload), upload })
    now.watch.wake()
  } catch (error) {
    if (controller.signal.aborted) change(key, { phase: 'cancelled' })
    else end(key, { phase: 'failed', error })
  }
  now.sending.delete(key)
  sendNext()
}

function noteSent(key: string, bytes: number): void {
  const job = find(key)
  if (job) change(key, { samples: withSample(job.samples, { atMs: performance.now(), amount: bytes }) })
}

/** Checks the size before sending, so that a long upload does not end in "too large". */
async function demandSize(now: Work, { size }: File): Promise<void> {
  now.maxBytes ??= now.client.server.config().then(({ limits }) => limits.uploadBytes)
  const maxBytes = await now.maxBytes.catch((error: unknown) => {
    now.maxBytes = undefined
    throw error
  })
  if (size <= maxBytes) return
  throw new Error(
    `The file has ${formatBytes(size)}; this server takes ${formatBytes(maxBytes)} at most. Split the file, or raise UPLOAD_MAX_BYTES.`,
  )
}

function noteRecords(records: readonly Upload[], gone: readonly string[]): void {
  for (const upload of records) {
    const job = jobs.find((one) => one.upload?.id === upload.id)
    if (!job || !isWatched(job)) continue
    const samples = withSample(job.samples, { atMs: performance.now(), amount: upload.progress })
    if (phaseOf(upload) === job.phase) change(job.key, { upload, samples })
    else end(job.key, { phase: phaseOf(upload), upload })
  }
  for (const { key, upload, phase } of jobs) {
    if (!upload || !gone.includes(upload.id)) continue
    if (phase === 'processing') end(key, { phase: 'cancelled', error: new Error('Its record was deleted.') })
    else change(key, { upload: { ...upload, overviews: null } })
  }
}

/** Processed, or done but for the overviews. */
const isWatched = ({ phase, upload }: UploadJob): boolean =>
  phase === 'processing' || (phase === 'completed' && upload !== null && hasOverviewsToCome(upload))

function noteRefused(error: ApiError): void {
  for (const { key, phase } of jobs) if (phase === 'processing') end(key, { phase: 'unwatched', error })
}

/** The watch and the running requests of the current session, created on first use. */
function currentWork(): Work | null {
  const { client } = getSession() ?? {}
  if (!client || work?.client === client) return work
  const watch = createUploadWatch(client, {
    unfinished: () => jobs.flatMap((job) => (isWatched(job) && job.upload ? job.upload : [])),
    onRecords: noteRecords,
    onRefused: noteRefused,
  })
  work = { client, watch, sending: new Map(), maxBytes: undefined }
  return work
}

subscribeSession(() => {
  work?.watch.stop()
  for (const controller of work?.sending.values() ?? []) controller.abort()
  work = null
  replace([])
})

const find = (key: string): UploadJob | undefined => jobs.find((job) => job.key === key)

function newJob(parts: Partial<UploadJob> & Pick<UploadJob, 'fileName'>): UploadJob {
  count += 1
  const { fileName, size = 0, file = null, options = {}, phase = 'waiting', upload = null, error = null } = parts
  const begun = { isChecked: false, preview: null, isHeld: false, samples: [] }
  return { key: `upload-${count}`, fileName, size, file, options, phase, ...begun, upload, error }
}

function change(key: string, changes: Partial<UploadJob>): void {
  replace(jobs.map((job) => (job.key === key ? { ...job, ...changes } : job)))
}

function end(key: string, changes: Partial<UploadJob>): void {
  change(key, changes)
  const job = find(key)
  if (job) for (const listener of endListeners) listener(job)
}

function replace(next: readonly UploadJob[]): void {
  jobs = next
  for (const listener of listeners) listener()
}

function ignore(): void {}
