/** Explains an ACL decision: the entry that decides, and the less specific one that it overrides. */
import { decidingEntry, type Permissions } from '../../session/permissions.ts'

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
  const found = rest.find((other) => {
    const [otherClass = '', otherLevel = ''] = other.split('.')
    return permissions[otherClass]?.[otherLevel] !== undefined
  })
  return found ?? null
}
