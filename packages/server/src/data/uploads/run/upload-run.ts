// The state of one upload in progress.
import type { StagedTable } from '../load/staged-table.ts'
import { createProgress, type ProgressOptions, type UploadProgress } from '../record/progress.ts'
import type { ClaimedUpload, LayerWarning } from '../record/upload-state.ts'

export type UploadRun = {
  readonly progress: UploadProgress
  /** Kept outside the result, so that they are known even if the upload fails later. */
  readonly warnings: LayerWarning[]
}

export const createRun = (upload: ClaimedUpload, options: ProgressOptions): UploadRun => ({
  progress: createProgress(upload, options),
  warnings: [],
})

export type OnProgress = (fraction: number, rows?: number) => void

/** Takes one table after the other through a stage, and says how far all of them are. */
export async function eachTable<T>(
  { progress }: UploadRun,
  stage: Parameters<UploadProgress['at']>[0],
  tables: readonly StagedTable[],
  signal: AbortSignal,
  work: (table: StagedTable, at: OnProgress) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  for (const [index, table] of tables.entries()) {
    signal.throwIfAborted()
    progress.at(stage, index / tables.length)
    const before = rowsOf(tables.slice(0, index))
    const at: OnProgress = (fraction, rows) =>
      progress.at(stage, (index + fraction) / tables.length, rows === undefined ? undefined : before + rows)
    results.push(await work(table, at))
  }
  return results
}

const rowsOf = (tables: readonly StagedTable[]): number =>
  tables.reduce((sum, { plan }) => sum + plan.layer.featureCount, 0)
