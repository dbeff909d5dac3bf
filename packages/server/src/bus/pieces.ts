import { randomBytes } from 'node:crypto'

/** Larger messages travel in pieces: a broker cuts off whoever makes it hold much. */
const pieceBytes = 60_000
const maxPieces = 200
const nameBytes = 16

/** The message as pieces, each with the name of the whole and how many follow. */
export function cut(text: string): Buffer[] {
  const whole = Buffer.from(text)
  const name = randomBytes(nameBytes)
  const count = Math.max(1, Math.ceil(whole.length / pieceBytes))
  return Array.from({ length: count }, (_, index) => {
    const head = Buffer.alloc(2)
    head.writeUInt16BE(count - 1 - index)
    return Buffer.concat([name, head, whole.subarray(index * pieceBytes, (index + 1) * pieceBytes)])
  })
}

/** Puts pieces together again; answers the message with its last piece. What stays incomplete is forgotten. */
export function createJoiner(capacity = 1_000) {
  const parts = new Map<string, Buffer[]>()

  function keep(name: string, body: Buffer): void {
    const before = parts.get(name) ?? []
    if (before.length >= maxPieces) return
    if (parts.size >= capacity && before.length === 0) parts.delete(parts.keys().next().value ?? '')
    parts.set(name, [...before, Buffer.from(body)])
  }

  return (piece: Uint8Array): string | undefined => {
    const buffer = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    if (buffer.length < nameBytes + 2) return undefined
    const name = buffer.toString('latin1', 0, nameBytes)
    const body = buffer.subarray(nameBytes + 2)
    if (buffer.readUInt16BE(nameBytes) > 0) {
      keep(name, body)
      return undefined
    }
    const before = parts.get(name) ?? []
    parts.delete(name)
    return Buffer.concat([...before, body]).toString()
  }
}
