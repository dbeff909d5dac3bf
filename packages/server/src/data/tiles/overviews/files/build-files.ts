// Builds the overview of a table that is files, as a job, and stores its files.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Db } from '../../../../kernel/db/db.ts'
import { json, sql } from '../../../../kernel/db/sql.ts'
import { type FileStore, removeNowOrLater } from '../../../../kernel/storage/file-store.ts'
import type { Dataset } from '../../../datasets/dataset-record.ts'
import type { TileBudget } from '../../source/tile-budget.ts'
import { measureLoads } from '../../strategy/block-loads.ts'
import type { DensestTilesCache } from '../../thinning/densest-tiles.ts'
import { noteProgress, noteState } from '../overview-record.ts'
import type { DescribedFiles } from './describe-files.ts'
import { fileKey, fileNames, levelName, type OverviewFiles } from './file-overview.ts'
import { type WrittenLevel, writeOverview } from './write-overview.ts'

export type FileBuildOptions = {
  readonly db: Db
  readonly files: FileStore
  readonly densest: DensestTilesCache
  readonly budget: TileBudget
  storageLeft(applicationId: string): Promise<number>
  onError(error: unknown): void
}

/** Of all files of a dataset. */
const maxBytes = 2 * 1024 ** 3

/** A failure is noted and not tried again at once. */
export async function buildFiles(
  options: FileBuildOptions,
  { id, applicationId }: Dataset,
  described: DescribedFiles,
  signal: AbortSignal,
): Promise<void> {
  const { db, onError } = options
  const { version } = described
  await noteState(db, id, { state: 'building', version })
  try {
    const left = Math.max(0, await options.storageLeft(applicationId))
    const { levels, allFrom } = await writtenLevels(options, id, described, Math.min(maxBytes, left), signal)
    const made = await store(options.files, id, levels, allFrom)
    signal.throwIfAborted()
    await putInUse(options, id, described, made, levels)
  } catch (error) {
    if (signal.aborted) throw error
    const reason = error instanceof Error ? error.message : String(error)
    await noteState(db, id, { state: 'failed', version, error: reason }).catch(onError)
    onError(error)
  }
}

async function writtenLevels(
  { db, densest, budget }: FileBuildOptions,
  id: string,
  { query, derived, sampled }: DescribedFiles,
  bytes: number,
  signal: AbortSignal,
) {
  const { loads } = await densest.of(sampled, () => measureLoads(query), signal)
  const onProgress = (fraction: number): Promise<void> => noteProgress(db, id, fraction)
  return writeOverview({ derived, query, loads, budget, maxBytes: bytes, signal, onProgress })
}

async function store(
  files: FileStore,
  id: string,
  levels: readonly WrittenLevel[],
  allFrom: number,
): Promise<OverviewFiles> {
  const zooms = levels.flatMap(({ zoom }) => (zoom === 'all' ? [] : [zoom]))
  const made = { build: randomUUID(), zooms, allFrom, hasAll: levels.length > zooms.length }
  for (const { path, zoom } of levels) {
    await files.put(fileKey(id, made.build, `${levelName(zoom)}.parquet`), path)
    await rm(path, { force: true })
  }
  return made
}

async function putInUse(
  { db, files }: FileBuildOptions,
  id: string,
  { version, shape }: DescribedFiles,
  made: OverviewFiles,
  levels: readonly WrittenLevel[],
): Promise<void> {
  const [former] = await db.query<{ files: OverviewFiles | null }>(
    sql`SELECT files FROM svc.overviews WHERE dataset_id = ${id}::uuid`,
  )
  await db.query(sql`
    UPDATE svc.overviews SET state = 'built', progress = 1, version = ${version}, shape = ${shape}, files = ${json(made)},
      zooms = ${made.zooms}::int4[], row_counts = ${levels.map(({ rows }) => rows)}::int8[],
      bytes = ${levels.reduce((sum, { bytes }) => sum + bytes, 0)}::int8, built_at = clock_timestamp(), error = NULL
    WHERE dataset_id = ${id}::uuid`)
  const old = former?.files
  for (const name of old ? fileNames(old) : []) await removeNowOrLater(files, fileKey(id, old?.build ?? '', name))
}
