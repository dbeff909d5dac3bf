// What an export is told of its columns beyond their types.
import type { OutputColumn } from '../../../query/formats/cell.ts'
import type { ExportColumn } from '../../../query/formats/exports/export-order.ts'
import type { PlanColumn } from '../../../query/plan/plan.ts'
import { valueTypeOf } from '../../../query/values/attribute.ts'
import type { Dataset } from '../dataset-record.ts'

export function exportColumns(columns: readonly OutputColumn[], dataset: Dataset): ExportColumn[] {
  const dbTypes = new Map(dataset.attributes.map((dto) => [dto.name, valueTypeOf(dto)]))
  return columns.map((column) => exportColumn(column, dbTypes))
}

function exportColumn(column: PlanColumn, dbTypes: ReadonlyMap<string, string>): ExportColumn {
  const { name, type, attribute, aggregate, distanceTo } = column
  if (!attribute || aggregate || distanceTo) return { name, type }
  const dbType = dbTypes.get(attribute.name) ?? ''
  return {
    name,
    type,
    ...(type === 'number' && decimalOf(dbType)),
    ...(type === 'geometry' && geometryOf(dbType)),
    ...(attribute.withoutZone && { withoutZone: true }),
    ...(attribute.sqlType === 'timetz' && { withZone: true }),
  }
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
