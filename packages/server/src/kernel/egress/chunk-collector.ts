const blockBytes = 65_536
/** Larger chunks are kept as they are. */
const smallBytes = 4_096

/**
 * Collects the chunks of a body. Small ones are copied into blocks: a sender decides how many bytes a chunk has, and ten megabytes in
 * chunks of one byte would be ten million buffers.
 */
export class ChunkCollector {
  readonly #whole: Buffer[] = []
  #block = Buffer.alloc(0)
  #used = 0

  add(chunk: Buffer): void {
    if (chunk.length > smallBytes) {
      this.#endBlock()
      this.#whole.push(chunk)
      return
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#endBlock()
      this.#block = Buffer.allocUnsafe(blockBytes)
    }
    this.#used += chunk.copy(this.#block, this.#used)
  }

  toBuffer(): Buffer {
    this.#endBlock()
    return Buffer.concat(this.#whole)
  }

  /** The rest of the block is for the chunks after. */
  #endBlock(): void {
    if (this.#used > 0) this.#whole.push(this.#block.subarray(0, this.#used))
    this.#block = this.#block.subarray(this.#used)
    this.#used = 0
  }
}
