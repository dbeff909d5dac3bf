import { rm } from 'node:fs/promises'
import { report } from '../events.ts'
import { ReaderDied } from './reader-process.ts'
import { ReadFault } from './readers/reader.ts'
import { createRun, type LoadingParts, type Run, runUpload, type TakeReader, uploadDirectory } from './run-upload.ts'
import { cancelStatements, dropOverviewParts, dropStaging, type Target } from './staging.ts'
import { type FaultDto, faultOf, UploadFault, UploadLost } from './upload-fault.ts'
import { type Claimed, fail, isWanted, maxAttempts, putBack } from './upload-state.ts'

export type AttemptOptions = LoadingParts &
  TakeReader & {
    /** The server stops: what is not done is left for others. */
    isClosing(): boolean
    /** An upload that takes longer fails. */
    readonly workMs: number
    onError(error: unknown): void
  }

/** One try to load a file, to whatever end; nothing of it is left but what was published. */
export async function attempt(
  options: AttemptOptions,
  upload: Claimed,
  signal: AbortSignal,
  abort: (reason?: UploadFault) => void,
): Promise<void> {
  const run = createRun(options.db, upload, abort)
  const begun = performance.now()
  const overdue = setTimeout(() => {
    abort(new UploadFault('work_timeout', `The upload took longer than ${options.workMs / 1000} s and was stopped.`))
    stopStatements(options, upload, run.datasetIds).catch(options.onError)
  }, options.workMs)
  try {
    const status = await runUpload(options, upload, signal, run).then(
      () => 'completed' as const,
      (error) => settle(options, upload, run, error, signal),
    )
    if (status) report('upload', { status, seconds: (performance.now() - begun) / 1000 })
    await removeTables(options, upload, run.datasetIds)
    if (status) await rm(uploadDirectory(options.directory, upload.id), { recursive: true, force: true })
  } finally {
    clearTimeout(overdue)
    await run.progress.end()
  }
}

/** Ends what the database does for an upload. */
export async function stopStatements(
  options: Pick<LoadingParts, 'target' | 'findReplaced'>,
  upload: Pick<Claimed, 'id' | 'applicationId' | 'options'>,
  datasetIds: readonly string[] = [],
): Promise<void> {
  await cancelStatements(await targetOf(options, upload), upload.id, datasetIds)
}

/** What becomes of an upload that did not succeed now; nothing when it has not come to its end. */
async function settle(
  options: AttemptOptions,
  upload: Claimed,
  { progress, warnings }: Run,
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
  const fault = faultOf(error)
  if (!fault || (error instanceof ReadFault && error.cause)) onError(error)
  const isLast = fault !== undefined || upload.attempt >= maxAttempts
  if (isLast) await fail(db, upload, fault ?? lastFault(error), warnings)
  else await putBack(db, upload, true)
  return isLast ? 'failed' : undefined
}

/** It was cancelled, or is another's by now, as the record says already; or it took too long. */
async function settleStopped(
  { db }: AttemptOptions,
  upload: Claimed,
  warnings: Run['warnings'],
  { reason }: AbortSignal,
): Promise<'failed' | 'cancelled' | undefined> {
  if (!(await isWanted(db, upload.id))) return 'cancelled'
  const fault = reason instanceof UploadFault && faultOf(reason)
  if (!fault) return undefined
  await fail(db, upload, fault, warnings)
  return 'failed'
}

/** Takes away the tables of an upload, wherever they were being made. */
export async function removeTables(
  options: Pick<AttemptOptions, 'target' | 'findReplaced' | 'onError'>,
  upload: Pick<Claimed, 'id' | 'applicationId' | 'options'>,
  datasetIds: readonly string[] = [],
): Promise<void> {
  try {
    const target = await targetOf(options, upload)
    await dropStaging(target, upload.id)
    for (const id of datasetIds) await dropOverviewParts(target, id)
  } catch (error) {
    options.onError(error)
  }
}

async function targetOf(
  { target, findReplaced }: Pick<LoadingParts, 'target' | 'findReplaced'>,
  { applicationId, options: { datasetId } }: Pick<Claimed, 'applicationId' | 'options'>,
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
