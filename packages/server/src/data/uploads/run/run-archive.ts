// Publishes uploaded tile archives.
import { filesPrefix, removeNowOrLater } from '../../../kernel/storage/file-store.ts'
import { isStorageUnavailable } from '../../../kernel/storage/storage-unavailable.ts'
import { cleanAttribution } from '../../tiles/source/attribution.ts'
import { publishArchive } from '../publish/publish.ts'
import { layerNameOf, ReadFault } from '../readers/reader.ts'
import { UploadFault } from '../record/upload-fault.ts'
import { type ClaimedUpload, holdsUpload } from '../record/upload-state.ts'
import type { LoadingParts } from './loading-parts.ts'

/** Stores an uploaded tile archive unchanged among the application's files, and publishes a tile source for it. */
export async function runArchive(
  parts: LoadingParts,
  upload: ClaimedUpload,
  source: string,
  kind: 'mbtiles' | 'pmtiles',
): Promise<void> {
  const { applicationId, id, options } = upload
  if (options.datasetId !== undefined) {
    throw new UploadFault('unsupported_format', 'An archive of tiles cannot replace the data of a dataset.')
  }
  const name = `${id}.${kind}`
  const key = filesPrefix(applicationId) + name
  // Not moved: if this attempt fails half-way, the next one still finds the file.
  await parts.files.put(key, source)
  try {
    const coverage = await parts.archiveMap(applicationId, `${kind}://${name}`).catch((error) => {
      if (isStorageUnavailable(error)) throw error
      throw new ReadFault('invalid_file', `The tiles cannot be read: ${error instanceof Error ? error.message : error}`)
    })
    const attribution = cleanAttribution(options.attribution ?? coverage.attribution ?? '')
    const called = (options.name ?? coverage.name ?? layerNameOf(upload.fileName)).slice(0, 255)
    const facts = { ...coverage, attribution, name: called }
    await publishArchive(parts, upload, layerNameOf(upload.fileName), `${kind}://${name}`, facts)
  } catch (error) {
    // Whoever has taken the upload over may have published the file. What stays needlessly, the janitor removes.
    if (await holdsUpload(parts.db, upload).catch(() => false)) await removeNowOrLater(parts.files, key)
    throw error
  }
}
