// The schema of the table that a layer becomes.

import type { Extent } from '../../../query/geometry/geometry-type.ts'
import type { RowsRequest } from '../reader-process/reader-messages.ts'
import {
  type EncodedColumn,
  type FieldType,
  geometryColumnType,
  notedGeometryType,
  type ScannedField,
  type ScannedLayer,
} from '../readers/reader.ts'
import { UploadFault } from '../record/upload-fault.ts'
import { columnNames, geometryColumn, keyCandidateColumn, keyColumn } from './column-names.ts'
import { sridOfText } from './srid-of-text.ts'

export type PlannedColumn = {
  readonly name: string
  /** The database type. */
  readonly type: string
  /** The column's name in the file, if it differs. */
  readonly original?: string
}

/** Source and target reference systems. */
export type Reprojection = {
  /** 0 if only the text of a reference system is known. */
  readonly source: number
  readonly text?: string
  readonly target: number
}

export type TablePlan = {
  readonly layer: ScannedLayer
  readonly columns: readonly PlannedColumn[]
  /** The same columns in the reader's encoding. */
  readonly encoded: readonly EncodedColumn[]
  readonly geometry?: { readonly type: string; readonly isAreal: boolean; readonly reprojection: Reprojection }
  /** A field is called like the key. It becomes the key if each row has a value of its own, else a column of this name. */
  readonly keyCandidate?: string
}

/** The rows to read. Polygons that will be transformed may become invalid, so all of them are checked later. */
export function rowsRequest({ layer, encoded, geometry }: TablePlan): RowsRequest {
  const isMoved = geometry?.reprojection.source !== geometry?.reprojection.target
  return { layer: layer.name, columns: encoded, hasAreas: geometry?.isAreal === true && !isMoved }
}

const columnTypes: Record<FieldType, string> = {
  boolean: 'boolean',
  integer: 'integer',
  bigint: 'bigint',
  number: 'double precision',
  numeric: 'numeric',
  date: 'date',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  time: 'time',
  json: 'jsonb',
  text: 'text',
  binary: 'bytea',
  uuid: 'uuid',
}

const databaseType = ({ type, digits }: ScannedField): string =>
  type === 'numeric' && digits ? `numeric(${digits.precision},${digits.scale})` : columnTypes[type]

export type PlanOptions = {
  readonly sourceSrid?: number
  readonly targetSrid?: number
  /** `none` leaves out what the file has. */
  readonly geometry?: string | undefined
}

/** Plans the table of a layer. */
export function planTable(layer: ScannedLayer, options: PlanOptions): TablePlan {
  const { keyCandidate, ...fields } = planFields(layer)
  const columns: PlannedColumn[] = [{ name: keyColumn, type: 'bigint' }, ...fields.columns]
  const encoded: EncodedColumn[] = [{ kind: 'fid' }, ...fields.encoded]
  const key = keyCandidate && { keyCandidate }
  if (!hasGeometry(layer) || options.geometry === 'none') return { layer, columns, encoded, ...key }
  const reprojection = reprojectionOf(layer, options)
  const { type, isMulti } = notedGeometryType(layer) ?? geometryColumnType(layer.geometryTypes)
  const hasZ = layer.hasZ || /Z$/.test(layer.notedGeometry ?? '')
  const named = `${type}${hasZ ? 'Z' : ''}`
  columns.push({ name: geometryColumn, type: `geometry(${named},${reprojection.source})` })
  encoded.push({ kind: 'geometry', srid: reprojection.source, hasZ, isMulti })
  const isAreal = [...layer.geometryTypes].some((one) => /Polygon|Collection/.test(one))
  return { layer, columns, encoded, ...key, geometry: { type: named, isAreal, reprojection } }
}

type PlannedFields = Pick<TablePlan, 'columns' | 'encoded' | 'keyCandidate'>

