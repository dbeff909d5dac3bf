import { type FileMetaData, parquetSchema, type SchemaTree } from 'hyparquet'
import { type NotedColumn, noteName, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import type { DecimalDigits } from '../engine/numeric-binary.ts'
import { type FieldType, maxFields, ReadFault, type Warning } from '../reader.ts'
import { decimalDigits, holdsDecimals } from './decimals.ts'

export type ParquetColumn = {
  readonly name: string
  readonly type: FieldType
  /** How many of its units make a microsecond, for times; else 1. */
  readonly microsPerUnit: number
  readonly digits?: DecimalDigits
  /** What it held before it was exported, where Parquet has only text for it. */
  readonly noted?: NotedColumn
}

export type ParquetLayout = {
  readonly columns: readonly ParquetColumn[]
  readonly geometry?: { readonly name: string; readonly encoding: string }
  readonly srid?: number
  readonly wkt?: string
  readonly warnings: readonly Warning[]
  readonly note?: TableNote | undefined
}

type GeoColumn = { encoding?: unknown; crs?: unknown; covering?: { bbox?: { xmin?: unknown } } }

/** Which columns there are, which of them is the geometry, and its reference system. */
export function layoutOf(metadata: FileMetaData): ParquetLayout {
  const { children } = parquetSchema(metadata)
  if (children.length > maxFields + 2)
    throw new ReadFault('too_many_columns', `The table has more than ${maxFields} columns, the limit.`)
  const geometries = geoColumns(metadata) ?? nativeColumns(children)
  const present = Object.keys(geometries.columns).filter((name) =>
    children.some((child) => child.element.name === name),
  )
  const primary = present.includes(geometries.primary) ? geometries.primary : present[0]
  const covering = Object.values(geometries.columns).map(({ covering: cover }) => firstOf(cover?.bbox?.xmin))
  const left = new Set([...present, ...covering])
  const note = parseNote(metadata.key_value_metadata?.find(({ key }) => key === noteName)?.value)
  const columns = children
    .filter(({ element }) => !left.has(element.name))
    .map((child) => withNote(columnOf(child), note))
  const others = present.filter((name) => name !== primary)
  const warnings = others.length
    ? [{ code: 'geometry_columns_ignored', message: `Of the geometry columns only "${primary}" was loaded.` }]
    : []
  warnings.push(...nestedDecimals(children.filter(({ element }) => !left.has(element.name))))
  if (primary === undefined) return { columns, warnings, note }
  const { encoding, ...geo } = geometries.columns[primary] ?? {}
  const geometry = { name: primary, encoding: typeof encoding === 'string' ? encoding : 'WKB' }
  return { columns, geometry, ...referenceOf(geo), warnings, note }
}

function withNote(column: ParquetColumn, note: TableNote | undefined): ParquetColumn {
  const noted =
    column.type === 'text' && note?.columns.find(({ name, type }) => name === column.name && type !== 'text')
  return noted ? { ...column, noted } : column
}

function firstOf(path: unknown): unknown {
  return Array.isArray(path) ? path[0] : undefined
}

/** What the metadata of GeoParquet say. */
function geoColumns(metadata: FileMetaData): { primary: string; columns: Record<string, GeoColumn> } | undefined {
  const text = metadata.key_value_metadata?.find(({ key }) => key === 'geo')?.value
  if (text === undefined) return undefined
  try {
    const geo = JSON.parse(text)
    const columns: Record<string, GeoColumn> = Object.fromEntries(
      Object.entries(geo.columns ?? {}).filter(([, column]) => typeof column === 'object' && column !== null),
    ) as Record<string, GeoColumn>
    return { primary: String(geo.primary_column), columns }
  } catch (error) {
    throw new ReadFault('invalid_file', 'The GeoParquet metadata is not valid JSON.', {}, error)
  }
}

/** Newer Parquet knows geometries itself. */
function nativeColumns(children: readonly SchemaTree[]): { primary: string; columns: Record<string, GeoColumn> } {
  const columns: Record<string, GeoColumn> = {}
  for (const { element } of children) {
    const { logical_type: logical } = element
    if (logical?.type !== 'GEOMETRY' && logical?.type !== 'GEOGRAPHY') continue
    columns[element.name] = logical.crs === undefined ? {} : { crs: logical.crs }
  }
  return { primary: '', columns }
}

/** Without a crs it is the longitude and latitude of WGS 84; null means that it is not known. */
function referenceOf(geo: { crs?: unknown }): { srid?: number; wkt?: string } {
  const { crs } = geo
  if (crs === undefined) return { srid: 4326 }
  if (crs === null) return {}
  if (typeof crs === 'string') return referenceOfText(crs)
  const { authority, code } = (crs as { id?: { authority?: unknown; code?: unknown } }).id ?? {}
  const reference = referenceOfText(`${authority}:${code}`)
  // PROJ reads its JSON where it reads WKT.
  return reference.srid === undefined ? { wkt: JSON.stringify(crs) } : reference
}

function referenceOfText(text: string): { srid?: number; wkt?: string } {
  if (/^(OGC:)?CRS84h?$/i.test(text)) return { srid: 4326 }
  const code = /^(?:EPSG|SRID):(\d{1,6})$/i.exec(text)?.[1]
  if (code) return { srid: Number(code) }
  return /^[{A-Z]/i.test(text) && text.length > 40 ? { wkt: text } : {}
}

/** Decimals in lists and structures become numbers of JSON, which are read as doubles. */
function nestedDecimals(columns: readonly SchemaTree[]): Warning[] {
  const names = columns.filter(holdsDecimals).map(({ element }) => JSON.stringify(element.name))
  if (names.length === 0) return []
  const message = `Decimals in lists and structures (${names.slice(0, 10).join(', ')}) became numbers of JSON, so digits beyond the 15th may be lost. Write them as columns of their own to keep all.`
  return [{ code: 'rounded_numbers', message }]
}

function columnOf({ element, children }: SchemaTree): ParquetColumn {
  const isNested = children.length > 0 || element.repetition_type === 'REPEATED'
  const digits = isNested ? undefined : decimalDigits(element)
  if (digits) return { name: element.name, type: 'numeric', microsPerUnit: 1, digits }
  const { type, microsPerUnit = 1 } = isNested ? { type: 'json' as const } : leafType(element)
  return { name: element.name, type, microsPerUnit }
}

function leafType(element: SchemaTree['element']): { type: FieldType; microsPerUnit?: number } {
  const { logical_type: logical, converted_type: converted } = element
  if (logical?.type === 'TIME') return { type: 'time', microsPerUnit: units[logical.unit] }
  if (logical?.type === 'TIMESTAMP') return { type: logical.isAdjustedToUTC ? 'timestamptz' : 'timestamp' }
  if (logical?.type === 'INTEGER')
    return { type: logical.bitWidth === 64 || (logical.bitWidth === 32 && !logical.isSigned) ? 'bigint' : 'integer' }
  const byLogical = logical && logicalTypes[logical.type]
  if (byLogical) return { type: byLogical }
  if (converted === 'TIME_MILLIS') return { type: 'time', microsPerUnit: units.MILLIS }
  const byConverted = converted && convertedTypes[converted]
  return { type: byConverted || physicalTypes[element.type ?? ''] || 'binary' }
}

const units = { MILLIS: 1000, MICROS: 1, NANOS: 0.001 }

const logicalTypes: Readonly<Record<string, FieldType>> = {
  STRING: 'text',
  ENUM: 'text',
  DATE: 'date',
  JSON: 'json',
  UUID: 'uuid',
  FLOAT16: 'number',
  DECIMAL: 'number',
}

const convertedTypes: Readonly<Record<string, FieldType>> = {
  UTF8: 'text',
  ENUM: 'text',
  DECIMAL: 'number',
  DATE: 'date',
  TIME_MICROS: 'time',
  TIMESTAMP_MILLIS: 'timestamptz',
  TIMESTAMP_MICROS: 'timestamptz',
  UINT_32: 'bigint',
  UINT_64: 'bigint',
  JSON: 'json',
}

const physicalTypes: Readonly<Record<string, FieldType>> = {
  BOOLEAN: 'boolean',
  INT32: 'integer',
  INT64: 'bigint',
  INT96: 'timestamp',
  FLOAT: 'number',
  DOUBLE: 'number',
}
