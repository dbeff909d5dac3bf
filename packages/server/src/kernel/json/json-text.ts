/** Finds where texts in the bytes of JSON end: byte by byte at first, then by native searches, which short texts are not worth. */

export const quote = 0x22
const backslash = 0x5c

/** How far a text is read byte by byte. */
const nearBytes = 32

/** Searches one piece of bytes from the left to the right. */
export class TextSearch {
  /** Remembered, lest each search goes over all bytes that follow. */
  #nextQuote = -1
  #nextBackslash = -1

  /** Before other bytes are searched. */
  restart(): void {
    this.#nextQuote = -1
    this.#nextBackslash = -1
  }

  /** The offset of the closing quote. If there is none, the length of the bytes, and one more if the last of them escapes the next. */
  find(bytes: Uint8Array, begin: number): number {
    const { length } = bytes
    let far = begin + nearBytes
    let at = begin
    for (; at < length; at++) {
      if (at > far) {
        at = this.#skip(bytes, at)
        far = at + nearBytes
      }
      const byte = bytes[at]
      if (byte === quote) return at
      if (byte === backslash) at++
    }
    return at
  }

  /**
   * The next quote or backslash, or the last byte. The backslash is looked for before the quote only: in bytes that have none, each
   * search would go over all that follow.
   */
  #skip(bytes: Uint8Array, at: number): number {
    if (this.#nextQuote < at) this.#nextQuote = endOrIndexOf(bytes, quote, at)
    if (this.#nextBackslash < at)
      this.#nextBackslash = at + endOrIndexOf(bytes.subarray(at, this.#nextQuote), backslash, 0)
    return Math.min(this.#nextBackslash, bytes.length - 1)
  }
}

function endOrIndexOf(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at === -1 ? bytes.length : at
}
