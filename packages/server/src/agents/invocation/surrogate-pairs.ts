export type SurrogateJoiner = ReturnType<typeof createSurrogateJoiner>

/** Joins surrogate pairs that a model split between two pieces: half an emoji waits for its other half. */
export function createSurrogateJoiner() {
  let half = ''
  return {
    take(piece: string): string {
      const text = half + piece
      const isCut = /[\uD800-\uDBFF]$/.test(text)
      half = isCut ? text.slice(-1) : ''
      return isCut ? text.slice(0, -1) : text
    },
    /** A half that is left over at the end, as U+FFFD. */
    rest: (): string => half.toWellFormed(),
  }
}
