// The values of a caller that rules may name.
import type { Caller } from '../../../api/access/acl.ts'

/** Of a caller: what `$user.id` and its like stand for. Undefined where the caller has no such value. */
export type ResolveValue = (variable: string) => unknown

const variableForm = /^\$(?:user\.(?:id|email|roles|metadata\..+)|claims\..+|key\.metadata\..+)$/s

/** Whether a text begins as variables do: one that is none is a mistake, not a text. */
export const looksVariable = (value: unknown): value is string =>
  typeof value === 'string' && /^\$(?:user|claims|key)\b/.test(value)

export const isVariable = (value: unknown): value is string => typeof value === 'string' && variableForm.test(value)

/** A text as it is meant: two dollars stand for one. */
export const plainText = (text: string): string => (text.startsWith('$$') ? text.slice(1) : text)

export function valuesOf({ user, bearer, keyMetadata }: Pick<Caller, 'user' | 'bearer' | 'keyMetadata'>): ResolveValue {
  const roots: Readonly<Record<string, unknown>> = {
    user: user && { id: user.id, email: user.email, roles: user.roles, metadata: user.metadata },
    claims: bearer?.claims,
    key: keyMetadata && { metadata: keyMetadata },
  }
  return (variable) => present(memberAt(roots, variable.slice(1).split('.')))
}

function memberAt(root: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return root
  if (typeof root !== 'object' || root === null || Array.isArray(root) || !Object.hasOwn(root, name)) return undefined
  return memberAt((root as Readonly<Record<string, unknown>>)[name], rest)
}

/** What a filter would read as null, or as no value, is none of the caller. */
function present(value: unknown): unknown {
  if (value === null || value === '' || value === 'null') return undefined
  if (Array.isArray(value)) return value.some((item) => !isScalar(item)) || value.length === 0 ? undefined : value
  return value
}

const isScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
