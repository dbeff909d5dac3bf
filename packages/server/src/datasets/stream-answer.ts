// Streams rows as an HTTP answer, with back-pressure.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Batches } from '../db/guarded.ts'
import type { Cell, Format, OutputColumn } from '../formats/cell.ts'
import type { Answer } from '../http/operation.ts'
import { hasLeft } from '../http/request-signal.ts'
import type { Answered } from './dataset-type.ts'
import type { StreamSlots } from './stream-slots.ts'

const chunkLength = 64 * 1024

const over = new Error('The answer has ended')

type Begun = {
  /** `headers` are added to the answer. */
  begin(signal: AbortSignal): Promise<Answered & { headers?: Record<string, string> }>
  write(answered: Answered, signal: AbortSignal): AnswerBody | Promise<AnswerBody>
}

/** A body with its headers: whole where it is short enough to be sent at once, or in pieces. */
export type AnswerBody = { readonly headers: Readonly<Record<string, string>> } & (
  | { readonly whole: Buffer }
  | { readonly pieces: AsyncIterable<string | Uint8Array> }
)

/**
 * Streams an answer at the reader's speed. A failure before the first rows is an ordinary error; a later one breaks the
 * connection, so that half an answer never looks complete.
 */
export async function streamAnswer(
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  slots: StreamSlots,
  applicationId: string,
  { begin, write }: Begun,
): Promise<Answer> {
  const giveBack = await slots.take(applicationId, signal)
  const query = new AbortController()
  let body: Readable | undefined
  let stopWatching = () => {}
  const stop = () => {
    query.abort(signal.reason)
    body?.destroy(hasLeft(signal.reason) ? undefined : signal.reason)
  }
  const end = () => {
    stopWatching()
    signal.removeEventListener('abort', stop)
    giveBack()
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const { headers: own, ...answered } = await begin(query.signal)
    const written = await write(answered, query.signal)
    const headers = { ...written.headers, ...own }
    if ('whole' in written) {
      end()
      return { headers, body: written.whole }
    }
    signal.throwIfAborted()
    stopWatching = hangUpWhenStuck(request.raw.socket, slots.stuckReaderMs)
    body = Readable.from(written.pieces, { objectMode: false, highWaterMark: chunkLength })
    // Fastify handles the error once it sends the body; until then an unhandled error must not end the process.
    body
      .on('error', () => {})
      .once('close', () => {
        end()
        query.abort(over)
      })
    return { headers, body }
  } catch (error) {
    end()
    query.abort(over)
    throw error
  }
}

/** An answer of rows that are written as text. A new format for each attempt, so that one may count its rows. */
export function textBody(
  { columns, batches }: Answered,
  formatFor: (columns: readonly OutputColumn[]) => Format,
  headers: Readonly<Record<string, string>> = {},
): AnswerBody {
  const format = formatFor(columns)
  const own = { 'content-type': format.contentType, ...headers }
  if (!Array.isArray(batches)) return { headers: own, pieces: textPieces(batches, format) }
  const text = shortText(batches, format)
  return text === undefined
    ? { headers: own, pieces: textPieces(batches, formatFor(columns)) }
    : { headers: own, whole: Buffer.from(text) }
}

const looksAtReader = 10

/**
 * Disconnects a reader that has taken nothing for this long, so that its query frees the database. Only time with text
 * waiting counts, because a slow query is not the reader's fault. Looks are counted instead of time, because neither is a
 * server that was blocked.
 */
function hangUpWhenStuck(socket: Socket, stuckMs: number): () => void {
  let taken = -1
  let idleLooks = 0
  const look = () => {
    const nowTaken = socket.bytesWritten - socket.writableLength
    idleLooks = socket.writableLength > 0 && nowTaken === taken ? idleLooks + 1 : 0
    taken = nowTaken
    // A reset, because after a normal close the kernel would keep the unread buffers.
    if (idleLooks >= looksAtReader) socket.resetAndDestroy()
  }
  const timer = setInterval(look, Math.ceil(stuckMs / looksAtReader))
  return () => clearInterval(timer)
}

/** An answer that is all there as one text, unless that is longer than a chunk. */
function shortText(batches: readonly Cell[][][], format: Format): string | undefined {
  let text = format.begin
  let separator = ''
  for (const batch of batches) {
    for (const cells of batch) {
      text += separator + format.row(cells)
      separator = format.separator
      if (text.length >= chunkLength) return undefined
    }
  }
  return text + format.end
}

/** Joins rows to chunks that are worth sending. */
async function* textPieces(batches: Batches, format: Format): AsyncGenerator<string> {
  let text = format.begin
  let separator = ''
  for await (const batch of batches) {
    for (const cells of batch) {
      text += separator + format.row(cells)
      separator = format.separator
      if (text.length < chunkLength) continue
      yield text
      text = ''
    }
  }
  yield text + format.end
}
