import { layerNameOf } from './readers/reader.ts'
import type { Claimed } from './upload-state.ts'

const longestName = 255

/**
 * A dataset is called as the client says, else after its file. The name of the layer is that of the dataset only where a file
 * holds several: nobody looks for "entities", "Sheet1" or "export".
 */
export function datasetName(
  { fileName, options }: Pick<Claimed, 'fileName' | 'options'>,
  layer: string,
  layers: number,
) {
  const ofFile = layers > 1 || options.layer !== undefined ? layer : layerNameOf(fileName)
  const ofClient = layers > 1 ? `${options.name}: ${layer}` : options.name
  const name = options.name === undefined ? ofFile : (ofClient ?? '')
  return name.toWellFormed().replaceAll('\0', '').slice(0, longestName) || 'Upload'
}
