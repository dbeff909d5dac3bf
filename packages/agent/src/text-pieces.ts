const maxPieceBytes = 32 * 1024
// No UTF-16 code unit takes more than three bytes of UTF-8.
const safeLength = Math.floor(maxPieceBytes / 3)

/** Cuts text into frames that are not too large, and never through a character: half an emoji waits for its rest. */
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
