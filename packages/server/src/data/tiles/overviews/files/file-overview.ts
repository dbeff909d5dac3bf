// Overviews of tables that are files: Parquet files sorted by place, one for each thinned zoom and one with all rows.
import { hash } from 'node:crypto'
import type { BlockSource } from '../../../datasets/dataset-type.ts'
import type { DatasetLayer } from '../../source/dataset-layer.ts'

/** What the files of a build are. */
export type OverviewFiles = {
  /** Names the build, and its files. */
  readonly build: string
  /** The thinned zooms that have a file. */
  readonly zooms: readonly number[]
  /** From this zoom on all rows are shown. */
  readonly allFrom: number
  /** Whether there is a file with all rows. */
  readonly hasAll: boolean
}

export type FileOverview = {
  /** Changes when it is rebuilt. */
  readonly version: string
  /** Where the rows of a zoom are, and whether they stand for others; undefined if they are in no file. */
  levelOf(zoom: number): { readonly table: string; readonly isThinned: boolean } | undefined
  /** The columns that its files have. */
  readonly columns: ReadonlySet<string>
  /** The files on this machine. */
  connection(): Promise<BlockSource['connection']>
}

/** In storage, below this prefix, by dataset. */
export const overviewKeys = (datasetId: string): string => `overviews/${datasetId}/`

export const levelName = (zoom: number | 'all'): string => (zoom === 'all' ? 'all_rows' : `zoom_${zoom}`)

export const fileNames = ({ zooms, hasAll }: OverviewFiles): string[] => [
  ...zooms.map((zoom) => `${levelName(zoom)}.parquet`),
  ...(hasAll ? [`${levelName('all')}.parquet`] : []),
]

/** A file for each name; the build is in it, so that a reader of the former one finds no other rows. */
export const fileKey = (datasetId: string, build: string, name: string): string =>
  `${overviewKeys(datasetId)}${build}-${name}`

/** What tiles show of rows, but for long values, which are read from the table when they are asked for. */
export const overviewColumns = ({ dataset }: Pick<DatasetLayer, 'dataset'>): string[] =>
  dataset.attributes.filter(({ type }) => type !== 'geometry' && type !== 'binary').map(({ name }) => name)

/** Changes when older files no longer fit the dataset. */
export function shapeOfFiles(
  { dataset, geometry }: Pick<DatasetLayer, 'dataset' | 'geometry'>,
  budget: object,
): string {
  const columns = dataset.attributes.map(({ name, dbType }) => [name, dbType])
  const { source, databaseId, type } = dataset
  return hash('sha1', JSON.stringify([2, geometry, columns, source, databaseId, type, budget]), 'base64url').slice(
    0,
    12,
  )
}
