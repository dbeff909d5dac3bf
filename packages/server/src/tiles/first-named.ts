import { LRUCache } from 'lru-cache'

/** Beyond these a version counts as new again, which costs one reading of its source. */
const capacity = 10_000

/**
 * When a version of a tile source was first named to this process, in the time of `performance.now()`. Somebody who heard of a
 * change (by an event, or from another replica) names a version that a cache of one second does not know yet: what was read before
 * that moment may be too old for them, what is read after it is not.
 */
export function createFirstNamed(): (id: string, version: string) => number {
  const times = new LRUCache<string, number>({ max: capacity })
  return (id, version) => {
    const key = `${id} ${version}`
    const time = times.get(key) ?? performance.now()
    times.set(key, time)
    return time
  }
}
