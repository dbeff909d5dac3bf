import type pg from 'pg'
import { copyHeader, copyTrailer } from '../copy-binary.ts'
import type { TupleBytes } from '../db.ts'
import type { Sql } from '../sql.ts'
import { encodeStatement } from '../values.ts'

/** Lines of text. Answers how many rows there were. */
export function copyText(client: pg.Client, statement: Sql, chunks: AsyncIterable<string>): Promise<number> {
  return copyIn(client, statement, linesOf(chunks))
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk)
}

/** Tuples. Answers how many there were. */
export function copyBinary(client: pg.Client, statement: Sql, tuples: AsyncIterable<TupleBytes>): Promise<number> {
  return copyIn(client, statement, framed(tuples))
}

async function* framed(tuples: AsyncIterable<TupleBytes>): AsyncGenerator<Uint8Array> {
  yield copyHeader
  for await (const { bytes } of tuples) yield bytes
  yield copyTrailer
}

/** COPY … FROM STDIN. The next chunk is asked for when the one before has left. */
function copyIn(client: pg.Client, statement: Sql, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const { text, values } = encodeStatement(statement)
  if (values.length > 0) throw new Error('COPY takes no values')
  return new Promise((resolve, reject) => {
    const source = chunks[Symbol.asyncIterator]()
    let isOver = false
    let rows = 0
    /** Why there are no more chunks. */
    let broken: unknown
    const query = {
      submit: (connection: pg.Connection) => connection.query(text),
      async handleCopyInResponse({ stream }: pg.Connection) {
        try {
          for (let next = await source.next(); !next.done && !isOver; next = await source.next()) {
            await send(stream, next.value)
          }
          if (!isOver) stream.write(copyDone)
        } catch (error) {
          broken = error
          if (!isOver) stream.write(copyFail)
        }
      },
      // An external server may say anything.
      handleRowDescription() {},
      handleDataRow() {},
      handleEmptyQuery() {},
      handlePortalSuspended() {},
      handleCommandComplete: (message: { text: string }) => {
        rows = Number(/^COPY (\d+)$/.exec(message.text)?.[1] ?? 0)
      },
      handleReadyForQuery() {
        isOver = true
        resolve(rows)
      },
      handleError(error: unknown) {
        isOver = true
        // Not waited for: it may never give another chunk.
        source.return?.().catch(() => undefined)
        reject(broken ?? error)
      },
    }
    client.query(query)
  })
}

const copyDone = Buffer.from('c\0\0\0\x04')
const copyFail = Buffer.from('f\0\0\0\x05\0')

/** Until the system has all of it. */
function send(stream: pg.Connection['stream'], bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const header = Buffer.from('d\0\0\0\0')
    header.writeUInt32BE(bytes.length + 4, 1)
    stream.cork()
    stream.write(header)
    stream.write(bytes, (error) => (error ? reject(error) : resolve()))
    stream.uncork()
  })
}
