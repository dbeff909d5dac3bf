import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { copyHeader, copyTrailer } from './copy-binary.ts'
import { isStaleStatement } from './database-error.ts'
import type { Row } from './db.ts'
import type { Sql } from './sql.ts'
import type { StatementNames } from './statement-names.ts'
import { type Cell, type Column, encodeStatement, rowReader } from './values.ts'

export async function execute<R extends Row>(
  client: pg.PoolClient,
  text: string,
  values: Cell[],
  names?: StatementNames,
): Promise<R[]> {
  // Without queryMode a text with no values would go by the simple protocol, which takes several statements.
  const query: pg.QueryArrayConfig<Cell[]> & { queryMode: 'extended' } = {
    text,
    values,
    name: names?.nameOf(text),
    rowMode: 'array',
    queryMode: 'extended',
  }
  try {
    const result = await client.query<Cell[], Cell[]>(query)
    return readRows<R>(result.fields, result.rows)
  } catch (error) {
    if (isStaleStatement(error)) names?.forget(text)
    throw error
  }
}

export function readRows<R extends Row>(fields: pg.FieldDef[], rows: Cell[][]): R[] {
  return rows.map(rowReader<R>(columnsOf(fields)))
}

export const columnsOf = (fields: pg.FieldDef[]): Column[] =>
  fields.map(({ name, dataTypeID, dataTypeModifier }) => ({ name, type: dataTypeID, modifier: dataTypeModifier }))

export async function runScript(client: pg.PoolClient, text: string): Promise<void> {
  await client.query(text)
}

export async function copyBinary(
  client: pg.PoolClient,
  statement: Sql,
  chunks: AsyncIterable<readonly Uint8Array[]>,
): Promise<number> {
  return await copy(client, statement, framed(chunks))
}

async function* framed(chunks: AsyncIterable<readonly Uint8Array[]>): AsyncGenerator<Uint8Array> {
  yield copyHeader
  for await (const parts of chunks) yield* parts
  yield copyTrailer
}

export async function copy(
  client: pg.PoolClient,
  statement: Sql,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<number> {
  const { text, values } = encodeStatement(statement)
  if (values.length > 0) throw new Error('COPY takes no values')
  const stream = client.query(copyFrom(text))
  await pipeline(chunks, stream)
  return stream.rowCount
}
