import { rm } from 'node:fs/promises'
import { report } from '../events.ts'
import { ReaderDied } from './reader-process.ts'
import { ReadFault } from './readers/reader.ts'
import { createRun, type LoadingParts, type Run, runUpload, type TakeReader, uploadDirectory } from './run-upload.ts'
import { dropOverviewParts, dropStaging, type Target } from './staging.ts'
import { type FaultDto, faultOf, UploadLost } from './upload-fault.ts'
import { type Claimed, fail, isWanted, maxAttempts, putBack } from './upload-state.ts'

export type AttemptOptions = LoadingParts &
  TakeReader & {
    /** The server stops: what is not done is left for others. */
    isClosing(): boolean
    onError(error: unknown): void
  }

/** One try to load a file, to whatever end; nothing of it is left but what was published. */
export async function attempt(
  options: AttemptOptions,
  upload: Claimed,
  signal: AbortSignal,
  abort: () => void,
): Promise<void> {
  const run = createRun(options.db, upload, abort)
  const begun = performance.now()
  try {
    const status = await runUpload(options, upload, signal, run).then(
      () => 'completed' as const,
      (error) => settle(options, upload, run, error, signal),
    )
    if (status) report('upload', { status, seconds: (performance.now() - begun) / 1000 })
    await removeTables(options, upload, run.datasetIds)
    if (status) await rm(uploadDirectory(options.directory, upload.id), { recursive: true, force: true })
  } finally {
    await run.progress.end()
  }
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
  const fault = faultOf(error)
  // Cancelled, or another's: the record says so already.
  if (error instanceof UploadLost || signal.aborted) return (await isWanted(db, upload.id)) ? undefined : 'cancelled'
  if (!fault || (error instanceof ReadFault && error.cause)) onError(error)
  const isLast = fault !== undefined || upload.attempt >= maxAttempts
  if (isLast) await fail(db, upload, fault ?? lastFault(error), warnings)
  else await putBack(db, upload, true)
  return isLast ? 'failed' : undefined
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

export async function targetOf(
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
      ? 'The process that read the file ended each time, probably for want of memory.'
      : 'The file could not be loaded; the server was out of order each time it was tried.',
})
