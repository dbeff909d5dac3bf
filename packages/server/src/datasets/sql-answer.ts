import { type Sql, sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Cell } from '../formats/cell.ts'
import { jsonWriter } from '../formats/json.ts'
import type { AttributeType } from '../query/attribute.ts'
import type { Connection, SelectOptions } from '../query/connection.ts'
import { explainSelect } from '../query/explain.ts'
import type { Column, Plan } from '../query/plan.ts'
import { located, planSql, type Relation } from '../query/plan-sql.ts'
import type { Answered, Shape } from './sources.ts'

/** Runs a plan where the data are. */
export async function answerInSql(
  connection: Connection,
  relation: Relation,
  plan: Plan,
  shape: Shape,
  options: SelectOptions,
): Promise<Answered> {
  const statement = planSql(plan, relation, (column, value) => travelling(column, value, shape))
  const { columns, batches, isWhole } = await connection.select(statement, { ...options, isStream: true })
  if (columns.length !== plan.columns.length) {
    // Nothing is let go of before it is read.
    for await (const _ of batches) break
    throw new ApiError('upstream_failed', 'The database server sent other columns than were asked for.')
  }
  const canonical = plan.columns.map(({ type, attribute }) => canonicalOf(type, attribute?.itemType))
  if (canonical.every((change) => change === undefined)) return { columns: plan.columns, batches, isWhole }
  return { columns: plan.columns, batches: changed(batches, canonical), isWhole }
}

export async function explainInSql(
  connection: Connection,
  relation: Relation,
  plan: Plan,
  options: SelectOptions,
): Promise<unknown> {
  return explainSelect(
    connection,
    planSql(plan, relation, (_, value) => value),
    options,
  )
}

/** Values whose text form is PostgreSQL's own alone travel in one that everybody reads. */
function travelling({ type, attribute, aggregate }: Column, value: Sql, { geometry, srid }: Shape): Sql {
  if (type === 'geometry' && attribute && !aggregate) {
    const isThere = !attribute.mixed && (attribute.srid || 4326) === srid
    const place = isThere ? located(attribute) : sql`ST_Transform(${located(attribute)}, ${srid}::int4)`
    return geometry === 'wkt'
      ? sql`ST_AsText(${place}, 9)`
      : sql`ST_AsGeoJSON(${attribute.ringless ? place : rightHanded(place)}, 9)`
  }
  if (type === 'array') return itemsSql(attribute?.itemType, value, srid)
  if (type === 'binary') return sql`translate(encode(${value}, 'base64'), ${'\n'}, '')`
  return value
}

/** Outer rings counter-clockwise. ST_ForcePolygonCCW would turn lines around as well. */
const rightHanded = (place: Sql): Sql => sql`ST_Reverse(ST_ForcePolygonCW(ST_Reverse(${place})))`

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

function canonicalOf(type: AttributeType, itemType: AttributeType | undefined): Change | undefined {
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

async function* changed(
  batches: AsyncIterable<Cell[][]>,
  changes: readonly (Change | undefined)[],
): AsyncGenerator<Cell[][]> {
  const places = changes.flatMap((change, index) => (change ? [{ change, index }] : []))
  for await (const batch of batches) {
    for (const cells of batch) {
      for (const { change, index } of places) {
        const cell = cells[index]
        if (cell !== null && cell !== undefined) cells[index] = change(cell)
      }
    }
    yield batch
  }
}
