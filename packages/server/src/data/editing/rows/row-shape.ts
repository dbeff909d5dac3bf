// Rows as answers show them, read by RETURNING or SELECT, with an ETag.

import type { BaseServices } from '../../../api/resource/resource.ts'
import { etagOf } from '../../../api/resource/revision.ts'
import type { Row } from '../../../kernel/db/db.ts'
import { and, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { GeometryForm } from '../../../query/execution/dialect.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { filterSql } from '../../../query/filter/filter-sql.ts'
import { allOf } from '../../../query/filter/filter-tree.ts'
import { applyOperator } from '../../../query/filter/operator.ts'
import type { Cell } from '../../../query/formats/cell.ts'
import { featureWriter } from '../../../query/formats/geojson.ts'
import { jsonWriter, objectWriter } from '../../../query/formats/json.ts'
import type { PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { postgresDialect } from '../../databases/postgres/dialect.ts'
import { isUnreadValue } from '../../databases/postgres/unread-value.ts'
import { attributesOf } from '../../datasets/attribute-dto.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import { visibleRows } from '../../datasets/rules/narrowing.ts'
import { type RowTagger, rowTagger } from './row-tag.ts'

/** A row that was read: its answer, its ETag and its key as it stands in an address. */
export type ShownRow = { readonly text: string; readonly etag: string; readonly key: string }

export type AttributeColumn = PlanColumn & { readonly attribute: Attribute }

export type RowShape = {
  /** What RETURNING or SELECT lists, of a table with the alias `q`. */
  readonly columns: Sql
  read(row: Row): ShownRow
}

const usualShape: GeometryForm = { geometry: 'geojson', srid: 4326 }

/** All attributes of the dataset. */
export function rowShape(services: Pick<BaseServices, 'secrets'>, dataset: Dataset, isFeature: boolean): RowShape {
  const attributes = [...attributesOf(dataset).values()]
  const columns = attributes.map((attribute) => ({ name: attribute.name, attribute, type: attribute.type }))
  const tagged = taggedColumns(columns, usualShape, rowTagger(services, dataset))
  const key = keyOf(dataset)
  const write = isFeature
    ? featureWriter(columns, key.length === 1 ? key[0]?.name : undefined, () => true)
    : objectWriter(columns)
  return {
    columns: tagged.columns,
    read(row) {
      const { cells, etag } = tagged.read(row)
      const keyCells = key.map((part) => cells[attributes.indexOf(part)] ?? '')
      return { text: write(cells), etag, key: keyAddress(keyCells) }
    },
  }
}

export type TaggedColumns = {
  readonly columns: Sql
  read(row: Row): { readonly etag: string; readonly cells: Cell[] }
}

/** The ETag, and these attributes in a form. */
export function taggedColumns(
  columns: readonly AttributeColumn[],
  shape: GeometryForm,
  { digest, tagOf }: RowTagger,
): TaggedColumns {
  const readings = columns.map((one) => (one.type === 'boolean' ? undefined : postgresDialect.reading(one, shape)))
  const shown = columns.map((one, index) => {
    const value = postgresDialect.transferSql(one, column(one.attribute), shape)
    return sql`${asText(value, one.attribute)} AS ${raw(`c${index}`)}`
  })
  return {
    columns: joinSql([sql`${digest} AS digest`, ...shown], ', '),
    read: (row) => ({
      etag: etagOf(tagOf(row.digest)),
      cells: columns.map((_, index): Cell => {
        const text = row[`c${index}`] as Cell
        return text === null ? null : (readings[index]?.(text) ?? text)
      }),
    }),
  }
}

/** Types that queries take for strings print themselves: a cast of 10.0.0.1 to text is 10.0.0.1/32. */
function asText(value: Sql, { type, isText }: Attribute): Sql {
  if (type !== 'string' || isText) return sql`(${value})::text`
  return sql`CASE WHEN ${value} IS NOT NULL THEN format('%s', ${value}) END`
}

/** The attributes of the primary key. */
function keyOf(dataset: Dataset): readonly Attribute[] {
  const attributes = attributesOf(dataset)
  return dataset.attributes.filter(({ primaryKey }) => primaryKey).flatMap(({ name }) => attributes.get(name) ?? [])
}

/** The parts of a key in the path of a row, with commas between them. */
export const keyAddress = (parts: readonly string[]): string => parts.map(encodeURIComponent).join(',')

export const absentRow = (): ApiError => new ApiError('not_found', 'There is no row with this key.')

/** The values of a key in the path: undecoded, because a part may hold a comma. */
function keyParts(url: string, count: number): string[] {
  const segment = url.split('?', 1)[0]?.replace(/\/$/, '').split('/').pop() ?? ''
  const parts = count === 1 ? [segment] : segment.split(',')
  return parts.map(decodeURIComponent)
}

export type RowCondition = {
  readonly condition: Sql
  readonly parts: readonly string[]
  /** Only the database knows whether the parts are values of the key's type. */
  readonly isNative: boolean
}

/** What is no value of the key's type is a key that no row has. */
export function noRow(error: unknown): never {
  throw isUnreadValue(error) ? absentRow() : error
}

/** The condition of one row, of a table with the alias `q`. A key that no row can have is 404. */
export function rowCondition(dataset: Dataset, url: string): RowCondition {
  const key = keyOf(dataset)
  if (key.length === 0) {
    throw new ApiError(
      'conflict',
      'The dataset has no primary key, so that none of its rows has an address. Use rows?filter=…&expect=N.',
    )
  }
  const parts = keyParts(url, key.length)
  if (parts.length !== key.length) throw absentRow()
  try {
    const filters = key.map((attribute, index) =>
      applyOperator('$eq', { attribute, value: parts[index], path: 'params/key' }),
    )
    const condition = and(filters.map((filter) => filterSql(filter, column)))
    return { condition, parts, isNative: key.some(({ isNative }) => isNative) }
  } catch (error) {
    throw error instanceof ApiError ? absentRow() : error
  }
}

/** The same of a row of the relation of a source, that the caller may see. */
export function visibleRow(dataset: Dataset, url: string): RowCondition {
  const found = rowCondition(dataset, url)
  return dataset.narrowing
    ? { ...found, condition: and([found.condition, filterSql(visibleRows(dataset, allOf([])), column)]) }
    : found
}

/** Keys of inserted rows: the values themselves, or a list for each row where the key has several columns. */
export function keyWriter(key: readonly Pick<Attribute, 'type'>[]): (cells: readonly Cell[]) => string {
  const writers = key.map(({ type }) => jsonWriter(type))
  const texts = (cells: readonly Cell[]) =>
    cells.map((cell, index) => (cell === null ? 'null' : writers[index]?.(cell)))
  return (cells) => (key.length === 1 ? String(texts(cells)[0]) : `[${texts(cells).join(',')}]`)
}
