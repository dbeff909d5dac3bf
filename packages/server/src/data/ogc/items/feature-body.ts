// Features in the bodies of requests: whole ones to create and replace, and patches.

import { ApiError, invalid } from '../../../kernel/errors.ts'
import type { InputCrs } from '../../editing/input/geometry-column.ts'
import type { InputRow } from '../../editing/input/input-row.ts'
import { type FeatureInput, featureRow, readObject } from '../../editing/input/input-rows.ts'
import type { EditColumn, EditTable } from '../../editing/writing/edit-table.ts'
import { type Crs, crs84, parseCrs } from '../collections/crs.ts'
import { mediaTypes } from '../links.ts'
import type { CollectionContext } from '../ogc-services.ts'

type Members = Readonly<Record<string, unknown>>

/** A body and its table. */
export type FeatureBody = { readonly body: unknown; readonly table: EditTable; readonly crs: Crs & InputCrs }

/** What the database gives is left to it: clients send back all that they were shown, and null for what they do not know. */
export function newFeature({ body, table, crs }: FeatureBody): InputRow {
  const row = featureRow(wholeFeature(body, crs), 'body', table)
  return { ...row, cells: row.cells.filter(({ name, value }) => !isLeft(table.columns.get(name), value, table)) }
}

/** As the address has the id, one in the body does not count. */
export function replacingFeature(feature: FeatureBody): InputRow {
  const row = newFeature(feature)
  return { ...row, cells: row.cells.filter(({ name }) => !feature.table.key.some((one) => one.name === name)) }
}

function isLeft(column: EditColumn | undefined, value: unknown, { key }: EditTable): boolean {
  if (!column) return false
  const { isGenerated, identity, isNotNull, hasDefault } = column
  if (isGenerated || identity === 'always') return true
  return value === null && (key.includes(column) || (isNotNull && (hasDefault || identity !== undefined)))
}

function wholeFeature(body: unknown, crs: Crs): FeatureInput {
  const value: FeatureInput & Members = { ...readObject(body) }
  if (value.type === 'FeatureCollection')
    throw invalid('body/type', 'must be Feature: send one at a time, or many to /api/v1/datasets/{id}/rows')
  if (value.type !== 'Feature') throw invalid('body/type', 'must be Feature: the body is a GeoJSON feature')
  if (!('properties' in value) && !('geometry' in value))
    throw invalid('body', 'must have the members geometry and properties')
  refuseOtherCrs(value, crs)
  return value
}

const patched = ['type', 'id', 'geometry', 'properties', 'bbox', 'links', 'crs', 'coordRefSys']

/** A JSON Merge Patch (RFC 7396) of the GeoJSON of a feature. */
export function featurePatch({ body, table, crs }: FeatureBody): InputRow {
  const value: FeatureInput & Members = { ...readObject(body) }
  const unknown = Object.keys(value).find((name) => !patched.includes(name))
  if (unknown !== undefined)
    throw invalid(
      `body/${unknown.slice(0, 100)}`,
      'must be in properties: a patch has the members geometry and properties',
    )
  if ('type' in value && value.type !== 'Feature') throw invalid('body/type', 'must be Feature, or left out')
  if (value.properties === null) throw invalid('body/properties', 'must be an object')
  refuseOtherCrs(value, crs)
  return featureRow(value, 'body', table)
}

/** Members of older and newer kinds of GeoJSON say where positions are; a contradiction would put them elsewhere. */
function refuseOtherCrs(feature: Members, { uri }: Crs): void {
  const geometry = (typeof feature.geometry === 'object' && feature.geometry) || {}
  const said = [feature.crs, feature.coordRefSys, Reflect.get(geometry, 'crs')].filter((one) => one != null)
  if (said.every((member) => parseCrs(crsNameOf(member))?.uri === uri)) return
  throw invalid('body', 'must not name another reference system than the Content-Crs header does')
}

/** `{"type": "name", "properties": {"name": "EPSG:3857"}}`, or the name itself. */
const crsNameOf = (member: unknown): string =>
  String(typeof member === 'string' ? member : (Object(member).properties?.name ?? ''))

/** The reference system of the body's geometries, with or without angle brackets. */
export async function contentCrs({ request, services }: CollectionContext): Promise<Crs & InputCrs> {
  const header = String(request.headers['content-crs'] ?? crs84.uri)
  const crs = await services.readCrs(header.trim().replace(/^<(.*)>$/, '$1'), 'header/content-crs')
  return { ...crs, isInDegrees: crs.definition.includes('+proj=longlat') }
}

/** JSON is accepted for each of them, as people send it by hand. */
export function demandType({ request }: CollectionContext, type: string): void {
  const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType === type || mediaType === mediaTypes.json) return
  throw new ApiError('unsupported_media_type', `The body must be of type ${type}.`)
}
