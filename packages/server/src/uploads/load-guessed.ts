import { isDeepStrictEqual } from 'node:util'
import type { Progress } from './progress.ts'
import type { ReaderProcess } from './reader-process.ts'
import type { ScannedLayer } from './readers/reader.ts'
import { copyRows, createStaging, dropStaging, type Staged, stagingName, type Target } from './staging.ts'
import { planTable, rowsWanted, type TablePlan } from './table-plan.ts'
import { UploadFault } from './upload-fault.ts'
import type { Claimed, LayerWarning } from './upload-state.ts'

/**
 * Loads a layer as what its beginning says that it is, so that the file is read only once. Where that was wrong, all is known of
 * the layer but nothing loaded; null when there was nothing to guess by.
 */
export async function loadGuessed(
  upload: Claimed,
  target: Target,
  reader: ReaderProcess,
  run: { readonly progress: Progress; readonly warnings: LayerWarning[] },
  layerName: string,
): Promise<{ staged: Staged; isLoaded: boolean } | null> {
  run.progress.at('scanning', 0)
  const guess = await reader.guess(layerName)
  const plan = guess && planOrNone(guess, upload)
  if (!plan) return null
  const staged = { target, name: stagingName(upload.id, upload.attempt, 0), plan }
  await createStaging(staged)
  const rows = reader.load(rowsWanted(plan), (fraction) => run.progress.at('loading', fraction))
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

/** The end of a file may say of its reference system what is missing at its beginning. */
function planOrNone(guess: ScannedLayer, { options }: Claimed): TablePlan | undefined {
  try {
    return planTable(guess, options)
  } catch (error) {
    if (error instanceof UploadFault) return undefined
    throw error
  }
}

const isSamePlan = (a: TablePlan, b: TablePlan): boolean =>
  isDeepStrictEqual([a.columns, a.encoded, a.geometry], [b.columns, b.encoded, b.geometry])
