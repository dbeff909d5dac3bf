import type pg from 'pg'
import { isStaleStatement } from '../database-error.ts'
import type { Row } from '../db.ts'
import type { StatementNames } from '../statement-names.ts'
import { type ResultCell, type ResultColumn, rowReader } from '../values.ts'

export async function execute<R extends Row>(
  client: pg.Client,
  text: string,
  values: ResultCell[],
  names?: StatementNames,
): Promise<R[]> {
  // Without queryMode a text with no values would go by the simple protocol, which takes several statements.
  const query: pg.QueryArrayConfig<ResultCell[]> & { queryMode: 'extended' } = {
    text,
    values,
    name: names?.nameOf(text),
    rowMode: 'array',
    queryMode: 'extended',
  }
  try {
    const result = await client.query<ResultCell[], ResultCell[]>(query)
    return readRows<R>(result.fields, result.rows)
  } catch (error) {
    if (isStaleStatement(error)) names?.forget(text)
    throw error
  }
}

export function readRows<R extends Row>(fields: pg.FieldDef[], rows: ResultCell[][]): R[] {
  return rows.map(rowReader<R>(columnsOf(fields)))
}

export const columnsOf = (fields: pg.FieldDef[]): ResultColumn[] =>
  fields.map(({ name, dataTypeID, dataTypeModifier }) => ({ name, type: dataTypeID, modifier: dataTypeModifier }))

export async function runScript(client: pg.Client, text: string): Promise<void> {
  await client.query(text)
}
