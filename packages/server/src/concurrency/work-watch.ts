/**
 * Which background work fails, such as a poll loop or a sweep: it logs its error and goes on, so somebody must remember. Readiness names
 * it until it succeeds.
 */
export type WorkWatch = {
  /** A loop, or one part of it, under the name of the whole: each part fails and succeeds for itself. */
  part(name: string): Watch
  /** The names of what fails now. */
  failing(): readonly string[]
}

/** Runs the work, and hands on what it gives or throws. */
export type Watch = <T>(work: () => Promise<T>) => Promise<T>

/** Work that nobody tries any more, such as for clients that have left, is forgotten. */
const forgetMs = 600_000

export const unwatched: Watch = (work) => work()

/** `isLasting` tells a failure that the next try would repeat from one that passes, such as a lost connection. */
export function createWorkWatch(isLasting: (error: unknown) => boolean): WorkWatch {
  const failures = new Map<symbol, { readonly name: string; readonly at: number }>()
  return {
    part(name) {
      const part = Symbol(name)
      return async (work) => {
        try {
          const result = await work()
          failures.delete(part)
          return result
        } catch (error) {
          if (isLasting(error)) failures.set(part, { name, at: performance.now() })
          throw error
        }
      }
    },
    failing() {
      const since = performance.now() - forgetMs
      return [...new Set([...failures.values()].filter(({ at }) => at > since).map(({ name }) => name))]
    },
  }
}
