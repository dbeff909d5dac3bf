import { setImmediate as nextTurn } from 'node:timers/promises'

export { nextTurn }

const turnMs = 10
const pieceLength = 16_384

/**
 * A function to ask between pieces of work that a provider causes: has this turn of the event loop lasted 10 ms? Then the work goes
 * on in the next, because a provider may send a thousand lines in one packet, and others want to be served too.
 */
export function turnTimer(): () => boolean {
  let since = performance.now()
  return () => {
    const now = performance.now()
    const isOver = now - since > turnMs
    if (isOver) since = now
    return isOver
  }
}

/** The text in pieces that a parser reads in about a millisecond. */
export function* piecesOfText(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
}
