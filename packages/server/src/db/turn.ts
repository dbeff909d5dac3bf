/** Who may use a single session: any number of single statements, or one transaction. First come, first served. */
export type Turn = {
  shared<T>(work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createTurn(): Turn {
  let lastExclusive: Promise<unknown> = Promise.resolve()
  const running = new Set<Promise<unknown>>()

  return {
    shared(work) {
      const result = lastExclusive.then(work)
      const settled = result.then(ignore, ignore).then(() => running.delete(settled))
      running.add(settled)
      return result
    },
    exclusive(work) {
      const result = Promise.all([lastExclusive, ...running]).then(work)
      lastExclusive = result.then(ignore, ignore)
      return result
    },
  }
}

function ignore(): void {}
