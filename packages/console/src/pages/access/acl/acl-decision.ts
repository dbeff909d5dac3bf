/** Explains an ACL decision: the entry that decides, and the less specific one that it overrides. */
import type { Permissions } from '../../../../../server/src/api/access/grants.ts'

export interface Decision {
  isAllowed: boolean
  /** Begins with "because" or "there is". */
  reason: string
}

/** Without an id: whether anything of the class is allowed. */
export function decide(permissions: Permissions, aclClass: string, level: string, id: string | null): Decision {
  if (level === 'append') {
    const write = decide(permissions, aclClass, 'write', id)
    if (write.isAllowed) return { isAllowed: true, reason: `${write.reason}, and write includes append` }
  }
  const entry = decidingEntry(permissions, aclClass, level)
  if (!entry) {
    const what = level === 'append' ? `append of ${aclClass}` : aclClass
    return { isAllowed: false, reason: `there is no entry for ${what} and none for *` }
  }
  const place = `${entry.aclClass}.${entry.level}`
  const beaten = lessSpecific(permissions, aclClass, level, place)
  const over = beaten ? ` (it wins over ${beaten})` : ''
  if (entry.ids === '*' || entry.ids.includes('*')) return { isAllowed: true, reason: `because ${place} is *${over}` }
  const { ids } = entry
  if (ids.length === 0) return { isAllowed: false, reason: `because ${place} is empty${over}` }
  const listed = `${place} lists ${ids.length} ${ids.length === 1 ? 'id' : 'ids'}`
  if (id === null) return { isAllowed: true, reason: `for some, because ${listed}${over}` }
  const isAllowed = ids.includes(id)
  return { isAllowed, reason: `because ${listed}${isAllowed ? ', this one too' : ' and not this one'}${over}` }
}

/** The entry that would decide without the one at this place. */
function lessSpecific(permissions: Permissions, aclClass: string, level: string, place: string): string | null {
  const places = [`${aclClass}.${level}`, `${aclClass}.*`, `*.${level}`, '*.*']
  const rest = places.slice(places.indexOf(place) + 1)
  const entry = rest.find((other) => {
    const [otherClass = '', otherLevel = ''] = other.split('.')
    return permissions[otherClass]?.[otherLevel] !== undefined
  })
  return entry ?? null
}

interface Entry {
  aclClass: string
  level: string
  ids: '*' | readonly string[]
}

/**
 * The deciding entry with its place in the ACL; null if there is none, which grants nothing. Of `append` this is an entry of
 * its own, beside what `write` grants.
 */
function decidingEntry(permissions: Permissions, aclClass: string, level: string): Entry | null {
  const places = [
    [aclClass, level],
    [aclClass, '*'],
    ['*', level],
    ['*', '*'],
  ] as const
  const entry = firstEntry(permissions, places)
  // The level * grants append only as a part of write.
  return level === 'append' && entry?.level === '*' ? null : entry
}

function firstEntry(permissions: Permissions, places: readonly (readonly [string, string])[]): Entry | null {
  for (const [classPlace, levelPlace] of places) {
    const ids = permissions[classPlace]?.[levelPlace]
    if (ids !== undefined) return { aclClass: classPlace, level: levelPlace, ids }
  }
  return null
}
