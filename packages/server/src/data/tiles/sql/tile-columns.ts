// The columns of vector tiles.

import { type Sql, sql } from '../../../kernel/db/sql.ts'
import { column } from '../../../query/execution/postgres-sql.ts'
import { type Attribute, valueTypeOf } from '../../../query/values/attribute.ts'
import type { AttributeDto } from '../../datasets/attribute-dto.ts'
import type { TileColumn } from '../mvt/columns.ts'

/** A column of a tile: its type, its SQL and its transfer format. */
export type SelectedColumn = TileColumn & { readonly value: Sql; readonly isBinary: boolean }

type Form = Pick<SelectedColumn, 'kind' | 'isBinary'> & { readonly render?: (value: Sql) => Sql }

const text: Form = { kind: 'text', isBinary: false }
const forms: Partial<Record<Attribute['type'], Form>> = {
  boolean: { kind: 'boolean', isBinary: true },
  array: { ...text, render: (value) => sql`to_json(${value})::text` },
  binary: { ...text, render: (value) => sql`translate(encode(${value}, 'base64'), ${'\n'}, '')` },
  // The same text as in query answers: 2026-01-31T10:00:00Z
  datetime: { ...text, render: (value) => sql`replace(replace(${value}::text, ' ', 'T'), '+00', 'Z')` },
}

function formOf(dto: AttributeDto): Form {
  const { type } = dto
  const dbType = valueTypeOf(dto)
  if (type === 'integer') {
    return /^(smallint|integer|bigint)$/.test(dbType)
      ? { kind: 'integer', isBinary: true }
      : { kind: 'decimal', isBinary: false }
  }
  if (type === 'number') {
    return /^(real|double precision)$/.test(dbType)
      ? { kind: 'number', isBinary: true }
      : { kind: 'decimal', isBinary: false }
  }
  return forms[type] ?? text
}

export function selectedColumn(dto: AttributeDto, attribute: Attribute, isHidden: boolean): SelectedColumn {
  const { kind, isBinary, render = (value: Sql) => value } = formOf(dto)
  const isKey = dto.primaryKey && (kind === 'integer' || kind === 'decimal')
  return {
    name: dto.name,
    kind,
    isBinary,
    value: render(column(attribute)),
    ...(isKey && { isKey }),
    ...(isHidden && { isHidden }),
  }
}
