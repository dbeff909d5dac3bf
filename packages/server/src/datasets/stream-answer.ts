import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyRequest } from 'fastify'
import type { Cell, Format } from '../formats/cell.ts'
import type { Answer } from '../http/operation.ts'
import type { Plan } from '../query/plan.ts'
import { type FormatName, formatOf } from './answer-format.ts'
import type { Answered, Dataset } from './sources.ts'
import type { StreamSlots } from './stream-slots.ts'

/** A reader that takes nothing for this long is gone: its query must not hold on to the database. */
const stuckMs = 60_000
const chunkLength = 64 * 1024

const left = new Error('The client has left')

type Begun = {
  begin(signal: AbortSignal): Promise<Answered>
  format: { name: FormatName; filename?: string; dataset: Dataset; plan: Plan }
}

/**
 * An answer that flows as fast as it is read. What fails before the first rows is an ordinary error; what fails later
 * ends the connection in the middle, so that half an answer never looks like a whole one.
 */
export async function streamAnswer(
  request: FastifyRequest,
  slots: StreamSlots,
  applicationId: string,
  { begin, format }: Begun,
): Promise<Answer> {
  let giveBack = () => {}
  const reader = new AbortController()
  const { socket } = request.raw
  const leave = () => reader.abort(left)
  socket.once('close', leave)
  const end = () => {
    socket.off('close', leave)
    reader.abort(left)
    giveBack()
  }
  try {
    const { columns, batches, isWhole } = await begin(reader.signal)
    if (!isWhole) giveBack = slots.take(applicationId)
    const writer = formatOf(format, columns)
    const body = Readable.from(
      pieces(batches, writer, (error) => body.destroy(error)),
      {
        objectMode: false,
        highWaterMark: chunkLength,
      },
    )
    body.once('close', end)
    return { headers: headersOf(writer, format.filename), body }
  } catch (error) {
    end()
    throw error
  }
}

function headersOf({ contentType }: Format, filename: string | undefined): Record<string, string> {
  if (filename === undefined) return { 'content-type': contentType }
  return { 'content-type': contentType, 'content-disposition': contentDisposition(filename) }
}

/** Rows as text, in pieces that are worth sending. `cut` ends the answer when nobody takes the next one. */
async function* pieces(
  batches: AsyncIterable<Cell[][]>,
  format: Format,
  cut: (error: Error) => void,
): AsyncGenerator<string> {
  let text = format.begin
  let separator = ''
  for await (const batch of batches) {
    for (const cells of batch) {
      text += separator + format.row(cells)
      separator = format.separator
      if (text.length < chunkLength) continue
      const stuck = setTimeout(cut, stuckMs, new Error('The reader takes nothing'))
      try {
        yield text
      } finally {
        // Also when the reader leaves: the timer would keep the process from ending.
        clearTimeout(stuck)
      }
      text = ''
    }
  }
  yield text + format.end
}
