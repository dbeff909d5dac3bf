/** What roles grant, in words. */
import type { Role } from '@graticule/client'
import { unionOfGrants } from '../../../../../server/src/api/access/grants.ts'
import { grantsSentence } from '../acl/acl-sentence.ts'

const onlyName = 'Only a name, for rules.'

export const grantsOfRole = ({ permissions }: Pick<Role, 'permissions'>): string =>
  permissions ? grantsSentence(permissions) : onlyName

/** What these names grant together; undefined where none of them grants anything. */
export function grantsOfNames(
  names: readonly string[],
  declared: readonly Pick<Role, 'name' | 'permissions'>[],
): string | undefined {
  const granted = declared.flatMap(({ name, permissions }) =>
    permissions && names.includes(name) ? [permissions] : [],
  )
  return granted.length === 0 ? undefined : grantsSentence(unionOfGrants(granted))
}
