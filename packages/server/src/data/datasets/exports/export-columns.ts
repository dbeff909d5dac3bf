// What an export is told of its columns beyond their types.
import type { OutputColumn } from '../../../query/formats/cell.ts'
import type { ExportColumn } from '../../../query/formats/exports/export-order.ts'
import type { StoredType } from '../../../query/formats/table-note.ts'
import type { PlanColumn } from '../../../query/plan/plan.ts'
import { type AttributeType, valueTypeOf } from '../../../query/values/attribute.ts'
import type { Dataset } from '../dataset-record.ts'

export function exportColumns(columns: readonly OutputColumn[], dataset: Dataset): ExportColumn[] {
  const dbTypes = new Map(dataset.attributes.map((dto) => [dto.name, valueTypeOf(dto)]))
  const keys = dataset.attributes.filter(({ primaryKey }) => primaryKey)
  const key = dataset.type === 'table' && keys.length === 1 ? keys[0]?.name : undefined
  return columns.map((column) => exportColumn(column, dbTypes, key))
}

function exportColumn(column: PlanColumn, dbTypes: ReadonlyMap<string, string>, key: string | undefined): ExportColumn {
  const { name, type, attribute, aggregate, distanceTo } = column
  if (!attribute || aggregate || distanceTo) return { name, type, stored: storedType(type) }
  const dbType = dbTypes.get(attribute.name) ?? ''
  return {
    name,
    type,
    stored: attribute.sqlType === 'timetz' ? 'text' : storedType(type, dbType, attribute.withoutZone),
    ...(attribute.name === key && { isKey: true }),
    ...(type === 'number' && decimalOf(dbType)),
    ...(type === 'geometry' && geometryOf(dbType)),
    ...(attribute.withoutZone && { withoutZone: true }),
    ...(attribute.sqlType === 'timetz' && { withZone: true }),
  }
}

function storedType(type: AttributeType, dbType = '', withoutZone = false): StoredType {
  if (type === 'integer') return /^(integer|int|int2|int4|smallint)$/i.test(dbType) ? 'integer' : 'bigint'
  if (type === 'number') return /^(numeric|decimal)\b/i.test(dbType) ? 'numeric' : 'number'
  if (type === 'datetime') return withoutZone ? 'timestamp' : 'timestamptz'
  return sameTypes[type]
}

/** What has no type of its own in uploads is text of JSON there. */
const sameTypes: Readonly<Record<Exclude<AttributeType, 'integer' | 'number' | 'datetime'>, StoredType>> = {
  string: 'text',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  uuid: 'uuid',
  json: 'json',
  array: 'json',
  binary: 'binary',
  geometry: 'json',
}

/** `numeric(20,3)`; `DECIMAL(18,3)` of DuckDB. */
function decimalOf(dbType: string): Pick<ExportColumn, 'decimal'> {
  const [, precision, scale = '0'] = /^(?:numeric|decimal)\((\d+)(?:,\s*(\d+))?\)$/i.exec(dbType) ?? []
  return precision === undefined ? {} : { decimal: { precision: Number(precision), scale: Number(scale) } }
}

/** `geometry(MultiPolygonZ,4326)`: PostGIS accepts nothing else in such a column. */
function geometryOf(dbType: string): Pick<ExportColumn, 'geometryType' | 'hasZ' | 'hasM'> {
  const [, type, height, measure] = /^(?:public\.)?geo(?:metry|graphy)\((\w+?)(Z?)(M?)(?:,\d+)?\)$/i.exec(dbType) ?? []
  return type === undefined ? {} : { geometryType: type, hasZ: height !== '', hasM: measure !== '' }
}
