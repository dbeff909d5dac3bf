// Manual release of large buffers.

/**
 * Frees memory at once. Left to the garbage collector, the hundreds of megabytes of a file would trigger one full
 * collection after another.
 */
export function free(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** Frees a buffer that is no longer read or written. */
export function release(owner: { bytes: Buffer }): void {
  free(owner.bytes.buffer)
  owner.bytes = Buffer.alloc(0)
}

/** Copies bytes to a larger buffer and frees the old one. */
export function enlarged(bytes: Buffer, size: number): Buffer {
  return Buffer.from((bytes.buffer as ArrayBuffer).transfer(size))
}

/** Whether the bytes own their whole buffer; otherwise others may use the rest of it. */
export const ownsBuffer = ({ buffer, byteLength }: Uint8Array): boolean => buffer.byteLength === byteLength
