import type { ConnectionRefused } from './errors.ts'

/**
 * Ends the process with the refusal's message and code 1 if nobody catches it, where Node would print a line of this
 * package's code, a stack and its own version. Listens for one turn of the event loop: an uncaught rejection is
 * reported within it. A program with a listener of its own is left alone.
 */
export function sayUncaught(refusal: ConnectionRefused): void {
  if (process.listenerCount('uncaughtException') > 0) return
  const say = (error: unknown) => {
    if (error !== refusal) return void process.nextTick(rethrow, error)
    console.error(refusal.message)
    process.exit(1)
  }
  process.once('uncaughtException', say)
  setImmediate(() => process.off('uncaughtException', say))
}

/** Thrown by the listener itself, an error would end the process with the code of a broken listener. */
function rethrow(error: unknown): never {
  throw error
}
