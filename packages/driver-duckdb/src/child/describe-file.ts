import type { DuckDBConnection } from '@duckdb/node-api'
import { describeDuckdb } from './duckdb-file.ts'
import type { FolderFile } from './folder.ts'
import { describeParquet } from './parquet-file.ts'
import type { FileFacts } from './table-facts.ts'
import { describeCsv, describeJson } from './text-file.ts'

/** Looks at a file of any format, reading as little of it as tells its columns. */
type Describe = (connection: DuckDBConnection, file: FolderFile) => Promise<FileFacts>

const describers: { readonly [format in FolderFile['format']]: Describe } = {
  parquet: describeParquet,
  csv: describeCsv,
  json: describeJson,
  duckdb: describeDuckdb,
}

export const describeFile: Describe = (connection, file) => describers[file.format](connection, file)
