/** The messages of PostgreSQL's protocol that a query needs, as bytes. */

const parseCode = 0x50
const bindCode = 0x42
const queryCode = 0x51

function message(code: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(5 + length)
  bytes[0] = code
  bytes.writeInt32BE(4 + length, 1)
  return bytes
}

const cString = (text: string): Buffer => Buffer.from(`${text}\0`)

export function parseMessage(name: string, text: string): Buffer {
  const body = Buffer.concat([cString(name), cString(text), Buffer.alloc(2)])
  return Buffer.concat([message(parseCode, body.length).subarray(0, 5), body])
}

/** Values travel as text; of the answer each column has its own form. */
export function bindMessage(name: string, values: readonly (string | null)[], binary: readonly boolean[]): Buffer {
  let size = 0
  for (const value of values) size += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const bytes = message(bindCode, 2 + Buffer.byteLength(name) + 2 + 2 + size + 2 + 2 * binary.length)
  let at = 5
  bytes[at++] = 0
  at += bytes.write(name, at)
  bytes[at++] = 0
  at = bytes.writeInt16BE(0, at)
  at = bytes.writeInt16BE(values.length, at)
  for (const value of values) {
    const length = value === null ? -1 : bytes.write(value, at + 4)
    at = bytes.writeInt32BE(length, at) + Math.max(0, length)
  }
  at = bytes.writeInt16BE(binary.length, at)
  for (const isBinary of binary) at = bytes.writeInt16BE(isBinary ? 1 : 0, at)
  return bytes
}

export function queryMessage(text: string): Buffer {
  const body = cString(text)
  return Buffer.concat([message(queryCode, body.length).subarray(0, 5), body])
}

/** Describe the unnamed portal. */
export const describeMessage = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0])

/** Execute the unnamed portal, all rows. */
export const executeMessage = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])

export const syncMessage = Buffer.from([0x53, 0, 0, 0, 4])

export const executeAndSync = Buffer.concat([executeMessage, syncMessage])

export const terminateMessage = Buffer.from([0x58, 0, 0, 0, 4])
