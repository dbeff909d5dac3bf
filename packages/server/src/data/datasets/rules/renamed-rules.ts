import type { Rule } from './rule.ts'

/** The rules once an attribute has another name. */
export const renamedRules = (rules: readonly Rule[], from: string, to: string): Rule[] => {
  const renamed = (name: string): string => (name === from ? to : name)
  return rules.map(({ where, attributes, set, ...rule }) => ({
    ...rule,
    ...(where && { where: renamedIn(where, renamed) as object }),
    ...(attributes && { attributes: attributes.map(renamed) }),
    ...(set && { set: Object.fromEntries(Object.entries(set).map(([name, value]) => [renamed(name), value])) }),
  }))
}

/** Below an attribute there are operators and values. */
function renamedIn(where: unknown, renamed: (name: string) => string): unknown {
  if (Array.isArray(where)) return where.map((item) => renamedIn(item, renamed))
  if (typeof where !== 'object' || where === null) return where
  return Object.fromEntries(
    Object.entries(where).map(([name, value]) =>
      name.startsWith('$') ? [name, renamedIn(value, renamed)] : [renamed(name), value],
    ),
  )
}
