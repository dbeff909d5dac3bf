export type WholeCharacters = ReturnType<typeof createWholeCharacters>

/** Puts characters together again that a model cut in two: half an emoji waits for the other half. */
export function createWholeCharacters() {
  let half = ''
  return {
    take(piece: string): string {
      const text = half + piece
      const isCut = /[\uD800-\uDBFF]$/.test(text)
      half = isCut ? text.slice(-1) : ''
      return isCut ? text.slice(0, -1) : text
    },
    /** A half whose other half never came. */
    rest: (): string => half.toWellFormed(),
  }
}
