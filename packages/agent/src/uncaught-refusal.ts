import type { ConnectionRefused } from './errors.ts'

/**
 * Prints the refusal's message and exits with code 1 if the rejection is not caught; Node would print source code, a stack
 * and its version. Listens for one turn of the event loop, within which Node reports uncaught rejections. Does nothing if
 * the program has its own listener.
 */
export function exitIfUncaught(refusal: ConnectionRefused): void {
  if (process.listenerCount('uncaughtException') > 0) return
  const say = (error: unknown) => {
    if (error !== refusal) return void process.nextTick(rethrow, error)
    console.error(refusal.message)
    process.exit(1)
  }
  process.once('uncaughtException', say)
  setImmediate(() => process.off('uncaughtException', say))
}

/** Rethrows other errors outside the listener, because an error thrown in it changes the exit code. */
function rethrow(error: unknown): never {
  throw error
}
