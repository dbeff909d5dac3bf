import { jsonOf } from '../engine/copy-binary.ts'
import { createReader } from '../engine/create-reader.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Reading } from '../engine/reading.ts'
import { readRecords, type SourceRecord } from '../engine/records.ts'
import {
  createFieldList,
  type FieldList,
  fieldIndex,
  kind,
  kindsOfJsonString,
  kindsOfLoose,
} from '../engine/type-inference.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { sides } from '../table/box-columns.ts'
import { isPairHeading, readAxisHeading } from '../table/coordinate-headings.ts'
import { type GeometryColumns, geometryOfRow } from '../table/geometry-cell.ts'
import { cellsOf, findGeometry } from '../table/geometry-columns.ts'
import { coordinateNamesOf, geometryColumnNames } from '../table/table.ts'
import { fieldFault, isDateHeading } from '../table/table-faults.ts'
import { chosenTypeOf, demandTypes, notOfType, nullTest, readTyped, typedColumn } from '../table/typed-cell.ts'
import { type TableRules, tableRulesOf } from '../table-rules.ts'
import { parseExactJson } from './exact-json.ts'
import { readObjects } from './objects.ts'
import type { RecordsMember } from './shape.ts'

type JsonOptions = {
  fileName: string
  warnings?: readonly Warning[]
  rules?: RowRules & TableRules
  signal: AbortSignal
}

type Layout = {
  names: string[]
  geometry: GeometryColumns
  warnings: readonly Warning[]
  srid?: number
  sridHint?: string
  rules: TableRules
}

/** JSON in UTF-8 that is no GeoJSON: a list of objects, or one object after another, read by the rules of tables. */
export async function openJsonRecords(
  file: string,
  member: RecordsMember,
  { fileName, warnings = [], rules = {}, signal }: JsonOptions,
): Promise<Reader> {
  if (rules.header !== undefined)
    throw fieldFault('header', 'This field is for CSV and XLSX: the objects of JSON name their values. Leave it out.')
  const layout = await layoutOf(file, member, signal, rules)
  const known = [...warnings, ...layout.warnings]
  return createReader({
    format: 'json',
    layers: [layerNameOf(fileName)],
    open: (_, options) => readJson(file, member, { ...layout, warnings: known }, options.signal),
    rules,
  })
}

const sampledObjects = 200

async function layoutOf(
  file: string,
  member: RecordsMember,
  signal: AbortSignal,
  rules: RowRules & TableRules,
): Promise<Layout> {
  const objects: Record<string, unknown>[] = []
  for await (const { texts } of readObjects(file, member, { signal })) {
    for (const text of texts.slice(0, sampledObjects - objects.length)) {
      const object = parseObject(text)
      if (object) objects.push(object)
    }
    if (objects.length >= sampledObjects) break
  }
  const names = [...new Set(objects.flatMap(Object.keys))]
  const sample = objects.map((object) => names.map((name) => cellOf(name, object[name])))
  const { geometryColumns: geometry, ...found } = findGeometry(names, sample, rules)
  demandTypes(rules, names, cellsOf(names, sample, rules))
  return { names, geometry, ...found, rules: tableRulesOf(rules) }
}

/** What a value would be in a table. */
function cellOf(name: string, value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  return pairText(name, value) ?? jsonOf(value)
}

/** Coordinates as `{"lat": …, "lng": …}`, as `{"coordinates": [lon, lat]}` like GeoJSON, or as `{"x": …, "y": …}` of a place. */
function pairText(name: string, value: object): string | undefined {
  // The third is the height; it stays in the column of the value.
  if (Array.isArray(value)) return isPairHeading(name) && isPosition(value) ? jsonOf(value.slice(0, 2)) : undefined
  const { coordinates, x, y, type } = value as Record<string, unknown>
  if (Array.isArray(coordinates) && type === undefined && isPosition(coordinates)) {
    return `lon: ${coordinates[0]}, lat: ${coordinates[1]}`
  }
  if (isPairHeading(name) && isPosition([x, y])) return `lon: ${x}, lat: ${y}`
  const named = Object.entries(value).flatMap(([key, one]) => {
    const axis = readAxisHeading(key)?.axis
    return axis && (typeof one === 'number' || typeof one === 'string') ? [`${axis}: ${one}`] : []
  })
  return named.length === 2 ? named.join(', ') : undefined
}

const isPosition = (list: readonly unknown[]): boolean =>
  (list.length === 2 || list.length === 3) && list.every((one) => typeof one === 'number')

