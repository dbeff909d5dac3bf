import type { DuckDBConnection } from '@duckdb/node-api'
import type { DuckdbColumn, DuckdbTable } from '../messages.ts'
import { columnOf } from './column-type.ts'

/** What is known of a file before anybody asks: its tables, and the SQL that makes views of them. */
export type FileFacts = {
  readonly tables: readonly TableFacts[]
  /** Run before the views are made. */
  readonly attach?: string
}

export type TableFacts = Omit<DuckdbTable, 'file' | 'format' | 'bytes'> & {
  /** `SELECT … FROM …`, with the path in it. */
  readonly select: string
}

/** A file that is no table; the message is the reason, for its owner. */
export class UnusableFile extends Error {
  override name = 'UnusableFile'
}

/** The columns of a SELECT, without running it. */
export async function columnsOf(connection: DuckDBConnection, select: string): Promise<DuckdbColumn[]> {
  const statement = await connection.prepare(select)
  try {
    return Array.from({ length: statement.columnCount }, (_, index) =>
      columnOf(statement.columnName(index), statement.columnType(index)),
    )
  } finally {
    statement.destroySync()
  }
}
