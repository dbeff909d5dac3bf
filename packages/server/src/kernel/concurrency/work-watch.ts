/**
 * Which background work fails, such as a poll loop or a sweep: it logs its error and goes on, so somebody must remember. Readiness names
 * it until it succeeds.
 */
export type WorkWatch = {
  /** A loop, or one part of it, under the name of the whole: each part fails and succeeds for itself. */
  part(name: string): Watch
  /** The names of what fails now, but for want of room. */
  failing(): readonly string[]
  /** Whether some of it fails for want of room. */
  lacksRoom(): boolean
}

/** Runs the work, and hands on what it gives or throws. */
export type Watch = <T>(work: () => Promise<T>) => Promise<T>

/** Work that nobody tries any more, such as for clients that have left, is forgotten. */
const forgetMs = 600_000

export const unwatched: Watch = (work) => work()

type Failure = 'lasting' | 'full'

/** `judge` tells a failure that the next try would repeat from one that passes, such as a lost connection. */
export function createWorkWatch(judge: (error: unknown) => Failure | undefined): WorkWatch {
  const failures = new Map<symbol, { readonly name: string; readonly kind: Failure; readonly at: number }>()
  const recent = (kind: Failure) => {
    const since = performance.now() - forgetMs
    return [...failures.values()].filter((failure) => failure.kind === kind && failure.at > since)
  }
  return {
    part(name) {
      const part = Symbol(name)
      return async (work) => {
        try {
          const result = await work()
          failures.delete(part)
          return result
        } catch (error) {
          const kind = judge(error)
          if (kind) failures.set(part, { name, kind, at: performance.now() })
          throw error
        }
      }
    },
    failing: () => [...new Set(recent('lasting').map(({ name }) => name))],
    lacksRoom: () => recent('full').length > 0,
  }
}
