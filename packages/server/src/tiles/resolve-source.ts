import { ApiError, invalid } from '../errors.ts'
import { parseArchiveUri } from './archives/archive-uri.ts'
import { findLocalFile } from './archives/local-file.ts'
import { geometryOf, type TileDatasets } from './known-sources.ts'
import type { Resolve } from './tile-source.ts'

/** Resolves the `source` of a tile source within its application. What is on the web is not asked. */
export function createResolve(
  data: Pick<TileDatasets, 'find'>,
  directoryOf: (applicationId: string) => string,
): Resolve {
  return async (applicationId, type, source) => {
    if (type === 'dataset') {
      const dataset = await data.find(applicationId, source)
      if (!dataset) throw absentDataset()
      geometryOf(dataset)
      return
    }
    const uri = parseArchiveUri(source)
    if (!('file' in uri)) return
    await findLocalFile(directoryOf(applicationId), uri.file).catch((error) => {
      throw error instanceof ApiError ? invalid('body/source', 'There is no file of tiles with this name.') : error
    })
  }
}

/** The same words for a dataset of another tenant, one beyond the caller's reach, one that never was, and no id at all. */
export const absentDataset = (): ApiError => invalid('body/source', 'must be the id of a dataset of this application')
