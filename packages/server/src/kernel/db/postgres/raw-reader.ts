/** Parser for the messages of a PostgreSQL server. */
import { ApiError } from '../../errors.ts'

export const messageCode = { dataRow: 0x44, error: 0x45, ready: 0x5a } as const

type OnMessage = (code: number, bytes: Buffer, start: number, end: number) => void

/**
 * Cuts what arrives into messages. One that comes in several pieces is copied and put together; all others stay where they are. The chunk
 * is not looked at afterwards.
 */
export function createMessageReader(onMessage: OnMessage): (chunk: Buffer) => void {
  let begun: Buffer[] = []
  let begunLength = 0
  let needed = 5

  /** Adds to the message that has begun, up to its end if that is there; answers how much of the chunk that took. */
  function goOn(chunk: Buffer): number {
    let taken = 0
    while (begunLength < needed) {
      if (taken === chunk.length) return taken
      const piece = chunk.subarray(taken, taken + needed - begunLength)
      begun.push(Buffer.from(piece))
      begunLength += piece.length
      taken += piece.length
      if (needed === 5 && begunLength === 5) needed = lengthAt(Buffer.concat(begun), 0)
    }
    const bytes = Buffer.concat(begun, begunLength)
    begun = []
    begunLength = 0
    onMessage(bytes[0] ?? 0, bytes, 5, bytes.length)
    return taken
  }

  return (chunk) => {
    let start = begunLength > 0 ? goOn(chunk) : 0
    if (begunLength > 0) return
    for (needed = lengthAt(chunk, start); needed <= chunk.length - start; needed = lengthAt(chunk, start)) {
      onMessage(chunk[start] ?? 0, chunk, start + 5, start + needed)
      start += needed
    }
    if (start === chunk.length) return
    begun = [Buffer.from(chunk.subarray(start))]
    begunLength = chunk.length - start
  }
}

/** A row is held in memory whole, and as many of them as there are readers. */
const longestMessage = 64 << 20

/** The code, the length and what it counts; at least the first two, as long as they are not there. */
function lengthAt(bytes: Buffer, start: number): number {
  if (bytes.length - start < 5) return 5
  const length = bytes.readInt32BE(start + 1)
  if (length > longestMessage) throw rowTooLarge()
  if (length < 4) throw new Error(`The server sent a message of ${length} bytes`)
  return 1 + length
}

const rowTooLarge = (): ApiError =>
  new ApiError('invalid_request', 'A row of the answer is larger than 64 MiB. Ask for fewer or smaller attributes.')

/** Where the values of a DataRow begin and end. */
export function readRow(bytes: Buffer, start: number, at: Int32Array): void {
  const count = bytes.readInt16BE(start)
  if (2 * count !== at.length) throw new Error(`The answer has ${count} columns, not ${at.length / 2}`)
  let place = start + 2
  for (let index = 0; index < at.length; index += 2) {
    const length = bytes.readInt32BE(place)
    place += 4
    at[index] = length < 0 ? -1 : place
    if (length > 0) place += length
    at[index + 1] = place
  }
}

/** From the start of the first value to the end of the last one. */
export function rowLength(at: Int32Array): number {
  const start = at[0] ?? 0
  return (at[at.length - 1] ?? 0) - (start < 0 ? (at[1] ?? 0) : start)
}

/** The fields of an ErrorResponse: a letter and a text each. */
export function readError(bytes: Buffer, start: number, end: number): Error {
  const fields = new Map<string, string>()
  for (const field of bytes.toString('utf8', start, end).split('\0')) fields.set(field.charAt(0), field.slice(1))
  return Object.assign(new Error(fields.get('M') ?? 'The database failed'), {
    code: fields.get('C') ?? '',
    routine: fields.get('R') ?? '',
    where: fields.get('W') ?? '',
    hint: fields.get('H') ?? '',
  })
}
