import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { DuckdbFault } from '../fault.ts'
import type { DuckdbQuery, WrittenFile } from '../messages.ts'
import type { OpenDatabase } from './database.ts'
import { quotedName, quotedText } from './sql/sql-text.ts'

/**
 * Writes rows into the temporary directory of the instance, the only place where it may write, as GeoParquet whose row groups have
 * boxes, and makes them readable there.
 */
export async function writeParquet(
  connection: DuckDBConnection,
  { temporaryDirectory, written }: OpenDatabase,
  name: string,
  { text, values }: DuckdbQuery,
): Promise<WrittenFile> {
  if (values.length > 0 || !/^[a-z0-9]+$/.test(name)) throw new DuckdbFault('refused', 'The file has no plain name.')
  const path = join(temporaryDirectory, `${name}.parquet`)
  const options = `FORMAT parquet, GEOPARQUET_VERSION 'BOTH', COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroup}`
  const reader = await connection.runAndReadAll(`COPY (\n${text}\n) TO ${quotedText(path)} (${options})`)
  const view = `written ${name}`
  await connection.run(`CREATE OR REPLACE VIEW ${quotedName(view)} AS FROM read_parquet(${quotedText(path)})`)
  written.add(view)
  return { path, bytes: statSync(path).size, rows: Number(reader.getRows()[0]?.[0] ?? 0) }
}

/** Few, so that a tile reads little beside its own rows. */
const rowGroup = 8192
