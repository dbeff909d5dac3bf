/** The values of a caller that rules may name, such as `$user.email` and `$claims.groups`. */

export interface CallerValue {
  source: CallerSource
  /** Of what has members: `team`, `address.town`. */
  path: string
}

export type CallerSource = 'email' | 'id' | 'roles' | 'metadata' | 'claims' | 'key'

interface Source {
  /** The variable, or what it begins with if members follow. */
  variable: string
  hasMembers: boolean
  label: string
  words(path: string): string
}

export const callerSources: Readonly<Record<CallerSource, Source>> = {
  email: { variable: '$user.email', hasMembers: false, label: 'their e-mail', words: () => 'their e-mail' },
  id: { variable: '$user.id', hasMembers: false, label: 'their user id', words: () => 'their user id' },
  roles: { variable: '$user.roles', hasMembers: false, label: 'one of their roles', words: () => 'one of their roles' },
  metadata: {
    variable: '$user.metadata.',
    hasMembers: true,
    label: 'their metadata …',
    words: (path) => `their ${path} (metadata)`,
  },
  claims: {
    variable: '$claims.',
    hasMembers: true,
    label: 'their claims …',
    words: (path) => `their ${path} (claims)`,
  },
  key: {
    variable: '$key.metadata.',
    hasMembers: true,
    label: 'the key’s metadata …',
    words: (path) => `the key’s ${path} (metadata)`,
  },
}

export const callerSourceNames = Object.keys(callerSources) as CallerSource[]

/** Undefined if the text is no variable. */
export function readCallerValue(text: unknown): CallerValue | undefined {
  if (typeof text !== 'string') return undefined
  for (const source of callerSourceNames) {
    const { variable, hasMembers } = callerSources[source]
    if (!hasMembers && text === variable) return { source, path: '' }
    if (hasMembers && text.startsWith(variable) && text !== variable)
      return { source, path: text.slice(variable.length) }
  }
  return undefined
}

export const variableOf = ({ source, path }: CallerValue): string =>
  callerSources[source].variable + (callerSources[source].hasMembers ? path : '')

/** "their e-mail" */
export const callerWords = ({ source, path }: CallerValue): string => callerSources[source].words(path)

/** Whether the server reads a text as a variable, if perhaps a wrong one. */
export const looksVariable = (value: unknown): boolean =>
  typeof value === 'string' && /^\$(?:user|claims|key)\b/.test(value)
