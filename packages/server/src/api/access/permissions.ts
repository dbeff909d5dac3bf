import Type from 'typebox'
import { FaultCollector } from '../../kernel/errors.ts'
import { unknownName } from '../../kernel/nearest-name.ts'
import { aclClasses, aclLevels, hasLevel, type Permissions } from './grants.ts'

const maxIds = 10_000
/** More than there are classes, and levels. */
const maxNames = 100

/** The schema of an ACL. */
export const permissionsSchema = Type.Record(
  Type.String(),
  Type.Record(
    Type.String(),
    Type.Union([Type.Literal('*'), Type.Array(Type.String({ maxLength: 255 }), { maxItems: maxIds })]),
    { maxProperties: maxNames },
  ),
  {
    maxProperties: maxNames,
    description:
      `\`{class: {level: ids}}\`; each of the three may be \`*\`. The most specific entry wins. Levels are ${aclLevels.join(', ')}; ` +
      '`append`, for datasets only, adds rows and does nothing else; `write` includes it.',
  },
)

const levelsOf = (aclClass: string): readonly string[] => aclLevels.filter((level) => hasLevel(aclClass, level))

/** Validates an ACL, or throws a 400 that names each unknown class and level. */
export function readPermissions(permissions: Permissions): Permissions {
  const faults = new FaultCollector()
  const demandKnown = (what: string, names: readonly string[], name: string, path: string) => {
    if (name !== '*' && !names.includes(name)) {
      faults.add({ path, code: 'unknown', message: unknownName(what, name, [...names, '*']) })
    }
  }
  let ids = 0
  for (const [aclClass, levels] of Object.entries(permissions)) {
    demandKnown('a class', aclClasses, aclClass, `body/permissions/${aclClass}`)
    for (const [level, grant] of Object.entries(levels)) {
      demandKnown(`a level of ${aclClass}`, levelsOf(aclClass), level, `body/permissions/${aclClass}/${level}`)
      ids += grant.length
    }
  }
  if (ids > maxIds)
    faults.add({ path: 'body/permissions', code: 'size', message: `must not have more than ${maxIds} ids` })
  faults.finish()
  return permissions
}
