/**
 * A queue of work for the event loop of which each turn does one piece, because work that several clients cause in the same moment
 * would otherwise be done in one go, while all others wait.
 */
const waiting: (() => void)[] = []

/** Does the work in a later turn, after all that waits already. It must not throw. */
export function queueForLoop(work: () => void): void {
  if (waiting.push(work) === 1) setImmediate(doNext)
}

function doNext(): void {
  const [work] = waiting
  try {
    work?.()
  } finally {
    waiting.shift()
    if (waiting.length > 0) setImmediate(doNext)
  }
}