function readJson(
  file: string,
  member: RecordsMember,
  { names, geometry, warnings, srid, sridHint, rules }: Layout,
  signal: AbortSignal,
): Reading {
  const fields = createFieldList()
  const ignored: string[] = []
  const left = geometry.kind === 'text' ? names[geometry.column] : undefined
  const coordinateNames = coordinateNamesOf(geometry, names)
  const shapeOf = (object: Record<string, unknown>): Pick<SourceRecord, 'geometry' | 'fault'> => {
    const read = geometryOfRow(rowFor(object, geometry, names), geometry)
    if (!('fault' in read)) return { geometry: read.geometry }
    const { column, value, problem } = read.fault
    return { geometry: null, fault: { column: names[column] ?? '', value, problem } }
  }
  const isNull = nullTest(rules)
  /** A value of the type that the client gave; undefined when it is none. */
  const readValue = (name: string, value: unknown): unknown => {
    if (isNull?.(value)) return null
    const type = chosenTypeOf(rules, name)
    return type ? readTyped(value, type, rules) : (value ?? null)
  }
  async function* batches() {
    for await (const { texts, fraction } of readObjects(file, member, { signal, ignored }))
      yield { records: texts.map((text) => recordOf(text, fields, left, shapeOf, readValue, rules)), fraction }
  }
  return readRecords({
    fields,
    kindsOf: (value, place) => kindsOf(value, rules, fields.names[place] ?? ''),
    typeOf: typedColumn(rules),
    batches: batches(),
    facts: () => ({
      srid,
      sridHint,
      geometryColumns: geometryColumnNames(geometry, names),
      warnings: [...warnings, ...ignoredWarnings(member, ignored)],
    }),
    ...(coordinateNames && { coordinateNames }),
  })
}

/** Numbers in text are text, but for those that JSON cannot have otherwise. */
function kindsOf(value: unknown, rules: TableRules, name: string): number {
  const quoted = typeof value === 'string' ? kindsOfJsonString(value) & quotedKinds : kind.none
  return quoted === kind.none ? kindsOfLoose(value, rules, isDateHeading(name)) : quoted
}

const quotedKinds = kind.quotedInteger | kind.longDecimal

/** The cells that the geometry is read from, where they are in the sample. */
function rowFor(
  object: Record<string, unknown>,
  geometryColumns: GeometryColumns,
  names: readonly string[],
): unknown[] {
  const row: unknown[] = []
  const put = (column: number, isText = false): void => {
    const name = names[column]
    if (name === undefined) return
    row[column] = isText ? cellOf(name, object[name]) : object[name]
  }
  if (geometryColumns.kind === 'xy')
    for (const column of [geometryColumns.x, geometryColumns.y, geometryColumns.z]) put(column)
  else if (geometryColumns.kind === 'box') for (const side of sides) put(geometryColumns[side])
  else if (geometryColumns.kind !== 'none') put(geometryColumns.column, geometryColumns.kind === 'pair')
  return row
}

function recordOf(
  text: string,
  fields: FieldList,
  left: string | undefined,
  shapeOf: (object: Record<string, unknown>) => Pick<SourceRecord, 'geometry' | 'fault'>,
  readValue: (name: string, value: unknown) => unknown,
  rules: TableRules,
): SourceRecord {
  const object = parseObject(text)
  if (!object) return { values: [], geometry: null, fault: { value: text, problem: 'is not an object' } }
  const found: unknown[] = []
  for (const [name, given] of Object.entries(object)) {
    if (name === left) continue
    const value = readValue(name, given)
    if (value === undefined) {
      const problem = notOfType(chosenTypeOf(rules, name) ?? 'string')
      const fault = { column: name, value: String(given), problem }
      return { values: [], geometry: null, fault }
    }
    found[fieldIndex(fields, name)] = value
  }
  const values = Array.from({ length: found.length }, (_, index) => found[index] ?? null)
  return { values, ...shapeOf(object) }
}

/** The object of a text; undefined when it is something else. */
function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseExactJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : undefined
}

function ignoredWarnings({ member, keyName }: RecordsMember, ignored: readonly string[]): Warning[] {
  if (keyName !== undefined) {
    const message = `Each member of the JSON object was read as a row; their names are the column ${JSON.stringify(keyName)}.`
    return [{ code: 'keyed_objects', message }]
  }
  if (ignored.length === 0) return []
  const names = ignored.slice(0, 5).map((name) => JSON.stringify(name))
  const message = `Only the list ${JSON.stringify(member)} was read, not ${names.join(', ')}. Send other lists as files of their own.`
  return [{ code: 'ignored_lists', message }]
}
