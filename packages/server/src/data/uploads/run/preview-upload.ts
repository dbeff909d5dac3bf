/**
 * The dry run of an upload: opens the file as an upload would, in a reader process, and tells what would be made of it. It creates
 * nothing. Of a large file it reads the beginning only, and says so.
 */
import { mkdir } from 'node:fs/promises'
import { createAdmission } from '../../../kernel/concurrency/admission.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { raw, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { geometryColumn, keyCandidateColumn, keyColumn } from '../load/column-names.ts'
import { demandKnownSrids } from '../load/known-srids.ts'
import {
  isBeyondAntimeridian,
  planTable,
  type Reprojection,
  roundingDegrees,
  rowsRequest,
  type TablePlan,
} from '../load/table-plan.ts'
import { transformFault } from '../load/transform-fault.ts'
import { wrapWarning } from '../load/wrap-longitudes.ts'
import type { FileSummary, SampleRow } from '../reader-process/reader-messages.ts'
import type { ReaderProcess } from '../reader-process/reader-process.ts'
import { ReadFault, type ScannedLayer, type Warning } from '../readers/reader.ts'
import type { UploadFormFields } from '../record/upload.ts'
import { faultOf } from '../record/upload-fault.ts'
import type { PreviewedLayer, UploadPreview } from '../record/upload-preview.ts'
import { chosenLayers } from './chosen-layers.ts'
import { datasetName } from './dataset-name.ts'
import type { LoadingParts, ReaderPool } from './loading-parts.ts'
import { readingOptions, sourceFile, workDirectory } from './upload-files.ts'

/** Files up to this size are read as a whole, so that all warnings are known. */
const wholeBytes = 4 * 1024 * 1024
const shownRows = 10
const shownLayers = 20
const mostMs = 20_000

/** A file that has arrived. */
export type ReceivedUpload = {
  readonly id: string
  readonly applicationId: string
  readonly fileName: string
  readonly size: number
  readonly options: UploadFormFields
}

export type PreviewUpload = (upload: ReceivedUpload, signal: AbortSignal) => Promise<UploadPreview>

const atOnce = { total: 2, perOwner: 1, maxWaiting: 20, waitMs: 30_000 } as const

const busy = (): Error =>
  new ApiError(
    'busy',
    `This server reads ${atOnce.total} files for previews at once, its limit. Try again in a moment.`,
    {
      headers: { 'Retry-After': '10' },
    },
  )

/** A few at once, one of each application: a reader takes a core. */
export function createPreviews(
  parts: Pick<LoadingParts, 'db' | 'directory' | 'allowNativeGdal'> & ReaderPool,
): PreviewUpload {
  const admission = createAdmission({ ...atOnce, sharesQueue: true, refuse: busy })
  return async (upload, signal) => {
    const leave = await admission.admit(upload.applicationId, { signal })
    const limit = AbortSignal.timeout(mostMs)
    const reader = parts.takeReader(AbortSignal.any([signal, limit]))
    try {
      return await preview(parts, upload, reader)
    } catch (error) {
      signal.throwIfAborted()
      return { ...emptyPreview(upload), error: limit.aborted ? tooSlow : errorOf(error) }
    } finally {
      leave()
      await reader.end()
    }
  }
}

const tooSlow = {
  code: 'read_timeout',
  message: `The preview took longer than ${mostMs / 1000} s and was stopped. An upload has more time.`,
}

const emptyPreview = ({ fileName, size }: ReceivedUpload): UploadPreview => ({
  fileName,
  size,
  format: null,
  layers: [],
  error: {},
})

function errorOf(error: unknown): UploadPreview['error'] {
  const fault = faultOf(error)
  if (!fault || (error instanceof ReadFault && error.code === 'field_mismatch')) throw error
  return fault
}

type Parts = Pick<LoadingParts, 'db' | 'directory' | 'allowNativeGdal'>

async function preview(parts: Parts, upload: ReceivedUpload, reader: ReaderProcess): Promise<UploadPreview> {
  const { directory, allowNativeGdal } = parts
  const file = sourceFile(directory, upload.id)
  const work = workDirectory(directory, upload.id)
  await mkdir(work, { recursive: true })
  const opened = await reader.open(file, {
    fileName: upload.fileName,
    directory: work,
    allowNativeGdal,
    isSample: true,
    ...readingOptions(upload.options),
  })
  if ('archive' in opened) return { ...emptyPreview(upload), format: opened.archive }
  return { ...emptyPreview(upload), format: opened.format, ...(await previewLayers(parts, upload, reader, opened)) }
}

