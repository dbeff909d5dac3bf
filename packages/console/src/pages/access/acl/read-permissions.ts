/** Parses and validates an ACL from JSON text. */
import { aclClasses, aclLevels, hasLevel, type Permissions } from '../../../../../server/src/api/access/grants.ts'

export function readPermissions(text: string): { permissions: Permissions } | { fault: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : error}` }
  }
  const fault = faultIn(value)
  return fault === undefined ? { permissions: value as Permissions } : { fault }
}

function faultIn(value: unknown): string | undefined {
  if (!isObject(value)) return 'Must be an object of classes, such as {"datasets": {"read": "*"}}.'
  for (const [aclClass, levels] of Object.entries(value)) {
    if (aclClass !== '*' && !isOneOf(aclClasses, aclClass)) {
      return `"${aclClass}" is not a class. There are ${aclClasses.join(', ')} and *.`
    }
    const fault = faultInLevels(aclClass, levels)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultInLevels(aclClass: string, value: unknown): string | undefined {
  if (!isObject(value)) return `${aclClass}: must be an object of levels, such as {"read": "*"}.`
  const levels = aclLevels.filter((level) => hasLevel(aclClass, level))
  for (const [level, ids] of Object.entries(value)) {
    if (level !== '*' && !isOneOf(levels, level)) {
      return `${aclClass}: "${level}" is not a level. There are ${levels.join(', ')} and *.`
    }
    const isList = Array.isArray(ids) && ids.every((id) => typeof id === 'string')
    if (ids !== '*' && !isList) return `${aclClass}.${level}: must be "*" or a list of ids, such as ["6f0c…"].`
  }
  return undefined
}

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name)

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
