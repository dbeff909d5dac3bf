// What a source has no tile of: another form, another zoom, parameters of an archive.
import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { isVector } from './tile-json.ts'
import type { TileRequest } from './tile-request.ts'

const rasterForms: Readonly<Record<string, readonly string[]>> = { jpg: ['jpg', 'jpeg'] }

type Forms = readonly (string | undefined)[]

/** Images are not made from vector data, nor vice versa. */
function formsOf(loadedSource: LoadedTileSource): Forms {
  if (isVector(loadedSource)) return ['mvt', 'pbf', 'geojson']
  const format = loadedSource.archive?.format
  return rasterForms[format ?? ''] ?? [format]
}

export function checkTile(
  loadedSource: LoadedTileSource,
  { tile: { z }, extension }: Pick<TileRequest, 'tile' | 'extension'>,
  forms: Forms = formsOf(loadedSource),
): void {
  if (!forms.includes(extension))
    throw new ApiError('not_found', `This source has no ${extension} tiles. Ask for ${forms.join(' or ')}.`)
  const { minZoom, maxZoom } = loadedSource.source
  if (z < minZoom || z > maxZoom)
    throw new ApiError('not_found', `This source has tiles from zoom ${minZoom} to ${maxZoom}.`)
}

/** An archive has its tiles ready, so nothing can be asked of them. */
export function checkTileParameters({ layer }: LoadedTileSource, parameters: TileRequest['parameters']): void {
  const [first] = layer ? [] : Object.keys(parameters)
  if (first === undefined) return
  throw invalid(`query/${first}`, 'is only for tiles of datasets; this source is an archive of ready tiles')
}
