/** Bytes that grow at their end. */
export type ByteWriter = { bytes: Buffer; view: DataView; length: number }

export function createByteWriter(capacity: number): ByteWriter {
  const bytes = Buffer.allocUnsafeSlow(capacity)
  return { bytes, view: viewOf(bytes), length: 0 }
}

/** Makes room for `count` more bytes and answers the buffer to write them to. */
export function reserve(writer: ByteWriter, count: number): Buffer {
  return writer.length + count > writer.bytes.length ? grow(writer, count) : writer.bytes
}

function grow(writer: ByteWriter, count: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.max(writer.bytes.length * 2, writer.length + count))
  bytes.set(writer.bytes.subarray(0, writer.length))
  writer.bytes = bytes
  writer.view = viewOf(bytes)
  return bytes
}

const viewOf = (bytes: Buffer): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Writes an unsigned integer of up to 53 bits at `at`, where there is room, and answers where it ends. */
export function putVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let end = at
  while (rest >= 0x10000000) {
    bytes[end++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  while (rest > 127) {
    bytes[end++] = (rest & 127) | 128
    rest >>>= 7
  }
  bytes[end++] = rest
  return end
}

/** How many bytes putVarint writes. */
export function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++
  return size
}

/** Copies a few bytes faster than a call into native code does, and many with one. */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > 48) {
    to.set(from.subarray(start, end), at)
    return
  }
  for (let index = start, target = at; index < end; index++, target++) to[target] = from[index] as number
}
