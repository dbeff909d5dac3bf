import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBPreparedStatement,
  DuckDBType,
  DuckDBValue,
} from '@duckdb/node-api'
import { LIST, listValue, VARCHAR } from '@duckdb/node-api'
import { DuckdbFault } from '../../fault.ts'
import type { BoundValue, Cell, DuckdbColumn, Reply } from '../../messages.ts'
import { columnOf } from '../column-type.ts'
import { type Conversion, conversionOf } from './canonical-text.ts'

/**
 * A SELECT as a stream of batches of text. DuckDB ends a stream that failed just like one that is complete, so a last row is added
 * that only a complete answer has.
 */
export type Selection = {
  readonly columns: readonly DuckdbColumn[]
  readonly statement: string
  readonly conversions: readonly Conversion[]
  readonly form: BatchForm
}

/** What is sent of a chunk. */
export type Batch = Omit<Extract<Reply, { kind: 'rows' }>, 'id'> | Omit<Extract<Reply, { kind: 'block' }>, 'id'>

/** How values are fetched, and how a chunk of them becomes batches. */
export type BatchForm = {
  conversionOf(type: DuckDBType): Conversion
  batchesOf(chunk: DuckDBDataChunk, conversions: readonly Conversion[], rowCount: number): Iterable<Batch>
}

/** What a query answers, and the statement that fetches it as text. */
export async function planSelection(
  connection: DuckDBConnection,
  text: string,
  form: BatchForm,
  values?: readonly BoundValue[],
): Promise<Selection> {
  const prepared = await connection.prepare(inParentheses(text))
  try {
    if (values) checkValues(prepared, values)
    const names = Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnName(index))
    const types = names.map((_, index) => prepared.columnType(index))
    const conversions = types.map(form.conversionOf)
    return {
      form,
      columns: names.map((name, index) => columnOf(name, types[index] as DuckDBType)),
      conversions,
      statement: withEndMarker(text, conversions),
    }
  } finally {
    prepared.destroySync()
  }
}

/** The line breaks end a comment that somebody's last line may be. */
export const inParentheses = (text: string): string => `SELECT * FROM (\n${text}\n) AS q`

function checkValues({ parameterCount }: DuckDBPreparedStatement, values: readonly BoundValue[]): void {
  if (parameterCount === values.length) return
  throw new DuckdbFault('refused', `The SQL has ${parameterCount} parameters, but ${values.length} values were given.`)
}

function withEndMarker(text: string, conversions: readonly Conversion[]): string {
  const names = conversions.map((_, index) => `c${index}`)
  const values = conversions.map(({ sql }, index) => sql?.(`q.c${index}`) ?? `q.c${index}`)
  const marker = conversions.map(() => 'NULL')
  return `SELECT ${[...values, 'false'].join(', ')} FROM (\n${text}\n) AS q(${names.join(', ')})
UNION ALL SELECT ${[...marker, 'true'].join(', ')}`
}

export function bind(prepared: DuckDBPreparedStatement, values: readonly BoundValue[]): void {
  for (const [index, value] of values.entries()) {
    const place = index + 1
    if (value === null) prepared.bindNull(place)
    else if (typeof value === 'string') prepared.bindVarchar(place, value)
    else prepared.bindList(place, listValue([...value] as DuckDBValue[]), LIST(VARCHAR))
  }
}

/** One value may be this long, in characters or bytes; a batch ends with the row that takes it over the second. */
const maxCellLength = 32 * 1024 ** 2
export const maxBatchLength = 256 * 1024

/** Batches of rows. Throws unless the end marker came. `ready` is waited for before each batch is made. */
export async function* batchesOfSelection(
  connection: DuckDBConnection,
  { statement, conversions, form }: Selection,
  values: readonly BoundValue[],
  ready: () => Promise<void>,
): AsyncGenerator<Batch> {
  const prepared = await connection.prepare(statement)
  try {
    bind(prepared, values)
    const result = await prepared.stream()
    for (;;) {
      await ready()
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) throw new StreamBroken()
      const isLast = hasEndMarker(chunk, conversions.length)
      for (const batch of form.batchesOf(chunk, conversions, isLast ? chunk.rowCount - 1 : chunk.rowCount)) {
        yield batch
        await ready()
      }
      if (!isLast) continue
      const beyond = await result.fetchChunk()
      if (beyond && beyond.rowCount > 0) throw new StreamBroken()
      return
    }
  } finally {
    prepared.destroySync()
  }
}

/** The marker comes after all rows, because DuckDB keeps their order; were it ever to come before one, no answer is better. */
function hasEndMarker(chunk: DuckDBDataChunk, column: number): boolean {
  const markers = chunk.getColumnVector(column)
  for (let row = 0; row < chunk.rowCount - 1; row++) if (markers.getItem(row) === true) throw new StreamBroken()
  return markers.getItem(chunk.rowCount - 1) === true
}

/** The stream ended without its marker. DuckDB does not say why. */
export class StreamBroken extends Error {
  override name = 'StreamBroken'
}

/** Canonical text. */
export const asRows: BatchForm = { conversionOf, batchesOf: rowsOf }

function* rowsOf(chunk: DuckDBDataChunk, conversions: readonly Conversion[], rowCount: number): Generator<Batch, void> {
  const columns = conversions.map(({ text }, index) => textsOf(chunk, index, rowCount, text))
  let batch: Cell[][] = []
  let length = 0
  for (let row = 0; row < rowCount; row++) {
    const cells = columns.map((column) => column[row] ?? null)
    for (const cell of cells) length += cell?.length ?? 0
    batch.push(cells)
    if (length < maxBatchLength) continue
    yield { kind: 'rows', rows: batch }
    batch = []
    length = 0
  }
  if (batch.length > 0) yield { kind: 'rows', rows: batch }
}

function textsOf(chunk: DuckDBDataChunk, index: number, rowCount: number, text: Conversion['text']): Cell[] {
  const vector = chunk.getColumnVector(index)
  const texts: Cell[] = new Array(rowCount)
  for (let row = 0; row < rowCount; row++) {
    const value = vector.getItem(row)
    const cell = value === null ? null : text ? text(value) : (value as string)
    if (cell !== null) checkLength(cell.length)
    texts[row] = cell
  }
  return texts
}

export function checkLength(length: number): void {
  if (length <= maxCellLength) return
  throw new DuckdbFault('memory', `A value is longer than ${maxCellLength} characters, the limit.`)
}

/** Runs a statement that failed in a stream once more, as a whole, because then DuckDB says why. */
export async function findError(
  connection: DuckDBConnection,
  { statement }: Selection,
  values: readonly BoundValue[],
): Promise<unknown> {
  const prepared = await connection.prepare(`SELECT bit_xor(hash(q)) FROM (\n${statement}\n) AS q`)
  try {
    bind(prepared, values)
    await prepared.run()
    return new DuckdbFault('failed', 'The answer broke off: a file changed while it was read. Try again.')
  } catch (error) {
    return error
  } finally {
    prepared.destroySync()
  }
}