/** The columns of the fields. One that may be the key is named when that is known. */
function planFields(layer: ScannedLayer): PlannedFields {
  const isStandard = isEmpty(layer) ? isStandardColumn : () => false
  const fields = layer.fields.map((field, index) => ({ field, index })).filter(({ field }) => !isStandard(field))
  const key = fields.find(({ field }) => isLikeKey(field))
  const others = fields.filter((one) => one !== key)
  const names = columnNames(others.map(({ field }) => field.name))
  const nameOf = new Map(others.map(({ index }, at) => [index, names[at] ?? '']))
  const columns = fields.map(({ field, index }): PlannedColumn => {
    const name = nameOf.get(index) ?? keyCandidateColumn
    const type = index === key?.index ? 'bigint' : databaseType(field)
    return name === field.name ? { name, type } : { name, type, original: field.name }
  })
  const encoded = fields.map(({ field, index }): EncodedColumn => {
    const type = index === key?.index ? 'bigint' : field.type
    return { kind: 'field', field: index, type }
  })
  return { columns, encoded, ...(key && { keyCandidate: columnNames([...names, keyColumn]).at(-1) ?? '' }) }
}

const isEmpty = ({ featureCount, isPart }: ScannedLayer): boolean => featureCount === 0 && isPart !== true

/** A heading alone says no types; these are the columns that every table has. */
const isStandardColumn = ({ name, type }: ScannedField): boolean =>
  type === 'text' && (name === keyColumn || name === geometryColumn)

const hasGeometry = (layer: ScannedLayer): boolean =>
  layer.geometryTypes.size > 0 ||
  layer.isSpatial === true ||
  (isEmpty(layer) && layer.fields.some(({ name }) => name === geometryColumn))

/** An export of an uploaded table has its key among the fields. */
const isLikeKey = ({ name, type }: ScannedField): boolean =>
  name.toLowerCase() === keyColumn && (type === 'integer' || type === 'bigint')

/**
 * The client's setting takes precedence over the file's. Without either, the coordinates must at least look like
 * degrees.
 */
function reprojectionOf(layer: ScannedLayer, { sourceSrid, targetSrid = 4326 }: PlanOptions): Reprojection {
  if (sourceSrid !== undefined) return { source: sourceSrid, target: targetSrid }
  const srid = sridIn(layer)
  if (srid === 4326)
    demandDegrees(layer, `The file says that its coordinates are degrees, but they reach ${rangeOf(layer)}.`)
  if (srid !== undefined) return { source: srid, target: targetSrid }
  if (layer.wkt) return { source: 0, text: layer.wkt, target: targetSrid }
  demandDegrees(
    layer,
    'The file does not say in which reference system its coordinates are, and they are not degrees.',
    layer.sridHint,
  )
  return { source: 4326, target: targetSrid }
}

/** The number of the system that the file names. */
function sridIn({ srid, wkt }: ScannedLayer): number | undefined {
  return srid !== undefined && srid > 0 ? srid : wkt ? sridOfText(wkt) : undefined
}

const rangeOf = ({ extent: [west, south, east, north] = [0, 0, 0, 0] }: ScannedLayer): string =>
  `from ${west}, ${south} to ${east}, ${north}`

function demandDegrees({ extent, name }: ScannedLayer, problem: string, hint?: string): void {
  if (looksLikeDegrees(extent)) return
  const advice =
    'Give their system in the field sourceSrid; or, if they are no coordinates, give the field geometry: "none".'
  throw new UploadFault('srid_required', [problem, ...(hint === undefined ? [] : [hint]), advice].join(' '), {
    layer: name,
  })
}

/** Data around the antimeridian may extend beyond 180. */
function looksLikeDegrees(extent: ScannedLayer['extent']): boolean {
  if (!extent) return true
  const [west, south, east, north] = extent
  return west >= -360 && east <= 360 && south >= -90 && north <= 90
}

/** Such rows are moved: no box would find them. */
export const isBeyondAntimeridian = ([west, , east]: Extent, by = 0): boolean => west < -180 - by || east > 180 + by

/** An error of rounding: so many degrees (0.1 mm) beyond ±180 are on it. A power of two, so that a grid of it has 180 exactly. */
export const roundingDegrees = 2 ** -30
