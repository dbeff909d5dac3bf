import { aclClasses, aclLevels, type Permissions } from '../access/acl.ts'
import { type Fault, faulty } from '../errors.ts'
import { unknownName } from '../nearest-name.ts'

const maxIds = 10_000

/** The ACL with its words checked, or a 400 that names each wrong one. */
export function readPermissions(permissions: Permissions): Permissions {
  const faults: Fault[] = []
  const known = (what: string, names: readonly string[], name: string, path: string) => {
    if (name !== '*' && !names.includes(name)) {
      faults.push({ path, code: 'unknown', message: unknownName(what, name, [...names, '*']) })
    }
  }
  let ids = 0
  for (const [aclClass, levels] of Object.entries(permissions)) {
    known('a class', aclClasses, aclClass, `body/permissions/${aclClass}`)
    for (const [level, grant] of Object.entries(levels)) {
      known('a level', aclLevels, level, `body/permissions/${aclClass}/${level}`)
      ids += grant.length
    }
  }
  if (ids > maxIds)
    faults.push({ path: 'body/permissions', code: 'size', message: `must not have more than ${maxIds} ids` })
  if (faults.length > 0) throw faulty(faults)
  return permissions
}
