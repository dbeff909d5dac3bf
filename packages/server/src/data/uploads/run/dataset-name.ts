import { layerNameOf } from '../readers/reader.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'

const longestName = 255

/**
 * The name is the client's choice, else the file's name. The layer's name is used only if a file has several layers,
 * because "entities", "Sheet1" or "export" means nothing to users.
 */
export function datasetName(
  { fileName, options }: Pick<ClaimedUpload, 'fileName' | 'options'>,
  layer: string,
  layers: number,
) {
  const ofFile = layers > 1 || options.layer !== undefined ? layer : layerNameOf(fileName)
  const ofClient = layers > 1 ? `${options.name}: ${layer}` : options.name
  const name = options.name === undefined ? ofFile : (ofClient ?? '')
  return name.toWellFormed().replaceAll('\0', '').slice(0, longestName) || 'Upload'
}
