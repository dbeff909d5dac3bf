// Keeps overviews of tables that are files. One replica builds them, in a process of its own beside those that answer queries; they are
// stored where the service stores files, and each replica reads them from its disk.
import { mkdir, readdir, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLoadingCache } from '../../../../kernel/concurrency/loading-cache.ts'
import { sql } from '../../../../kernel/db/sql.ts'
import type { Jobs } from '../../../../kernel/jobs/jobs.ts'
import { removeNowOrLater } from '../../../../kernel/storage/file-store.ts'
import type { Dataset } from '../../../datasets/dataset-record.ts'
import type { BlockSource } from '../../../datasets/dataset-type.ts'
import { buildFiles, type FileBuildOptions } from './build-files.ts'
import { type DescribedFiles, type DescribeOptions, describeFiles } from './describe-files.ts'
import {
  type FileOverview,
  fileKey,
  fileNames,
  levelName,
  type OverviewFiles,
  overviewColumns,
  overviewKeys,
} from './file-overview.ts'

export type FileOverviewsOptions = FileBuildOptions &
  DescribeOptions & {
    readonly jobs: Pick<Jobs, 'work' | 'send' | 'cancel'>
    /** Copies of the files of this machine. */
    readonly directory: string
    findDataset(applicationId: string, id: string): Promise<Dataset | undefined>
  }

export type FileOverviews = {
  /** The overview of the files as they are now. A missing or outdated one is queued, not waited for. */
  find(dataset: Dataset): Promise<FileOverview | undefined>
  /** Ends the work on a dataset's overview, and removes its files. */
  cancel(datasetId: string): Promise<void>
}

type Job = { readonly applicationId: string; readonly datasetId: string }

const queue = 'file-overviews'

/** Where a machine keeps copies of them. */
export const overviewDirectory = (dataDirectory: string): string => join(dataDirectory, 'duckdb/overviews')
const backoffMs = 600_000
const lookMs = 2_000

export function createFileOverviews(options: FileOverviewsOptions): FileOverviews {
  const { jobs, files, findDataset, onError } = options
  const opened = createLoadingCache<BlockSource['connection']>({ ttlMs: Number.POSITIVE_INFINITY, max: 1_000 })

  jobs.work<Job>(queue, { concurrency: 1 }, async ({ data: { applicationId, datasetId } }, signal) => {
    const dataset = await findDataset(applicationId, datasetId)
    const described = dataset && (await describeFiles(options, dataset, signal))
    if (described) await buildFiles(options, dataset, described, signal)
  })

  return {
    async find(dataset) {
      const { id, applicationId } = dataset
      const described = await describeFiles(options, dataset, AbortSignal.timeout(lookMs)).catch(() => undefined)
      if (!described) return undefined
      const record = await recordOf(options, id)
      const fits = record?.version === described.version && record.shape === described.shape
      if (!fits && !hasFailed(record, described)) {
        jobs.send(queue, { applicationId, datasetId: id }, { singletonKey: id }).catch(onError)
      }
      const made = fits ? record.files : null
      if (!made || fileNames(made).length === 0) return undefined
      return overviewOf(described, made, () =>
        opened.get(`${id} ${made.build}`, () => openFiles(options, described, made)),
      )
    },
    async cancel(datasetId) {
      await jobs.cancel(queue, datasetId)
      await removeNowOrLater(files, overviewKeys(datasetId))
      await rm(join(options.directory, datasetId), { recursive: true, force: true })
    },
  }
}

type OverviewRow = {
  readonly state: string
  readonly version: string | null
  readonly shape: string | null
  readonly files: OverviewFiles | null
  readonly triedVersion: string
  readonly triedAt: Date
}

async function recordOf({ db }: Pick<FileOverviewsOptions, 'db'>, id: string): Promise<OverviewRow | undefined> {
  const [row] = await db.query<OverviewRow>(sql`
    SELECT state, version, shape, files, tried_version AS "triedVersion", tried_at AS "triedAt"
    FROM svc.overviews WHERE dataset_id = ${id}::uuid`)
  return row
}

/** A moment ago, with the same files. */
const hasFailed = (record: OverviewRow | undefined, { version }: DescribedFiles): boolean =>
  record?.state === 'failed' && record.triedVersion === version && Date.now() - Number(record.triedAt) < backoffMs

const overviewOf = (
  { layer }: DescribedFiles,
  { build, zooms, allFrom, hasAll }: OverviewFiles,
  connection: FileOverview['connection'],
): FileOverview => ({
  version: build,
  columns: new Set(overviewColumns(layer)),
  levelOf(zoom) {
    if (zoom >= allFrom) return hasAll ? { table: levelName('all'), isThinned: false } : undefined
    return zooms.includes(zoom) ? { table: levelName(zoom), isThinned: true } : undefined
  },
  connection,
})

/** The files of a build on this machine, as a database. */
async function openFiles(
  { files, directory }: Pick<FileOverviewsOptions, 'files' | 'directory'>,
  { layer: { dataset }, derived }: DescribedFiles,
  made: OverviewFiles,
): Promise<BlockSource['connection']> {
  const folder = join(directory, dataset.id)
  const copies = join(folder, made.build)
  for (const other of await readdir(folder).catch(() => [])) {
    if (other !== made.build) await rm(join(folder, other), { recursive: true, force: true })
  }
  await mkdir(copies, { recursive: true, mode: 0o700 })
  for (const name of fileNames(made)) await files.fetch(fileKey(dataset.id, made.build, name), join(copies, name))
  return derived.read(`overview ${dataset.id}`, await realpath(copies))
}
