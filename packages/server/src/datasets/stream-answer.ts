import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyRequest } from 'fastify'
import type { Cell, Format } from '../formats/cell.ts'
import type { Answer } from '../http/operation.ts'
import { hasLeft } from '../http/request-signal.ts'
import type { Plan } from '../query/plan.ts'
import { type FormatName, formatOf } from './answer-format.ts'
import type { Answered, Dataset } from './sources.ts'
import type { StreamSlots } from './stream-slots.ts'

const chunkLength = 64 * 1024

const over = new Error('The answer has ended')

type Begun = {
  /** `headers`: what the answer says besides. */
  begin(signal: AbortSignal): Promise<Answered & { headers?: Record<string, string> }>
  format: { name: FormatName; filename?: string; dataset: Dataset; plan: Plan }
}

/**
 * An answer that flows as fast as it is read. What fails before the first rows is an ordinary error; what fails later
 * ends the connection in the middle, so that half an answer never looks like a whole one.
 */
export async function streamAnswer(
  { request, signal }: { request: FastifyRequest; signal: AbortSignal },
  slots: StreamSlots,
  applicationId: string,
  { begin, format }: Begun,
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
    query.abort(over)
    giveBack()
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    const { columns, batches, isWhole, headers: own } = await begin(query.signal)
    const writer = formatOf(format, columns)
    const headers = { ...headersOf(writer, format.filename), ...own }
    const text = pieces(batches, writer)
    const begun = isWhole ? [await text.next(), await text.next()] : []
    if (begun[1]?.done) {
      end()
      return { headers, body: Buffer.from(String(begun[0]?.value)) }
    }
    signal.throwIfAborted()
    stopWatching = hangUpWhenStuck(request.raw.socket, slots.stuckReaderMs)
    body = Readable.from(resumed(begun, text), { objectMode: false, highWaterMark: chunkLength })
    // Whoever sends it is told of an error; until somebody does, it must not end the process.
    body.on('error', () => {}).once('close', end)
    return { headers, body }
  } catch (error) {
    end()
    throw error
  }
}

/** Goes on where the first results were taken already. */
async function* resumed<T>(begun: readonly IteratorResult<T, void>[], rest: AsyncGenerator<T>): AsyncGenerator<T> {
  for (const { value } of begun) if (value !== undefined) yield value
  yield* rest
}

function headersOf({ contentType }: Format, filename: string | undefined): Record<string, string> {
  if (filename === undefined) return { 'content-type': contentType }
  return { 'content-type': contentType, 'content-disposition': contentDisposition(filename) }
}

/**
 * A reader that takes nothing for this long is gone: its query must not hold on to the database. A slow query is not the
 * reader's fault, so only text that waits to be taken counts.
 */
function hangUpWhenStuck(socket: Socket, stuckMs: number): () => void {
  let taken = -1
  let takenAt = performance.now()
  const look = () => {
    const now = performance.now()
    const nowTaken = socket.bytesWritten - socket.writableLength
    if (socket.writableLength > 0 && nowTaken === taken) {
      // A reset: what waits in the system's buffers would be kept for whoever never reads it.
      if (now - takenAt >= stuckMs) socket.resetAndDestroy()
    } else {
      taken = nowTaken
      takenAt = now
    }
  }
  const timer = setInterval(look, Math.ceil(stuckMs / 10))
  return () => clearInterval(timer)
}

/** Rows as text, in pieces that are worth sending. */
async function* pieces(batches: AsyncIterable<Cell[][]>, format: Format): AsyncGenerator<string> {
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
