/** Who may use a single session: any number of single statements, or one transaction. First come, first served. */
export type Turn = {
  shared<T>(work: () => Promise<T>): Promise<T>
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

export function createTurn(): Turn {
  let lastExclusive: Promise<void> = Promise.resolve()
  const running = new Set<Promise<void>>()

  return {
    shared(work) {
      const result = lastExclusive.then(work)
      const settled = result.then(ignore, ignore)
      running.add(settled)
      void settled.then(() => running.delete(settled))
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
