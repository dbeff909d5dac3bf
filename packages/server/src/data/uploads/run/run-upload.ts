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
import { join } from 'node:path'
import { isNotFound } from '../../../kernel/errors.ts'
import { type FileStore, removeNowOrLater, uploadKey } from '../../../kernel/storage/file-store.ts'
import { cleanAttribution } from '../../tiles/source/attribution.ts'
import { mapOf } from '../../tiles/source/detect-coverage.ts'
import { indexTable } from '../load/index-staging.ts'
import { demandReplaceable, demandSameSource, type ReplacedDataset } from '../load/replaced-table.ts'
import type { StagedTable } from '../load/staged-table.ts'
import { copyRows, createStaging, extentOf, stagingName, transform } from '../load/staging.ts'
import { planTable, rowsRequest } from '../load/table-plan.ts'
import type { Target } from '../load/target.ts'
import { wrapLongitudes } from '../load/wrap-longitudes.ts'
import { type Publishable, publish } from '../publish/publish.ts'
import type { FileSummary } from '../reader-process/reader-messages.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'
import type { ScannedLayer, Warning } from '../readers/reader.ts'
import { tableRulesOf } from '../readers/table-rules.ts'
import { createProgress, type ProgressOptions, type UploadProgress } from '../record/progress.ts'
import { UploadFault } from '../record/upload-fault.ts'
import type { ClaimedUpload, LayerWarning } from '../record/upload-state.ts'
import { datasetName } from './dataset-name.ts'
import { loadGuessed } from './load-guessed.ts'
import type { LoadingParts } from './loading-parts.ts'
import { runArchive } from './run-archive.ts'

/** Starts a reader process that ends with the signal. */
export type ReaderPool = { takeReader(signal: AbortSignal): ReaderProcess }

const maxLayers = 100

const uploadDirectory = (directory: string, id: string): string => join(directory, 'uploads', id)
export const sourceFile = (directory: string, id: string): string => join(uploadDirectory(directory, id), 'source')
/** Unpacked files; removed before another attempt. */
export const workDirectory = (directory: string, id: string): string => join(uploadDirectory(directory, id), 'work')

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

/** Another replica may have received the file. */
async function fetchSource(files: FileStore, id: string, path: string, signal: AbortSignal): Promise<void> {
  await files.fetch(uploadKey(id), path, signal).catch((error) => {
    if (!isNotFound(error)) throw error
    throw new UploadFault('invalid_file', 'The file is no longer stored. Send it again.', {}, error)
  })
}

/** Removes what an upload has on this machine and in the storage, once it has ended. */
export async function removeUpload(
  { directory, files }: Pick<LoadingParts, 'directory' | 'files'>,
  id: string,
): Promise<void> {
  await rm(uploadDirectory(directory, id), { recursive: true, force: true })
  await removeNowOrLater(files, uploadKey(id))
}

/** The client's settings for reading the file. */
export const readingOptions = ({ layer, encoding, sourceSrid, strict, ...rest }: ClaimedUpload['options']) => ({
  ...(layer !== undefined && { layer }),
  ...(encoding !== undefined && { encoding }),
  ...(sourceSrid !== undefined && { sourceSrid }),
  ...(strict !== undefined && { strict }),
  ...tableRulesOf(rest),
})

/** The state of one upload in progress. */
export type UploadRun = {
  readonly progress: UploadProgress
  /** Kept outside the result, so that they are known even if the upload fails later. */
  readonly warnings: LayerWarning[]
}

export const createRun = (upload: ClaimedUpload, options: ProgressOptions): UploadRun => ({
  progress: createProgress(upload, options),
  warnings: [],
})

async function runLayers(
  parts: LoadingParts,
  upload: ClaimedUpload,
  signal: AbortSignal,
  run: UploadRun,
  reader: ReaderProcess,
  opened: Extract<FileSummary, { layers: string[] }>,
): Promise<void> {
  const replaced = await findReplaced(parts, upload)
  const found = await parts.target(upload.applicationId, replaced?.databaseId)
  const room = found.isPlatform
    ? await parts.storage.measure(parts.db, upload.applicationId).then((quota) => quota.left(parts.db, upload.id))
    : Number.POSITIVE_INFINITY
  const target = { ...found, room }
  // Checked again when publishing; this early check only saves work.
  if (replaced) {
    const ownSchema = target.isPlatform ? target.schema : undefined
    await demandReplaceable(target.db, ownSchema, replaced.tableIn(target.schema))
  }
  const names = chosenLayers(opened.layers, upload)
  const [only] = names
  const guessed = names.length === 1 && only !== undefined ? await loadGuessed(upload, target, reader, run, only) : null
  const planned = guessed ? [guessed.staged] : await planLayers(upload, target, reader, run, names)
  const each = async <T>(
    stage: Parameters<UploadProgress['at']>[0],
    tables: readonly StagedTable[],
    work: (table: StagedTable, at: OnProgress) => Promise<T>,
  ): Promise<T[]> => {
    const results: T[] = []
    for (const [index, table] of tables.entries()) {
      signal.throwIfAborted()
      run.progress.at(stage, index / tables.length)
      const before = rowsOf(tables.slice(0, index))
      const at: OnProgress = (fraction, rows) =>
        run.progress.at(stage, (index + fraction) / tables.length, rows === undefined ? undefined : before + rows)
      results.push(await work(table, at))
    }
    return results
  }
  const load = async (table: StagedTable, at: OnProgress): Promise<StagedTable> => {
    await createStaging(table)
    return copyRows(table, reader.encode(rowsRequest(table.plan), at))
  }
  const loaded = guessed?.isLoaded ? planned : await each('loading', planned, load)
  await reader.end()
  const warn = ({ plan: { layer } }: StagedTable, warnings: readonly Warning[]): void => {
    run.warnings.push(...warnings.map((warning) => ({ ...warning, ...placed(layer, loaded.length) })))
  }
  const tables = await each('transforming', loaded, async (table) => {
    const { staged, warnings } = await wrapLongitudes(table)
    warn(table, warnings)
    await transform(staged)
    return staged
  })
  await each('indexing', tables, async (table) => warn(table, await indexTable(table)))
  const published = await each('publishing', tables, (staged) =>
    describe(parts, upload, { staged, layers: tables.length, replaced }),
  )
  signal.throwIfAborted()
  await publish(parts, upload, published, run.warnings, signal)
}

type OnProgress = (fraction: number, rows?: number) => void

const rowsOf = (tables: readonly StagedTable[]): number =>
  tables.reduce((sum, { plan }) => sum + plan.layer.featureCount, 0)

async function planLayers(
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

const placed = ({ name }: ScannedLayer, layers: number): { layer?: string } => (layers > 1 ? { layer: name } : {})

async function findReplaced(
  parts: LoadingParts,
  { applicationId, options, replaces }: ClaimedUpload,
): Promise<ReplacedDataset | undefined> {
  if (options.datasetId === undefined) return undefined
  const found = await parts.findReplaced(applicationId, options.datasetId)
  if (found?.type !== 'table')
    throw new UploadFault('dataset_gone', 'The dataset was deleted, or is no longer of type table.')
  demandSameSource(found, replaces)
  return found
}

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
