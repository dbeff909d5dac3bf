/** What the ACL of a key grants, by the server's own rule. */
import { type AclClass, type AclLevel, type Permissions, resolveGrant } from '../../../server/src/api/access/grants.ts'

/** Without an id: whether anything at all is granted. */
export function isGranted(permissions: Permissions, aclClass: AclClass, level: AclLevel, id?: string): boolean {
  const ids = resolveGrant(permissions, aclClass, level)
  if (ids === 'any') return true
  return id === undefined ? ids.length > 0 : ids.includes(id)
}
