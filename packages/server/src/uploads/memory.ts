/**
 * Gives memory back at once. Left to the collector, the hundreds of megabytes that pass through the server with a file would
 * make it look at everything the server has, again and again.
 */
export function free(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** Else they are a part of something that others may use. */
export const hasOwnMemory = ({ buffer, byteLength }: Uint8Array): boolean => buffer.byteLength === byteLength
