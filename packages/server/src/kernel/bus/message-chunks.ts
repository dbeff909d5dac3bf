import { randomBytes } from 'node:crypto'

/** Chunking of large messages, because a broker disconnects clients for which it must buffer much. */
const chunkBytes = 60_000
const maxChunks = 200
const idBytes = 16

/** The chunks of a message. Each begins with the id of the message and the number of chunks that follow. */
export function splitMessage(text: string): Buffer[] {
  const whole = Buffer.from(text)
  const messageId = randomBytes(idBytes)
  const count = Math.max(1, Math.ceil(whole.length / chunkBytes))
  return Array.from({ length: count }, (_, index) => {
    const head = Buffer.alloc(2)
    head.writeUInt16BE(count - 1 - index)
    return Buffer.concat([messageId, head, whole.subarray(index * chunkBytes, (index + 1) * chunkBytes)])
  })
}

/** Joins chunks, and returns the message with its last one. The oldest incomplete messages are dropped. */
export function createChunkJoiner(capacity = 1_000) {
  const parts = new Map<string, Buffer[]>()

  function keep(messageId: string, body: Buffer): void {
    const before = parts.get(messageId) ?? []
    if (before.length >= maxChunks) return
    if (parts.size >= capacity && before.length === 0) parts.delete(parts.keys().next().value ?? '')
    parts.set(messageId, [...before, Buffer.from(body)])
  }

  return (chunk: Uint8Array): string | undefined => {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (buffer.length < idBytes + 2) return undefined
    const messageId = buffer.toString('latin1', 0, idBytes)
    const body = buffer.subarray(idBytes + 2)
    if (buffer.readUInt16BE(idBytes) > 0) {
      keep(messageId, body)
      return undefined
    }
    const before = parts.get(messageId) ?? []
    parts.delete(messageId)
    return Buffer.concat([...before, body]).toString()
  }
}
