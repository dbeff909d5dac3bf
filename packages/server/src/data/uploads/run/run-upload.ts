/**
 * The life of an upload: open, scan, load, index, publish. Each step is a folder:
 *
 * 1. `http/` receives the form, streams the file to disk and to the storage, and writes the record (`record/`).
 * 2. `run/` takes the next record under a lease (`upload-attempt.ts`) and comes here.
 * 3. `reader-process/` starts a process without secrets or database, whose `readers/` turn bytes into rows of COPY.
 * 4. `load/` plans the table, loads and indexes it under a hidden name.
 * 5. `publish/` makes table, dataset, tile source and the status `completed` visible in one transaction.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { cleanAttribution } from '../../tiles/source/attribution.ts'
import { mapOf } from '../../tiles/source/detect-coverage.ts'
import { indexTable } from '../load/index-staging.ts'
import { rebuildStaging } from '../load/rebuild-staging.ts'
import type { ReplacedDataset } from '../load/replaced-table.ts'
import type { StagedTable } from '../load/staged-table.ts'
import { copyRows, createStaging, extentOf, transform } from '../load/staging.ts'
import { rowsRequest } from '../load/table-plan.ts'
import { wrapLongitudes } from '../load/wrap-longitudes.ts'
import { type Publishable, publish } from '../publish/publish.ts'
import type { FileSummary } from '../reader-process/reader-messages.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'
import type { Warning } from '../readers/reader.ts'
import type { ClaimedUpload } from '../record/upload-state.ts'
import { chosenLayers, placed, planLayers } from './chosen-layers.ts'
import { datasetName } from './dataset-name.ts'
import { loadGuessed } from './load-guessed.ts'
import type { LoadingParts, ReaderPool } from './loading-parts.ts'
import { runArchive } from './run-archive.ts'
import { findDestination } from './upload-destination.ts'
import { fetchSource, readingOptions, sourceFile, workDirectory } from './upload-files.ts'
import { eachTable, type OnProgress, type UploadRun } from './upload-run.ts'

/** Loads a file and publishes its layers, or throws. */
export async function runUpload(
  parts: LoadingParts & ReaderPool,
  upload: ClaimedUpload,
  signal: AbortSignal,
  run: UploadRun,
): Promise<void> {
  const work = workDirectory(parts.directory, upload.id)
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true })
  run.progress.at('unpacking', 0)
  const file = sourceFile(parts.directory, upload.id)
  await fetchSource(parts.files, upload.id, file, signal)
  const reader = parts.takeReader(signal)
  try {
    const opened = await reader.open(file, {
      fileName: upload.fileName,
      directory: work,
      allowNativeGdal: parts.allowNativeGdal,
      ...readingOptions(upload.options),
    })
    if ('archive' in opened) await runArchive(parts, upload, file, opened.archive)
    else await runLayers(parts, upload, signal, run, reader, opened)
  } finally {
    await reader.end()
  }
}

type OpenedLayers = Extract<FileSummary, { layers: string[] }>

async function runLayers(
  parts: LoadingParts,
  upload: ClaimedUpload,
  signal: AbortSignal,
  run: UploadRun,
  reader: ReaderProcess,
  opened: OpenedLayers,
): Promise<void> {
  const { target, replaced } = await findDestination(parts, upload)
  const names = chosenLayers(opened.layers, upload)
  const [only] = names
  const guessed = names.length === 1 && only !== undefined ? await loadGuessed(upload, target, reader, run, only) : null
  const planned = guessed ? [guessed.staged] : await planLayers(upload, target, reader, run, names)
  const load = async (table: StagedTable, at: OnProgress): Promise<StagedTable> => {
    await createStaging(table)
    return copyRows(table, reader.encode(rowsRequest(table.plan), at))
  }
  const loaded = guessed?.isLoaded ? planned : await eachTable(run, 'loading', planned, signal, load)
  await reader.end()
  const warn = ({ plan: { layer } }: StagedTable, warnings: readonly Warning[]): void => {
    run.warnings.push(...warnings.map((warning) => ({ ...warning, ...placed(layer, loaded.length) })))
  }
  const isEmbedded = target.db.kind === 'embedded'
  const tables = await eachTable(run, 'transforming', loaded, signal, async (table) => {
    // Its rows are moved while they are indexed.
    if (isEmbedded) return table
    const { staged, warnings } = await wrapLongitudes(table)
    warn(table, warnings)
    await transform(staged)
    return staged
  })
  const indexed = await eachTable(run, 'indexing', tables, signal, async (table, at) => {
    const rebuilt = isEmbedded ? await rebuildStaging(table, at) : { staged: table, warnings: [] }
    warn(table, [...rebuilt.warnings, ...(await indexTable(rebuilt.staged))])
    return rebuilt.staged
  })
  const published = await eachTable(run, 'publishing', indexed, signal, (staged) =>
    describe(parts, upload, { staged, layers: tables.length, replaced }),
  )
  signal.throwIfAborted()
  await publish(parts, upload, published, run.warnings, signal)
}

async function describe(
  parts: LoadingParts,
  upload: ClaimedUpload,
  { staged, layers, replaced }: { staged: StagedTable; layers: number; replaced: ReplacedDataset | undefined },
): Promise<Publishable> {
  const { applicationId, options } = upload
  const { target, plan } = staged
  const { attributes, bytes } = await parts.inspect(applicationId, target.databaseId, staged.name)
  const name = replaced?.name ?? datasetName(upload, plan.layer.name, layers)
  const attribution = options.attribution === undefined ? {} : { attribution: cleanAttribution(options.attribution) }
  const map = plan.geometry && { ...mapOf(await extentOf(staged), plan.layer.featureCount), ...attribution }
  return {
    staged,
    name,
    attributes,
    bytes,
    id: options.datasetId ?? randomUUID(),
    ...(map && { map }),
    ...(replaced && { replaces: { table: replaced.tableIn(target.schema) } }),
  }
}
