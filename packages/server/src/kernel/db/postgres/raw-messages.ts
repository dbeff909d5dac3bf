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
  const texts = values.map((value) => (value === null ? undefined : Buffer.from(value)))
  const statement = cString(name)
  const size = texts.reduce((sum, text) => sum + 4 + (text?.length ?? 0), 0)
  const bytes = message(bindCode, 1 + statement.length + 2 + 2 + size + 2 + 2 * binary.length)
  let at = 5
  bytes[at++] = 0
  at += statement.copy(bytes, at)
  at = bytes.writeInt16BE(0, at)
  at = bytes.writeInt16BE(texts.length, at)
  for (const text of texts) {
    at = bytes.writeInt32BE(text ? text.length : -1, at)
    if (text) at += text.copy(bytes, at)
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
