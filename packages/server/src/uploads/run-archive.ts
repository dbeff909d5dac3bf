// Publishes uploaded tile archives.
import { link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanAttribution } from '../tiles/attribution.ts'
import type { LoadingParts } from './loading-parts.ts'
import { publishArchive } from './publish.ts'
import { layerNameOf, ReadFault } from './readers/reader.ts'
import { UploadFault } from './upload-fault.ts'
import type { Claimed } from './upload-state.ts'

/** Stores an uploaded tile archive unchanged among the application's files, and publishes a tile source for it. */
export async function runArchive(
  parts: LoadingParts,
  upload: Claimed,
  source: string,
  kind: 'mbtiles' | 'pmtiles',
): Promise<void> {
  const { applicationId, id, options } = upload
  if (options.datasetId !== undefined) {
    throw new UploadFault('unsupported_format', 'An archive of tiles cannot replace the data of a dataset.')
  }
  const files = join(parts.directory, 'files', applicationId)
  const name = `${id}.${kind}`
  const file = join(files, name)
  await mkdir(files, { recursive: true })
  await rm(file, { force: true })
  // Linked, not moved: if this attempt fails half-way, the next one still finds the file.
  await link(source, file)
  try {
    const found = await parts.archiveMap(applicationId, `${kind}://${name}`).catch((error) => {
      throw new ReadFault('invalid_file', `The tiles cannot be read: ${error instanceof Error ? error.message : error}`)
    })
    const attribution = cleanAttribution(options.attribution ?? found.attribution ?? '')
    const called = (options.name ?? found.name ?? layerNameOf(upload.fileName)).slice(0, 255)
    const facts = { ...found, attribution, name: called }
    await publishArchive(parts, upload, layerNameOf(upload.fileName), `${kind}://${name}`, facts)
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}
