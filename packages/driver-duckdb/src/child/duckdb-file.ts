import type { DuckDBConnection } from '@duckdb/node-api'
import { type FolderFile, safeName } from './folder.ts'
import { rowsOf } from './rows/rows.ts'
import { quotedName, quotedText } from './sql/sql-text.ts'
import { columnsOf, type FileFacts, type TableFacts, UnusableFile, withPosition } from './table-facts.ts'

/**
 * A DuckDB database file, attached for reading. Only its plain tables: views, macros and generated columns would run whatever
 * their author wrote, past the check of queries.
 */

type TableRow = { readonly schema: string; readonly name: string; readonly rows: bigint; readonly sql: string }

const maxTables = 200
const generated = /\bGENERATED\s+ALWAYS\b/i

export async function describeDuckdb(connection: DuckDBConnection, file: FolderFile): Promise<FileFacts> {
  const alias = `file_${file.name}`
  const attach = `ATTACH ${quotedText(file.path)} AS ${quotedName(alias)} (READ_ONLY, TYPE duckdb)`
  await connection.run(attach)
  try {
    const rows = await rowsOf<TableRow>(
      connection,
      `SELECT schema_name AS schema, table_name AS name, estimated_size AS rows, sql
       FROM duckdb_tables() WHERE database_name = ${quotedText(alias)} AND NOT internal ORDER BY ALL`,
    )
    const plain = rows.filter(({ sql }) => !generated.test(sql))
    if (plain.length === 0) {
      throw new UnusableFile('It has no table that can be read; views and tables with generated columns are not.')
    }
    if (plain.length > maxTables)
      throw new UnusableFile(`It has ${plain.length} tables; at most ${maxTables} are allowed.`)
    const names = tableNames(plain, file.name)
    const tables: TableFacts[] = []
    for (const [index, { schema, name, rows: count }] of plain.entries()) {
      const select = `SELECT * FROM ${[alias, schema, name].map(quotedName).join('.')}`
      const columns = await columnsOf(connection, select)
      const positions = withPosition(select, 'rowid', columns)
      const selects = { select, ...(positions && { selectPositions: positions }) }
      tables.push({ name: names[index] ?? '', rows: Number(count), columns, ...selects })
    }
    return { tables, attach }
  } finally {
    await connection.run(`DETACH ${quotedName(alias)}`).catch(() => undefined)
  }
}

/** `cities.duckdb` with the table `roads` → `cities_roads`. */
function tableNames(tables: readonly TableRow[], fileName: string): string[] {
  const short = tables.map(({ name }) => `${fileName}_${safeName(name)}`)
  return tables.map(({ schema }, index) => {
    const name = short[index] ?? ''
    const isUnique = short.filter((other) => other === name).length === 1
    return isUnique ? name : `${name}_${safeName(schema)}_${index + 1}`
  })
}
