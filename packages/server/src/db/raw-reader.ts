/** What the server says, read off its bytes. */

export const messageCode = { dataRow: 0x44, error: 0x45, ready: 0x5a } as const

type OnMessage = (code: number, bytes: Buffer, start: number, end: number) => void

/** Cuts what arrives into messages. One that comes in several pieces is put together; all others stay where they are. */
export function createMessageReader(onMessage: OnMessage): (chunk: Buffer) => void {
  let rest: Buffer[] = []
  let restLength = 0
  let needed = 5

  return (chunk) => {
    rest.push(chunk)
    restLength += chunk.length
    if (restLength < needed) return
    const bytes = rest.length === 1 ? chunk : Buffer.concat(rest, restLength)
    let start = 0
    for (needed = lengthAt(bytes, start); needed <= bytes.length - start; needed = lengthAt(bytes, start)) {
      onMessage(bytes[start] ?? 0, bytes, start + 5, start + needed)
      start += needed
    }
    rest = start < bytes.length ? [bytes.subarray(start)] : []
    restLength = bytes.length - start
  }
}

/** The code, the length and what it counts; at least the first two, as long as they are not there. */
const lengthAt = (bytes: Buffer, start: number): number =>
  bytes.length - start < 5 ? 5 : 1 + bytes.readInt32BE(start + 1)

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

/** The fields of an ErrorResponse: a letter and a text each. */
export function readError(bytes: Buffer, start: number, end: number): Error {
  const fields = new Map<string, string>()
  for (const field of bytes.toString('utf8', start, end).split('\0')) fields.set(field.charAt(0), field.slice(1))
  return Object.assign(new Error(fields.get('M') ?? 'The database failed'), {
    code: fields.get('C') ?? '',
    routine: fields.get('R') ?? '',
  })
}
