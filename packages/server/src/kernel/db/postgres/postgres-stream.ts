import type { Duplex } from 'node:stream'
import type pg from 'pg'
import type { ResultCell, ResultColumn } from '../values.ts'
import type { DriverSocket } from '../wire/driver-socket.ts'
import { columnsOf } from './postgres-statements.ts'
import { bindMessage, describeMessage, executeMessage, parseMessage, syncMessage } from './raw-messages.ts'
import { createMessageReader, messageCode, readRow } from './raw-reader.ts'

/** `isLast`: nothing comes after these rows, and the connection is free again. */
export type StreamedBatch = {
  readonly rows: ResultCell[][]
  readonly columns: ResultColumn[]
  readonly isLast: boolean
}

export type RowStream = {
  /** The rows that have come, once they are worth it. While nobody asks, at most as many again are kept. */
  next(): Promise<StreamedBatch>
}

/** One statement, and what goes with it in the same write. */
export type StreamedStatement = {
  readonly text: string
  readonly values: ResultCell[]
  /** The server keeps the statement under this name; none together with `before`. */
  readonly name?: string | undefined
  /** Commands without rows. The server skips what follows one that fails: the statement runs only if all of these did. */
  readonly before?: readonly string[]
  readonly after?: readonly string[]
  /** The rows are collected, so an external server may not send any number of them. */
  readonly isShort?: boolean
}

type DriverConnection = pg.Connection & {
  readonly stream: Duplex & Partial<Pick<DriverSocket, 'allowLongAnswer'>>
  /** The texts that the server has under a name. */
  readonly parsedStatements: Readonly<Record<string, string>>
}
type Waiting = { resolve(batch: StreamedBatch): void; reject(error: Error): void }

/** Rows are handed on when there are this many bytes of them, however few they are. */
const batchBytes = 512 * 1024

/**
 * The rows of one statement, all asked for at once: who reads slowly holds the server back by not emptying the socket,
 * and who reads quickly never waits for an answer to "go on". The driver does the talking, only the rows are taken off
 * the socket before it sees them: it would make a text of each value by itself.
 */
export function streamRows(client: pg.Client, statement: StreamedStatement, batchSize: number): RowStream {
  const { text, name } = statement
  const kept = keepRows(batchSize)
  let socket: Duplex | undefined
  const submittable = {
    // The driver notes under which name the server has which text.
    text,
    name,
    submit(connection: DriverConnection): void {
      socket = connection.stream
      // The rows are taken off as they are read, so there may be any number of them.
      if (!statement.isShort) connection.stream.allowLongAnswer?.()
      takeRowsOff(socket, kept)
      socket.write(messagesOf(statement, name !== undefined && connection.parsedStatements[name] !== undefined))
    },
    handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }): void => kept.begin(columnsOf(fields)),
    handleCommandComplete(): void {},
    handleEmptyQuery(): void {},
    handleReadyForQuery(): void {},
    // An external server may say anything.
    handleDataRow(): void {},
    handlePortalSuspended(): void {},
    handleError: kept.fail,
  }
  client.query(submittable as unknown as pg.Submittable)
  return {
    next() {
      const batch = kept.next()
      // Also when there were rows enough: the next ones are on their way while these are being written.
      socket?.resume()
      return batch
    },
  }
}

/** All of it in one buffer, and one Sync: it is where the server goes on after a failure. */
function messagesOf(
  { text, values, name = '', before = [], after = [] }: StreamedStatement,
  isParsed: boolean,
): Buffer {
  return Buffer.concat([
    ...before.flatMap(commandMessages),
    ...(isParsed ? [] : [parseMessage(name, text)]),
    bindMessage(name, values, []),
    describeMessage,
    executeMessage,
    ...after.flatMap(commandMessages),
    syncMessage,
  ])
}

const commandMessages = (text: string): Buffer[] => [parseMessage('', text), bindMessage('', [], []), executeMessage]

type RowCache = ReturnType<typeof keepRows>

function keepRows(batchSize: number) {
  const readCells = createCellReader()
  let columns: ResultColumn[] = []
  let rows: ResultCell[][] = []
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
    begin(described: ResultColumn[]): void {
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

type Taker = (kept: RowCache) => void

const takers = new WeakMap<Duplex, Taker>()

/** Hands the rows of the next answer to `kept`, until the server is ready again. */
function takeRowsOff(stream: Duplex, kept: RowCache): void {
  const taker = takers.get(stream) ?? createTaker(stream)
  takers.set(stream, taker)
  taker(kept)
}

/** Listens in the driver's place, once for each connection: listeners that come and go cost a stream several ticks. */
function createTaker(stream: Duplex): Taker {
  const driver = stream.listeners('data') as ((bytes: Buffer) => void)[]
  const toDriver = (bytes: Buffer): void => {
    for (const listener of driver) listener(bytes)
  }
  let kept: RowCache | undefined
  const read = createMessageReader((code, bytes, start, end) => {
    if (kept && code === messageCode.dataRow) return kept.add(bytes, start, end)
    if (kept && code === messageCode.ready) endAnswer(kept)
    toDriver(bytes.subarray(start - 5, end))
  })
  const endAnswer = (ended: RowCache): void => {
    ended.end()
    kept = undefined
  }
  const onData = (chunk: Buffer): void => {
    const taking = kept
    if (!taking) {
      toDriver(chunk)
      return
    }
    try {
      read(chunk)
    } catch (error) {
      // Not what a PostgreSQL server says.
      stream.destroy(error as Error)
      return
    }
    taking.handOver()
    if (taking.isFull()) stream.pause()
  }
  stream.removeAllListeners('data')
  stream.on('data', onData)
  return (next) => {
    kept = next
  }
}

/** Longer ones are quicker read by themselves. */
const shortText = 96

/**
 * The values of rows that lie in the same buffer are parts of one text: that is much cheaper than a text for each. Bytes
 * beyond ASCII are several to a character, so a value that has some is read by itself.
 */
function createCellReader(): (bytes: Buffer, start: number, count: number) => ResultCell[] {
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
    const cells = new Array<ResultCell>(count)
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
