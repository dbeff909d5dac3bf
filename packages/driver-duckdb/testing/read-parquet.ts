import { DuckDBInstance } from '@duckdb/node-api'

/** The rows of a SELECT, run by DuckDB in this process, as values of JSON. */
export async function duckdbRows(select: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(select)).getRowObjectsJson()
  } finally {
    connection.disconnectSync()
    instance.closeSync()
  }
}
