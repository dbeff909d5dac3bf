import { LRUCache } from 'lru-cache'

/** Beyond these a version counts as new again, which costs a turn to read its source. */
const capacity = 10_000
/** How often a source is read for those who name versions that nobody has named before. */
const turnMs = 100

/** In the time of `performance.now()`. */
export type VersionRefresh = {
  /** When the version was first named to this process: what was read before may be too old for whoever named it. */
  readonly at: number
  /** When it is the source's turn to be read. */
  readonly readAt: number
}

/**
 * When a version of a tile source was first named to this process. Somebody who heard of a change (by an event, or from another
 * replica) names a version that a cache of one second does not know yet, and the source is read again. Since anybody can make up
 * versions, those that are named within a tenth of a second wait for one reading, which is new enough for all of them.
 */
export function createVersionRefresh(now = () => performance.now()): (id: string, version: string) => VersionRefresh {
  const named = new LRUCache<string, VersionRefresh>({ max: capacity })
  const turns = new LRUCache<string, number>({ max: capacity })

  /** A turn that is still to come is for all who ask until then. */
  function nextTurn(id: string, at: number): number {
    const last = turns.get(id) ?? Number.NEGATIVE_INFINITY
    const turn = last > at ? last : Math.max(at, last + turnMs)
    turns.set(id, turn)
    return turn
  }

  return (id, version) => {
    const key = `${id} ${version}`
    const refresh = named.get(key)
    if (refresh) return refresh
    const at = now()
    const first = { at, readAt: nextTurn(id, at) }
    named.set(key, first)
    return first
  }
}
