import type { DuckDBConnection } from '@duckdb/node-api'
import { type FolderFile, geojsonReason } from './folder.ts'
import { rowsOf } from './rows/rows.ts'
import { quotedText } from './sql/sql-text.ts'
import { columnsOf, type FileFacts, UnusableFile } from './table-facts.ts'

/** CSV and JSON: the types are guessed once and then written into the view, so that a query does not guess again. */

/** Files up to this size are looked at as a whole, so that the last line has its say. */
const wholeFileBytes = 32 * 1024 ** 2
const sampledLines = 200_000

const sampleSize = ({ bytes }: FolderFile): number => (bytes <= wholeFileBytes ? -1 : sampledLines)

type Sniffed = {
  readonly Delimiter: string
  readonly Quote: string
  readonly Escape: string
  readonly SkipRows: number
  readonly HasHeader: boolean
  readonly Columns: readonly { readonly name: string; readonly type: string }[]
  readonly DateFormat: string | null
  readonly TimestampFormat: string | null
  readonly Comment: string
}

const none = '(empty)'

export async function describeCsv(connection: DuckDBConnection, file: FolderFile): Promise<FileFacts> {
  if (file.bytes === 0) throw new UnusableFile('The file is empty.')
  const path = quotedText(file.path)
  const [sniffed] = await rowsOf<Sniffed>(connection, `FROM sniff_csv(${path}, sample_size = ${sampleSize(file)})`)
  if (!sniffed) throw new UnusableFile('No columns were found in the file.')
  const options = {
    auto_detect: 'false',
    delim: quotedText(sniffed.Delimiter),
    // A file whose first lines need no quotes may have them further down.
    quote: quotedText(sniffed.Quote === none ? '"' : sniffed.Quote),
    escape: quotedText(sniffed.Escape === none ? '"' : sniffed.Escape),
    comment: quotedText(sniffed.Comment === none ? '' : sniffed.Comment),
    skip: String(sniffed.SkipRows),
    header: String(sniffed.HasHeader),
    columns: columnTypes(sniffed.Columns),
    ...(sniffed.DateFormat && { dateformat: quotedText(sniffed.DateFormat) }),
    ...(sniffed.TimestampFormat && { timestampformat: quotedText(sniffed.TimestampFormat) }),
  }
  const written = Object.entries(options).map(([name, value]) => `${name} = ${value}`)
  const select = `SELECT * FROM read_csv(${path}, ${written.join(', ')})`
  return { tables: [{ name: file.name, rows: null, columns: await columnsOf(connection, select), select }] }
}

export async function describeJson(connection: DuckDBConnection, file: FolderFile): Promise<FileFacts> {
  if (file.bytes === 0) throw new UnusableFile('The file is empty.')
  const path = quotedText(file.path)
  const guess = `FROM read_json(${path}, sample_size = ${sampleSize(file)})`
  const rows = await rowsOf<{ column_name: string; column_type: string }>(connection, `DESCRIBE ${guess}`)
  const names = new Set(rows.map(({ column_name }) => column_name))
  if (names.has('type') && (names.has('features') || names.has('geometry') || names.has('coordinates'))) {
    throw new UnusableFile(geojsonReason)
  }
  const columns = rows.map(({ column_name, column_type }) => ({ name: column_name, type: column_type }))
  const select = `SELECT * FROM read_json(${path}, columns = ${columnTypes(columns)})`
  return { tables: [{ name: file.name, rows: null, columns: await columnsOf(connection, select), select }] }
}

function columnTypes(columns: readonly { readonly name: string; readonly type: string }[]): string {
  return `{${columns.map(({ name, type }) => `${quotedText(name)}: ${quotedText(type)}`).join(', ')}}`
}
