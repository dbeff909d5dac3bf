// One attempt to run an upload, with its outcome and clean-up.
import { report } from '../../../kernel/events.ts'
import { isStorageUnavailable } from '../../../kernel/storage/storage-unavailable.ts'
import { runTraced } from '../../../kernel/tracing.ts'
import { cancelStaging, dropStaging } from '../load/staging.ts'
import type { Target } from '../load/target.ts'
import { ReaderDied } from '../reader-process/reader-process.ts'
import { ReadFault } from '../readers/reader.ts'
import { type FaultDto, faultOf, UploadFault, UploadLost } from '../record/upload-fault.ts'
import { type ClaimedUpload, fail, isWanted, maxAttempts, postpone, putBack } from '../record/upload-state.ts'
import type { LoadingParts, ReaderPool } from './loading-parts.ts'
import { runUpload } from './run-upload.ts'
import { removeUpload } from './upload-files.ts'
import { createRun, type UploadRun } from './upload-run.ts'

export type AttemptOptions = LoadingParts &
  ReaderPool & {
    /** The server is stopping: unfinished work is left for others. */
    isClosing(): boolean
    /** The progress of an upload was written. */
    onProgress(id: string): void
    /** The time limit of an upload. */
    readonly workMs: number
    onError(error: unknown): void
  }

/** Runs an attempt to any outcome; only what was published remains. It is a trace of its own. */
export function attempt(
  options: AttemptOptions,
  upload: ClaimedUpload,
  signal: AbortSignal,
  abort: (reason?: UploadFault) => void,
): Promise<void> {
  const about = { 'graticule.upload.id': upload.id, 'graticule.application.id': upload.applicationId }
  return runTraced('upload', about, upload.traceparent, () => runAttempt(options, upload, signal, abort))
}

async function runAttempt(
  options: AttemptOptions,
  upload: ClaimedUpload,
  signal: AbortSignal,
  abort: (reason?: UploadFault) => void,
): Promise<void> {
  const onWritten = (): void => options.onProgress(upload.id)
  const run = createRun(upload, { db: options.db, onLost: abort, onWritten })
  const begun = performance.now()
  const overdue = setTimeout(() => {
    abort(new UploadFault('work_timeout', `The upload took longer than ${options.workMs / 1000} s and was stopped.`))
    stopStatements(options, upload).catch(options.onError)
  }, options.workMs)
  try {
    const status = await runUpload(options, upload, signal, run).then(
      () => 'completed' as const,
      (error) => settle(options, upload, run, error, signal),
    )
    if (status) report('upload', { status, seconds: (performance.now() - begun) / 1000 })
    await removeTables(options, upload)
    if (status) await removeUpload(options, upload.id)
  } finally {
    clearTimeout(overdue)
    await run.progress.end()
  }
}

/** Cancels an upload's statements in the database. */
export async function stopStatements(
  options: Pick<LoadingParts, 'target' | 'findReplaced'>,
  upload: Pick<ClaimedUpload, 'id' | 'applicationId' | 'options'>,
): Promise<void> {
  await cancelStaging(await targetOf(options, upload), upload.id)
}

/** Records a failure, or puts the upload back for another attempt. */
async function settle(
  options: AttemptOptions,
  upload: ClaimedUpload,
  { progress, warnings }: UploadRun,
  error: unknown,
  signal: AbortSignal,
): Promise<'failed' | 'cancelled' | undefined> {
  const { db, onError } = options
  await progress.end()
  if (options.isClosing()) {
    await putBack(db, upload, false)
    return undefined
  }
  if (signal.aborted || error instanceof UploadLost) return settleStopped(options, upload, warnings, signal)
  if (isStorageUnavailable(error)) {
    onError(error)
    await postpone(db, upload)
    return undefined
  }
  const fault = faultOf(error)
  if (!fault || (error instanceof ReadFault && error.cause)) onError(error)
  const isLast = fault !== undefined || upload.attempt >= maxAttempts
  if (isLast) await fail(db, upload, fault ?? lastFault(error), warnings)
  else await putBack(db, upload, true)
  return isLast ? 'failed' : undefined
}

/** The upload was cancelled, or another worker has the lease, as the record already says; or it took too long. */
async function settleStopped(
  { db }: AttemptOptions,
  upload: ClaimedUpload,
  warnings: UploadRun['warnings'],
  { reason }: AbortSignal,
): Promise<'failed' | 'cancelled' | undefined> {
  if (!(await isWanted(db, upload.id))) return 'cancelled'
  const fault = reason instanceof UploadFault && faultOf(reason)
  if (!fault) return undefined
  await fail(db, upload, fault, warnings)
  return 'failed'
}

/** Drops the tables of an upload in whichever database they were made. */
export async function removeTables(
  options: Pick<AttemptOptions, 'target' | 'findReplaced' | 'onError'>,
  upload: Pick<ClaimedUpload, 'id' | 'applicationId' | 'options'>,
): Promise<void> {
  try {
    await dropStaging(await targetOf(options, upload), upload.id)
  } catch (error) {
    options.onError(error)
  }
}

async function targetOf(
  { target, findReplaced }: Pick<LoadingParts, 'target' | 'findReplaced'>,
  { applicationId, options: { datasetId } }: Pick<ClaimedUpload, 'applicationId' | 'options'>,
): Promise<Target> {
  const replaced = datasetId === undefined ? undefined : await findReplaced(applicationId, datasetId)
  return target(applicationId, replaced?.databaseId)
}

const lastFault = (error: unknown): FaultDto => ({
  code: error instanceof ReaderDied ? 'worker_died' : 'database_error',
  message:
    error instanceof ReaderDied
      ? 'The process that read the file ended on every attempt, probably because it ran out of memory.'
      : 'The file could not be loaded: the server failed on every attempt. Send the file again later.',
})
