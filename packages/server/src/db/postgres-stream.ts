import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { columnsOf } from './postgres-statements.ts'
import { createMessageReader, messageCode, readRow } from './raw-reader.ts'
import type { Cell, Column } from './values.ts'
import type { DriverSocket } from './wire/driver-socket.ts'

/** `isLast`: nothing comes after these rows, and the connection is free again. */
export type StreamedBatch = { readonly rows: Cell[][]; readonly columns: Column[]; readonly isLast: boolean }

export type RowStream = {
  /** The rows that have come, once they are worth it. While nobody asks, at most as many again are kept. */
  next(): Promise<StreamedBatch>
}

type DriverConnection = pg.Connection & { readonly stream: Duplex }
type Waiting = { resolve(batch: StreamedBatch): void; reject(error: Error): void }

/** Rows are handed on when there are this many bytes of them, however few they are. */
const batchBytes = 512 * 1024

/**
 * The rows of one statement, all asked for at once: who reads slowly holds the server back by not emptying the socket,
 * and who reads quickly never waits for an answer to "go on". The driver does the talking, only the rows are taken off
 * the socket before it sees them: it would make a text of each value by itself.
 */
export function streamRows(client: pg.Client, text: string, values: Cell[], batchSize: number): RowStream {
  const kept = keepRows(batchSize)
  let socket: Duplex | undefined
  const statement = {
    submit(connection: DriverConnection): void {
      socket = connection.stream
      // The rows are taken off as they are read, so there may be any number of them.
      ;(socket as Duplex & Partial<Pick<DriverSocket, 'allowLongAnswer'>>).allowLongAnswer?.()
      takeRowsOff(socket, kept)
      socket.cork()
      connection.parse({ name: '', text, types: [] }, true)
      connection.bind({ values }, true)
      connection.describe({ type: 'P', name: '' }, true)
      connection.execute({ portal: '', rows: '' }, true)
      connection.sync()
      socket.uncork()
    },
    handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }): void => kept.begin(columnsOf(fields)),
    handleCommandComplete(): void {},
    handleEmptyQuery(): void {},
    handleReadyForQuery(): void {},
    // A foreign server may say anything.
    handleDataRow(): void {},
    handlePortalSuspended(): void {},
    handleError: kept.fail,
  }
  client.query(statement as unknown as pg.Submittable)
  return {
    next() {
      const batch = kept.next()
      // Also when there were rows enough: the next ones are on their way while these are being written.
      socket?.resume()
      return batch
    },
  }
}

type RowCache = ReturnType<typeof keepRows>

function keepRows(batchSize: number) {
  const readCells = createCellReader()
  let columns: Column[] = []
  let rows: Cell[][] = []
  let size = 0
  let isOver = false
  let failure: Error | undefined
  let waiting: Waiting | undefined
  const isWorthIt = (): boolean => isOver || rows.length >= batchSize || size >= batchBytes
  const handOver = (): void => {
    if (!waiting || !(failure || isWorthIt())) return
    if (failure) waiting.reject(failure)
    else waiting.resolve({ rows, columns, isLast: isOver })
    waiting = undefined
    rows = []
    size = 0
  }
  return {
    begin(described: Column[]): void {
      columns = described
    },
    add(bytes: Buffer, start: number, end: number): void {
      rows.push(readCells(bytes, start, columns.length))
      size += end - start
    },
    end(): void {
      isOver = true
    },
    fail(error: Error): void {
      failure ??= error
      handOver()
    },
    handOver,
    isFull: (): boolean => !isOver && isWorthIt(),
    next: (): Promise<StreamedBatch> =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        handOver()
      }),
  }
}

/** Until the statement is over; then the driver listens again. */
function takeRowsOff(stream: Duplex, kept: RowCache): void {
  const driver = stream.listeners('data') as ((bytes: Buffer) => void)[]
  const read = createMessageReader((code, bytes, start, end) => {
    if (code === messageCode.dataRow) return kept.add(bytes, start, end)
    if (code === messageCode.ready) {
      kept.end()
      stream.removeListener('data', onData)
      for (const listener of driver) stream.on('data', listener)
    }
    for (const listener of driver) listener(bytes.subarray(start - 5, end))
  })
  const onData = (chunk: Buffer): void => {
    try {
      read(chunk)
    } catch (error) {
      // Not what a PostgreSQL server says.
      stream.destroy(error as Error)
      return
    }
    kept.handOver()
    if (kept.isFull()) stream.pause()
  }
  stream.removeAllListeners('data')
  stream.on('data', onData)
}

/** Longer ones are quicker read by themselves. */
const shortText = 96

/**
 * The values of rows that lie in the same buffer are parts of one text: that is much cheaper than a text for each. Bytes
 * beyond ASCII are several to a character, so a value that has some is read by itself.
 */
function createCellReader(): (bytes: Buffer, start: number, count: number) => Cell[] {
  let current: Buffer | undefined
  let text = ''
  let at = new Int32Array()
  return (bytes, start, count) => {
    if (bytes !== current) {
      current = bytes
      text = bytes.toString('latin1')
    }
    if (at.length !== 2 * count) at = new Int32Array(2 * count)
    readRow(bytes, start, at)
    const cells = new Array<Cell>(count)
    for (let index = 0; index < count; index++) {
      const from = at[2 * index] as number
      const to = at[2 * index + 1] as number
      if (from < 0) cells[index] = null
      else if (to - from <= shortText && isAscii(bytes, from, to)) cells[index] = text.slice(from, to)
      else cells[index] = bytes.toString('utf8', from, to)
    }
    return cells
  }
}

function isAscii(bytes: Buffer, from: number, to: number): boolean {
  for (let place = from; place < to; place++) if ((bytes[place] as number) > 0x7f) return false
  return true
}