async function previewLayers(
  parts: Parts,
  upload: ReceivedUpload,
  reader: ReaderProcess,
  opened: Extract<FileSummary, { layers: string[] }>,
): Promise<Pick<UploadPreview, 'layers' | 'error'>> {
  const names = chosenLayers(opened.layers, upload)
  const layers: PreviewedLayer[] = []
  let error: UploadPreview['error'] = {}
  for (const name of names.slice(0, shownLayers)) {
    try {
      const layer = await readLayer(reader, name, opened.bytes <= wholeBytes)
      if (layer) layers.push(await previewLayer(parts.db, upload, reader, layer, names.length))
    } catch (fault) {
      if (!(fault instanceof ReadFault && fault.code === 'no_features' && names.length > 1)) error = errorOf(fault)
    }
  }
  if (layers.length === 0 && error.code === undefined) {
    error = { code: 'no_features', message: 'The file has no features.' }
  }
  const filled = layers.filter(({ rowsRead }) => rowsRead > 0)
  return { layers: filled.length > 0 ? filled : layers, error }
}

async function readLayer(reader: ReaderProcess, name: string, isWhole: boolean): Promise<ScannedLayer | undefined> {
  return isWhole ? reader.scan(name, () => undefined) : reader.guess(name)
}

async function previewLayer(
  db: Db,
  upload: ReceivedUpload,
  reader: ReaderProcess,
  layer: ScannedLayer,
  layers: number,
): Promise<PreviewedLayer> {
  const plan = planTable(layer, upload.options)
  const sample = await reader.sample({ ...rowsRequest(plan), count: shownRows })
  const { geometry } = plan
  const shapes = geometry ? await shapesOf(db, sample, geometry.reprojection) : []
  const columns = plan.columns.slice(1, layer.fields.length + 1)
  const shortened = new Set(
    sample.flatMap((row) => row.shortened.map((index) => shownName(plan.columns[index]?.name ?? ''))),
  )
  return {
    layer: layer.name,
    name: datasetName({ fileName: upload.fileName, options: upload.options }, layer.name, layers),
    columns: columns.map(({ name, type, original }, index) => ({
      name: original ?? name,
      column: shownName(name),
      type: attributeTypes[layer.fields[index]?.type ?? 'text'],
      dbType: type,
    })),
    geometry: geometry
      ? {
          type: geometry.type,
          columns: [...(layer.geometryColumns ?? [])],
          srid: geometry.reprojection.source || null,
          targetSrid: geometry.reprojection.target,
        }
      : null,
    rowsRead: layer.featureCount,
    isWhole: layer.isPart !== true,
    rows: sample.map((row, index) => rowOf(plan, row, shapes[index])),
    shortened: [...shortened],
    warnings: [...layer.warnings, ...wrapWarnings(plan)],
  }
}

/** What only the database finds out of an upload is known of its extent. */
const wrapWarnings = ({ layer: { extent }, geometry }: TablePlan): Warning[] =>
  geometry?.reprojection.source === 4326 && extent && isBeyondAntimeridian(extent, roundingDegrees)
    ? [wrapWarning('Some rows have')]
    : []

const attributeTypes: Readonly<Record<ScannedLayer['fields'][number]['type'], string>> = {
  boolean: 'boolean',
  integer: 'integer',
  bigint: 'integer',
  number: 'number',
  numeric: 'number',
  date: 'date',
  timestamp: 'datetime',
  timestamptz: 'datetime',
  time: 'time',
  json: 'json',
  text: 'string',
  binary: 'binary',
  uuid: 'uuid',
}

/** That a key of the file has a value for each row is believed of it here; the database finds out. */
const shownName = (name: string): string => (name === keyCandidateColumn ? keyColumn : name)

/** A row as a query of the dataset would answer it. */
function rowOf(plan: TablePlan, { values }: SampleRow, shape: unknown): Record<string, unknown> {
  const { columns, geometry } = plan
  const named = columns.slice(0, values.length).map(({ name }, index) => [shownName(name), values[index] ?? null])
  return Object.fromEntries(geometry ? [...named, [geometryColumn, shape ?? null]] : named)
}

/** Geometries in WGS 84; the database transforms them, as it would those of an upload. */
async function shapesOf(db: Db, sample: readonly SampleRow[], reprojection: Reprojection): Promise<unknown[]> {
  const { source, text } = reprojection
  await demandKnownSrids(db, [source])
  const hex = sample.map(({ geometry }) => geometry)
  const moved =
    text === undefined
      ? sql`ST_Transform(ST_SetSRID(shape, ${source}::int4), 4326)`
      : sql`ST_Transform(shape, ${text}::text, 4326)`
  try {
    const rows = await db.query<{ shape: string | null }>(sql`
      SELECT ST_AsGeoJSON(${source === 4326 ? raw('shape') : moved}, 9) AS shape
      FROM (SELECT place, ST_GeomFromEWKB(decode(hex, 'hex')) AS shape
            FROM unnest(${hex}::text[]) WITH ORDINALITY AS given (hex, place)) AS shapes ORDER BY place`)
    return rows.map(({ shape }) => (shape === null ? null : JSON.parse(shape)))
  } catch (error) {
    throw transformFault(error, 4326)
  }
}
