import { link, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { publishArchive } from './publish.ts'
import { layerNameOf, ReadFault } from './readers/reader.ts'
import type { LoadingParts } from './run-upload.ts'
import { UploadFault } from './upload-fault.ts'
import type { Claimed } from './upload-state.ts'

/** Keeps an uploaded archive of tiles as it is, among the application's files, and publishes a tile source of it. */
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
  // Not moved: should this try fail half-way, the next one finds the file where it was.
  await link(source, file)
  try {
    const found = await parts.archiveMap(applicationId, `${kind}://${name}`).catch((error) => {
      throw new ReadFault('invalid_file', `The tiles cannot be read: ${error instanceof Error ? error.message : error}`)
    })
    const attribution = parts.cleanAttribution(options.attribution ?? found.attribution ?? '')
    const called = (options.name ?? found.name ?? layerNameOf(upload.fileName)).slice(0, 255)
    const facts = { ...found, attribution, name: called }
    await publishArchive(parts, upload, layerNameOf(upload.fileName), `${kind}://${name}`, facts)
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}
