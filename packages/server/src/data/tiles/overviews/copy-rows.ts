// Copies the rows of a table on another server into the platform's database, as one stream and in bounded memory.
import type { Batches } from '../../../kernel/db/guarded.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { ResultCell } from '../../../kernel/db/values.ts'
import type { Step } from './build-overview.ts'
import type { ExternalTable } from './external-table.ts'
import { rowColumn } from './external-table.ts'

/** Of what is read: the other server may be slow, huge, or hostile. The length of a row is limited for every query. */
export const copyLimits = {
  rows: 20_000_000,
  bytes: 4 * 1024 ** 3,
  ms: 20 * 60_000,
  /** Until the first rows, and between two batches of them. */
  waitMs: 30_000,
}

/** Rows are written in transactions of about this size: no lock is held while the other server is waited for. */
const chunkLength = 1024 ** 2

type Copy = {
  readonly into: Sql
  readonly step: Step
  readonly limits: Pick<typeof copyLimits, 'rows' | 'bytes'>
  /** After each chunk. */
  onRows(rows: number): Promise<void>
}

/** Makes the table of the copy. */
export async function makeCopy(table: ExternalTable, { into, step }: Pick<Copy, 'into' | 'step'>): Promise<void> {
  const columns = namesOf(table).map(({ name, type }) => sql`${ident(name)} ${raw(type)}`)
  await step((tx) => tx.query(sql`CREATE UNLOGGED TABLE ${into} (${joinSql(columns, ', ')})`))
}

/** Copies all rows; throws beyond the limits. */
export async function copyRows(batches: Batches, table: ExternalTable, copy: Copy): Promise<void> {
  const { step, into, onRows } = copy
  const names = namesOf(table).map(({ name }) => ident(name))
  const statement = sql`COPY ${into} (${joinSql(names, ', ')}) FROM STDIN`
  const lines = createLines(table, copy.limits)
  const flush = async (): Promise<void> => {
    const chunk = lines.take()
    await step((tx) => tx.copyIn(statement, oneChunk(chunk)))
    await onRows(lines.rows)
  }
  for await (const batch of batches) {
    lines.add(batch)
    if (lines.length >= chunkLength) await flush()
  }
  if (lines.length > 0) await flush()
}

/** Lines of COPY that have not been written yet, and how many rows there were in all. */
function createLines({ columns, hasKey }: ExternalTable, limits: Copy['limits']) {
  let [rows, bytes, text] = [0, 0, '']
  function addRow(cells: readonly ResultCell[]): void {
    if (cells.length !== columns.length) throw new Error('The server sent other columns than were asked for')
    rows++
    const line = lineOf(cells, hasKey ? undefined : rows)
    bytes += line.length
    text += line
  }
  return {
    get rows() {
      return rows
    },
    get length() {
      return text.length
    },
    add(batch: readonly ResultCell[][]): void {
      batch.forEach(addRow)
      if (rows > limits.rows) throw new Error(`The table has more than ${limits.rows} rows`)
      if (bytes > limits.bytes) throw new Error(`The rows take more than the ${limits.bytes} bytes that may be copied`)
    },
    take(): string {
      const taken = text
      text = ''
      return taken
    },
  }
}

const namesOf = ({ columns, hasKey }: ExternalTable): readonly { name: string; type: string }[] =>
  hasKey ? columns : [{ name: rowColumn, type: 'bigint' }, ...columns]

async function* oneChunk(lines: string): AsyncGenerator<string> {
  yield lines
}

/** A line of COPY in text format. */
function lineOf(cells: readonly ResultCell[], number: number | undefined): string {
  const texts = cells.map(copyText)
  return `${number === undefined ? '' : `${number}\t`}${texts.join('\t')}\n`
}

const special = /[\\\n\r\t]/g
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
const copyText = (cell: ResultCell): string =>
  cell === null ? '\\N' : cell.replace(special, (character) => escapes[character] ?? '')

/** A key that the server repeats would multiply rows in every join. */
export async function indexCopy(
  { hasKey, key }: ExternalTable,
  { into, step }: Pick<Copy, 'into' | 'step'>,
): Promise<void> {
  await step(async (tx) => {
    if (hasKey) await tx.query(sql`CREATE UNIQUE INDEX ON ${into} (${ident(key)})`)
    await tx.query(sql`ANALYZE ${into} (${ident(key)})`)
  })
}
