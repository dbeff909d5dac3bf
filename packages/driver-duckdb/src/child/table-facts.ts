import type { DuckDBConnection } from '@duckdb/node-api'
import type { DuckdbColumn, DuckdbTable } from '../messages.ts'
import { columnOf } from './column-type.ts'

/** What is known of a file before anybody asks: its tables, and the SQL that makes views of them. */
export type FileFacts = {
  readonly tables: readonly TableFacts[]
  /** Run before the views are made. */
  readonly attach?: string
}

export type TableFacts = Omit<DuckdbTable, 'file' | 'format' | 'bytes' | 'version' | 'withPositions'> & {
  /** `SELECT … FROM …`, with the path in it. */
  readonly select: string
  /** The same with the position of each row as another column. */
  readonly selectPositions?: string
}

/** What DuckDB calls the position of a row in a file or table, unless a column of the file has the name. */
export type PositionName = 'file_row_number' | 'rowid'

const positionColumn = 'svc_row'

/** Undefined where the file has a column of one of the names, which DuckDB does not tell apart by their case. */
export function withPosition(select: string, name: PositionName, columns: readonly DuckdbColumn[]): string | undefined {
  const isTaken = columns.some((column) => [name, positionColumn].includes(column.name.toLowerCase()))
  return isTaken ? undefined : select.replace(/^SELECT /, `SELECT ${name} AS ${positionColumn}, `)
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
