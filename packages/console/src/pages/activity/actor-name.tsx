/** Who did it: a key by its name, a user by the address, or a word. */
import type { AuditEntry } from '@graticule/client'
import type { ReactElement } from 'react'
import type { Names } from './activity-names.ts'
import { actorLabels } from './activity-words.ts'

interface ActorNameProps {
  entry: AuditEntry
  names: Names
}

export function ActorName({ entry, names }: ActorNameProps): ReactElement {
  const { actorType, actorId, userId } = entry
  if (actorType === 'user') return <>{names.userName(userId) ?? `User ${userId}`}</>
  const name = names.keyName(actorId)
  if (actorType === 'master') return <>{name || 'Master key'}</>
  if (actorType !== 'key') return <>{actorLabels[actorType]}</>
  if (name) return <>{name}</>
  return (
    <>
      API key <code>{actorId}</code>
    </>
  )
}
