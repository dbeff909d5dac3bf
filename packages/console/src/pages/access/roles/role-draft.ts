/** The form's values of a role, and the body that it sends. */
import type { Role, RoleCreate, RolePatch } from '@graticule/client'
import type { Permissions } from '../../../../../server/src/api/access/grants.ts'
import { mergePatchOf } from '../merge-patch.ts'

export type RoleKind = 'name' | 'rights'

export interface RoleDraft {
  name: string
  description: string
  kind: RoleKind
  /** Kept while the kind is another, so that a look at it loses nothing. */
  permissions: Permissions
}

export const emptyRole: RoleDraft = { name: '', description: '', kind: 'name', permissions: {} }

export const draftOf = ({ name, description, permissions }: Role): RoleDraft => ({
  name,
  description,
  kind: permissions ? 'rights' : 'name',
  permissions: permissions ?? {},
})

export const roleOf = ({ name, description, kind, permissions }: RoleDraft): RoleCreate => ({
  name,
  description: description.trim(),
  permissions: kind === 'name' ? null : (structuredClone(permissions) as Role['permissions']),
})

/** What the form changed. */
export const patchOf = (role: Role, draft: RoleDraft): RolePatch =>
  mergePatchOf({ ...roleOf(draftOf(role)) }, { ...roleOf(draft) }) as RolePatch
