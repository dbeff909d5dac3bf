/**
 * Follows what a client sends to a PostgreSQL server, as far as it decides what the server may answer: how many
 * statements wait for their ReadyForQuery, and whether one of them is a COPY.
 */
export type FrontendTracker = {
  sent(chunk: Uint8Array): void
  /** Counts one ReadyForQuery; false when no statement waits for one. */
  answered(): boolean
  readonly isWaiting: boolean
  readonly isCopying: boolean
}

const query = 0x51
const sync = 0x53
const headerBytes = 5
const copyCommand = /^\s*COPY\b/i
/** Enough of a statement to see its first word. */
const firstWordBytes = 64

/** Its input is ours: messages begin where a chunk begins or where the one before ended. */
export function createFrontendTracker(): FrontendTracker {
  let hasStarted = false
  let waiting = 0
  let isCopying = false
  /** Bytes of the message under way that are still to come. */
  let missing = 0
  let header = Buffer.alloc(0)

  function begin(code: number, chunk: Buffer, bodyAt: number): void {
    if (code !== query && code !== sync) return
    waiting++
    const text = code === query ? chunk.toString('latin1', bodyAt, bodyAt + firstWordBytes) : ''
    isCopying = copyCommand.test(text)
  }

  return {
    sent(bytes) {
      let chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      if (header.length > 0) {
        chunk = Buffer.concat([header, chunk])
        header = Buffer.alloc(0)
      }
      let at = Math.min(missing, chunk.length)
      missing -= at
      // The startup message has no code.
      while (chunk.length - at >= (hasStarted ? headerBytes : headerBytes - 1)) {
        const lengthAt = hasStarted ? at + 1 : at
        if (hasStarted) begin(chunk[at] as number, chunk, at + headerBytes)
        hasStarted = true
        const end = lengthAt + chunk.readInt32BE(lengthAt)
        missing = Math.max(0, end - chunk.length)
        at = Math.min(end, chunk.length)
      }
      if (at < chunk.length) header = Buffer.from(chunk.subarray(at))
    },
    answered() {
      if (waiting === 0) return false
      waiting--
      return true
    },
    get isWaiting() {
      return waiting > 0
    },
    get isCopying() {
      return isCopying
    },
  }
}
