import { aclClasses, aclLevels, type Permissions } from '../access/acl.ts'
import { ApiError, type Fault } from '../errors.ts'

const maxIds = 10_000

/** The ACL with its words checked, or a 400 that names each wrong one. */
export function readPermissions(permissions: Permissions): Permissions {
  const faults: Fault[] = []
  const known = (names: readonly string[], name: string, path: string) => {
    if (name !== '*' && !names.includes(name)) {
      faults.push({ path, code: 'unknown', message: `"${name}" is not one of ${names.join(', ')}, *` })
    }
  }
  let ids = 0
  for (const [aclClass, levels] of Object.entries(permissions)) {
    known(aclClasses, aclClass, `body/permissions/${aclClass}`)
    for (const [level, grant] of Object.entries(levels)) {
      known(aclLevels, level, `body/permissions/${aclClass}/${level}`)
      ids += grant.length
    }
  }
  if (ids > maxIds) faults.push({ path: 'body/permissions', code: 'size', message: `more than ${maxIds} ids` })
  const [first] = faults
  if (first) throw new ApiError('invalid_request', `${first.path} ${first.message}`, { faults })
  return permissions
}
