// Where the rows of an upload go: a new table, or that of a dataset which is replaced.
import { demandReplaceable, demandSameSource, type ReplacedDataset } from '../load/replaced-table.ts'
import type { Target } from '../load/target.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'
import type { LoadingParts } from './loading-parts.ts'

/** A replaced table is checked again when publishing; the check here only saves work. */
export async function findDestination(
  parts: LoadingParts,
  upload: ClaimedUpload,
): Promise<{ target: Target; replaced: ReplacedDataset | undefined }> {
  const replaced = await findReplaced(parts, upload)
  const found = await parts.target(upload.applicationId, replaced?.databaseId)
  const target = { ...found, room: found.isPlatform ? await roomOf(parts, upload) : Number.POSITIVE_INFINITY }
  const ownSchema = target.isPlatform ? target.schema : undefined
  if (replaced) await demandReplaceable(target.db, ownSchema, replaced.tableIn(target.schema))
  return { target, replaced }
}

async function roomOf({ db, storage }: LoadingParts, { applicationId, id }: ClaimedUpload): Promise<number> {
  const quota = await storage.measure(db, applicationId)
  return await quota.left(db, id)
}

async function findReplaced(
  parts: LoadingParts,
  { applicationId, options, replaces }: ClaimedUpload,
): Promise<ReplacedDataset | undefined> {
  if (options.datasetId === undefined) return undefined
  const found = await parts.findReplaced(applicationId, options.datasetId)
  if (found?.type !== 'table')
    throw new UploadFault('dataset_gone', 'The dataset was deleted, or is no longer of type table.')
  demandSameSource(found, replaces)
  return found
}
