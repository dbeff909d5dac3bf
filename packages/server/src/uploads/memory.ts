/**
 * Gives memory back at once. Left to the collector, the hundreds of megabytes that pass through the server with a file would
 * make it look at everything the server has, again and again.
 */
export function free(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** The same of something that is written or read no more. */
export function release(owner: { bytes: Buffer }): void {
  free(owner.bytes.buffer)
  owner.bytes = Buffer.alloc(0)
}

/** The same bytes with room behind them; the memory of the smaller ones is freed at once, too. */
export function enlarged(bytes: Buffer, size: number): Buffer {
  return Buffer.from((bytes.buffer as ArrayBuffer).transfer(size))
}

/** Else they are a part of something that others may use. */
export const hasOwnMemory = ({ buffer, byteLength }: Uint8Array): boolean => buffer.byteLength === byteLength
