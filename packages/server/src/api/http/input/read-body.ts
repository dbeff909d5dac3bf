/** Reads the bytes of a body as they arrive, and refuses one that is too large or over its budget before it is there. */
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../../kernel/errors.ts'
import type { JsonBudget } from '../../../kernel/json/json-budget.ts'
import { JsonScanner } from '../../../kernel/json/json-scanner.ts'
import { overLimit } from '../../../kernel/limits/limits.ts'

export type BodyLimits = {
  readonly bytes: number
  /** For JSON. */
  readonly budget?: JsonBudget | undefined
}

/** The scanner is that of the budget. */
type Done = (error: Error | null, body?: Buffer, scanner?: JsonScanner) => void

/** With a callback, because a promise would cost every request a turn of the event loop. */
export function readBody(request: IncomingMessage, limits: BodyLimits, done: Done): void {
  const announced = Number(request.headers['content-length'])
  if (announced > limits.bytes) {
    done(tooLarge(limits.bytes))
    return
  }
  const chunks: Buffer[] = []
  let length = 0
  const scanner = limits.budget && new JsonScanner(limits.budget)

  function take(chunk: Buffer): void {
    length += chunk.length
    chunks.push(chunk)
    try {
      if (length > limits.bytes) throw tooLarge(limits.bytes)
      scanner?.feed(chunk)
    } catch (error) {
      finish(error as Error)
    }
  }
  /** What still comes of a refused body is thrown away: the stream goes on flowing, and the connection ends with the answer. */
  function finish(error: Error | null): void {
    request.removeListener('data', take)
    request.removeListener('end', end)
    request.removeListener('error', fail)
    // A client that leaves later is no fault.
    if (error) request.on('error', () => undefined)
    if (error) done(error)
    else done(null, Buffer.concat(chunks, length), scanner)
  }
  const end = (): void => finish(Number.isNaN(announced) || announced === length ? null : incomplete())
  const fail = (cause: Error): void => finish(incomplete(cause))

  request.on('data', take)
  request.on('end', end)
  request.on('error', fail)
  request.resume()
}

const tooLarge = (most: number): ApiError =>
  overLimit('bodyBytes', most, `The body is larger than ${most} bytes, the most that this operation accepts.`)

const incomplete = (cause?: Error): ApiError =>
  new ApiError('invalid_request', 'The request is not valid HTTP.', { cause })
