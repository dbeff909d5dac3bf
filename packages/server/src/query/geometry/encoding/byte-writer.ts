/** A growable byte buffer. */
export type ByteWriter = { bytes: Buffer; view: DataView; length: number }

export function createByteWriter(capacity: number): ByteWriter {
  return { ...allocate(capacity), length: 0 }
}

/** Memory of its own, not a part of Node's pool, so that it can be enlarged and freed. */
export function allocate(size: number): { bytes: Buffer; view: DataView } {
  const bytes = Buffer.allocUnsafeSlow(size)
  return { bytes, view: new DataView(bytes.buffer) }
}

/** Makes room for `count` more bytes and answers the buffer to write them to. */
export function reserve(writer: ByteWriter, count: number): Buffer {
  return writer.length + count > writer.bytes.length ? grow(writer, count) : writer.bytes
}

/** Frees the old memory at once: left to the collector, the garbage of large uploads slows the whole process. */
function grow(writer: ByteWriter, count: number): Buffer {
  const size = Math.max(writer.bytes.length * 2, writer.length + count)
  writer.bytes = Buffer.from((writer.bytes.buffer as ArrayBuffer).transfer(size))
  writer.view = new DataView(writer.bytes.buffer)
  return writer.bytes
}

/** Copies a few bytes faster than a call into native code does, and many with one. */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > 48) {
    to.set(from.subarray(start, end), at)
    return
  }
  for (let index = start, target = at; index < end; index++, target++) to[target] = from[index]
}
