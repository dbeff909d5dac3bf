// Optimistic one-pass load.
import { isDeepStrictEqual } from 'node:util'
import type { StagedTable } from '../load/staged-table.ts'
import { copyRows, createStaging, dropStaging, stagingName } from '../load/staging.ts'
import { planTable, rowsRequest, type TablePlan } from '../load/table-plan.ts'
import type { Target } from '../load/target.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'
import type { ScannedLayer } from '../readers/reader.ts'
import type { UploadProgress } from '../record/progress.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { ClaimedUpload, LayerWarning } from '../record/upload-state.ts'

/**
 * Loads a layer with the schema inferred from its beginning, so that the file is read only once. If the guess was
 * wrong, nothing is loaded, but the layer is fully scanned for the second pass; null if no guess was possible.
 */
export async function loadGuessed(
  upload: ClaimedUpload,
  target: Target,
  reader: ReaderProcess,
  run: { readonly progress: UploadProgress; readonly warnings: LayerWarning[] },
  layerName: string,
): Promise<{ staged: StagedTable; isLoaded: boolean } | null> {
  run.progress.at('scanning', 0)
  const guess = await reader.guess(layerName)
  const plan = guess && planOrNone(guess, upload)
  if (!plan) return null
  const staged = { target, name: stagingName(upload.id, upload.attempt, 0), plan }
  await createStaging(staged)
  const rows = reader.load(rowsRequest(plan), (fraction, count) => run.progress.at('loading', fraction, count))
  const copied = await copyRows(staged, rows)
  const { loaded } = await rows.sent
  if (!loaded) throw new Error('The reader did not report what it loaded')
  const { layer, isAsGuessed } = loaded
  run.warnings.push(...layer.warnings)
  const right = planTable(layer, upload.options)
  const isLoaded = isAsGuessed && isSamePlan(plan, right)
  if (!isLoaded) await dropStaging(target, upload.id)
  return { staged: { ...copied, plan: right }, isLoaded }
}

/** The end of a file may give the reference system that is missing at its beginning. */
function planOrNone(guess: ScannedLayer, { options }: ClaimedUpload): TablePlan | undefined {
  try {
    return planTable(guess, options)
  } catch (error) {
    if (error instanceof UploadFault) return undefined
    throw error
  }
}

const isSamePlan = (a: TablePlan, b: TablePlan): boolean =>
  isDeepStrictEqual([a.columns, a.encoded, a.geometry], [b.columns, b.encoded, b.geometry])
