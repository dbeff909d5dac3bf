// Streams rows as an HTTP answer, with back-pressure.
import { Readable } from 'node:stream'
import type { Answer } from '../../../api/http/operation.ts'
import { hasLeft } from '../../../api/http/request-signal.ts'
import type { Batches } from '../../../kernel/db/guarded.ts'
import type { Cell, OutputColumn, RowFormat } from '../../../query/formats/cell.ts'
import type { SourceRows } from '../dataset-type.ts'
import type { StreamSlots } from './stream-slots.ts'

/** A longer answer is sent in pieces of this length. */
export const chunkLength = 64 * 1024

const over = new Error('The answer has ended')

type AnswerSource = {
  /** `headers` are added to the answer. */
  begin(signal: AbortSignal): Promise<SourceRows & { headers?: Record<string, string> }>
  write(answered: SourceRows, signal: AbortSignal): AnswerBody | Promise<AnswerBody>
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
  { signal }: { signal: AbortSignal },
  slots: StreamSlots,
  applicationId: string,
  { begin, write }: AnswerSource,
): Promise<Answer> {
  const giveBack = await slots.take(applicationId, signal)
  const query = new AbortController()
  let body: Readable | undefined
  const stop = () => {
    query.abort(signal.reason)
    body?.destroy(hasLeft(signal.reason) ? undefined : signal.reason)
  }
  const end = () => {
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
  { columns, batches }: SourceRows,
  formatFor: (columns: readonly OutputColumn[]) => RowFormat,
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

/** An answer that is all there as one text, unless that is longer than a chunk. */
function shortText(batches: readonly Cell[][][], format: RowFormat): string | undefined {
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
async function* textPieces(batches: Batches, format: RowFormat): AsyncGenerator<string> {
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
