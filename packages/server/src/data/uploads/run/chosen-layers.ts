// Which layers of a file are loaded.

import type { StagedTable } from '../load/staged-table.ts'
import { stagingName } from '../load/staging.ts'
import { planTable } from '../load/table-plan.ts'
import type { Target } from '../load/target.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'
import type { ScannedLayer } from '../readers/reader.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'
import type { UploadRun } from './upload-run.ts'

const maxLayers = 100

export function chosenLayers(
  layers: readonly string[],
  { options }: Pick<ClaimedUpload, 'options'>,
): readonly string[] {
  const { layer, datasetId } = options
  const shown = layers.slice(0, 20).map((name) => JSON.stringify(name))
  if (layer !== undefined) {
    if (layers.includes(layer)) return [layer]
    throw new UploadFault('layer_not_found', `There is no layer "${layer}". The file has ${shown.join(', ')}.`)
  }
  const isTooMany = layers.length > (datasetId === undefined ? maxLayers : 1)
  if (!isTooMany) return layers
  throw new UploadFault(
    'layer_required',
    `The file has ${layers.length} layers. Name one of them in the field layer: ${shown.join(', ')}.`,
  )
}

const leftOut = { code: 'empty_layer', message: 'The layer has no features, so it was left out.' }

/** Empty layers are left out beside others; where all are empty they are tables without rows. */
async function scanLayers(reader: ReaderProcess, names: readonly string[], run: UploadRun): Promise<ScannedLayer[]> {
  const [filled, empty]: [ScannedLayer[], ScannedLayer[]] = [[], []]
  const tell = (layer: ScannedLayer, warnings: ScannedLayer['warnings']): void => {
    run.warnings.push(...warnings.map((warning) => ({ ...warning, ...placed(layer, names.length) })))
  }
  for (const [index, name] of names.entries()) {
    run.progress.at('scanning', index / names.length)
    const onProgress = (fraction: number) => run.progress.at('scanning', (index + fraction) / names.length)
    const layer = await reader.scan(name, onProgress)
    const list = layer.featureCount > 0 ? filled : empty
    list.push(layer)
    if (list === filled) tell(layer, layer.warnings)
  }
  for (const layer of empty) tell(layer, filled.length > 0 ? [leftOut] : layer.warnings)
  return filled.length > 0 ? filled : empty
}

export async function planLayers(
  upload: ClaimedUpload,
  target: Target,
  reader: ReaderProcess,
  run: UploadRun,
  names: readonly string[],
): Promise<StagedTable[]> {
  const layers = await scanLayers(reader, names, run)
  return layers.map((layer, index) => ({
    target,
    name: stagingName(upload.id, upload.attempt, index),
    plan: planTable(layer, upload.options),
  }))
}

/** The layer that a warning is of, where there are several. */
export const placed = ({ name }: ScannedLayer, layers: number): { layer?: string } =>
  layers > 1 ? { layer: name } : {}
