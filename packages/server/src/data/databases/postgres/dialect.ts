import { type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Dialect, GeometryForm } from '../../../query/execution/dialect.ts'
import { column, located, postgresSql } from '../../../query/execution/postgres-sql.ts'
import { movedSql } from '../../../query/filter/shape-sql.ts'
import { jsonWriter } from '../../../query/formats/json.ts'
import type { PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute, AttributeType } from '../../../query/values/attribute.ts'

/** PostgreSQL with PostGIS carries out whole plans. */
export const postgresDialect: Dialect = { ...postgresSql, transferSql, reading: canonicalOf }

/** Values whose text form is PostgreSQL's own alone travel in one that everybody reads. */
function transferSql(shown: PlanColumn, value: Sql, { geometry, srid }: GeometryForm): Sql {
  const { type, attribute, aggregate, isSortKey } = shown
  if (isSortKey && attribute?.isOrdered) return sql`(${value})::text`
  if (type === 'geometry' && attribute && !aggregate) return geometrySql(attribute, { geometry, srid })
  if (type === 'array') return itemsSql(attribute?.itemType, value, srid)
  if (type === 'binary') return sql`translate(encode(${value}, 'base64'), ${'\n'}, '')`
  return value
}

function geometrySql(attribute: Attribute, { geometry, srid }: GeometryForm): Sql {
  if (geometry === 'wkt') return wktSql(attribute, srid)
  const place = movedSql(attribute, column(attribute), srid)
  const oriented = attribute.ringless ? place : rightHanded(place, attribute)
  return geometry === 'wkb' ? sql`encode(ST_AsBinary(${oriented}, 'NDR'), 'hex')` : sql`ST_AsGeoJSON(${oriented}, 9)`
}

/** WKT has all types, so that shapes stay as they are if their system does, and coordinates of an unknown system as well. */
function wktSql(attribute: Attribute, srid: number): Sql {
  const value = column(attribute)
  if (attribute.isOutsideDegrees && srid === 4326) return sql`ST_AsText(${value}, 9)`
  const moved = sql`ST_AsText(${movedSql(attribute, value, srid)}, 9)`
  if (attribute.isVarying)
    return sql`CASE WHEN ST_SRID(${value}) = ${srid}::int4 THEN ST_AsText(${value}, 9) ELSE ${moved} END`
  return (attribute.srid || 4326) === srid ? sql`ST_AsText(${located(attribute)}, 9)` : moved
}

/** Outer rings counter-clockwise. Two reversals leave lines as they are; where there are none, one is enough. */
const rightHanded = (place: Sql, { isAreal }: Pick<Attribute, 'isAreal'> = {}): Sql =>
  isAreal ? sql`ST_Reverse(ST_ForcePolygonCW(${place}))` : sql`ST_Reverse(ST_ForcePolygonCW(ST_Reverse(${place})))`

/** An array as JSON. Datetimes go as the text that they have outside of arrays, which JSON's own is not. */
function itemsSql(itemType: AttributeType | undefined, value: Sql, srid: number): Sql {
  if (itemType === 'datetime') return sql`to_json((${value})::text[])::text`
  if (itemType !== 'geometry') return sql`to_json(${value})::text`
  const item = sql`CASE WHEN ST_SRID(item::geometry) = 0 THEN ST_SetSRID(item::geometry, 4326) ELSE item::geometry END`
  const place = rightHanded(sql`ST_Transform(${item}, ${srid}::int4)`)
  const list = sql`(SELECT coalesce(json_agg(ST_AsGeoJSON(${place}, 9)::json), '[]') FROM unnest(${value}) AS item)`
  return sql`CASE WHEN ${value} IS NOT NULL THEN ${list}::text END`
}

type Change = (cell: string) => string

function canonicalOf({ type, attribute, isSortKey }: PlanColumn): Change | undefined {
  const itemType = isSortKey ? undefined : attribute?.itemType
  if (type === 'boolean') return (cell) => (cell === 't' ? 'true' : 'false')
  if (type === 'datetime') return isoOf
  return type === 'array' && itemType ? itemChanges[itemType] : undefined
}

/** What PostgreSQL's JSON has otherwise than a value outside of an array. */
const itemChanges: { readonly [type in AttributeType]?: Change } = {
  integer: exactItems(jsonWriter('integer')),
  number: exactItems(jsonWriter('number')),
  datetime: (cell) => cell.replace(/"([^"]+)"/g, (_, text) => `"${isoOf(text)}"`),
  binary: (cell) => cell.replace(/"\\\\x([\da-f]*)"/g, (_, hex) => `"${Buffer.from(hex, 'hex').toString('base64')}"`),
}

/** Fewer than sixteen digits are always exact, and most lists hold no others. */
function exactItems(write: Change): Change {
  return (cell) => (/[\d.]{16}/.test(cell) ? cell.replace(/-?\d[\d.e+-]*/g, write) : cell)
}

/** `2026-01-31 10:00:00.5+00` → `2026-01-31T10:00:00.5Z`; infinity and years before Christ stay as they are. */
function isoOf(cell: string): string {
  if (!/^\d{4,}-\d\d-\d\d /.test(cell) || cell.endsWith('BC')) return cell
  return cell.replace(' ', 'T').replace(/\+00$/, 'Z')
}
