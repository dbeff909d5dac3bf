const maxPieceBytes = 32 * 1024
// A UTF-16 code unit takes at most three bytes of UTF-8.
const safeLength = Math.floor(maxPieceBytes / 3)

/** Splits text into frames of limited size without splitting a surrogate pair: a lone half waits for the next chunk. */
export function createTextPieces() {
  let held = ''
  return {
    *add(text: string): Generator<string> {
      const whole = held + text
      held = ''
      let at = 0
      while (at < whole.length) {
        let end = Math.min(at + safeLength, whole.length)
        if (isHighSurrogate(whole.charCodeAt(end - 1))) end--
        if (end === at) break
        yield whole.slice(at, end).toWellFormed()
        at = end
      }
      held = whole.slice(at)
    },
    *end(): Generator<string> {
      if (held !== '') yield held.toWellFormed()
      held = ''
    },
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
