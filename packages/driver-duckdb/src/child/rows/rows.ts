import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'

/** The rows of a small answer by the names of their columns. */
export async function rowsOf<Row>(
  connection: DuckDBConnection,
  text: string,
  values: readonly DuckDBValue[] = [],
): Promise<Row[]> {
  const reader = await connection.runAndReadAll(text, [...values])
  return reader.getRowObjectsJS() as Row[]
}
