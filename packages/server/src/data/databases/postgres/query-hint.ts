// What would mend a query that PostgreSQL refused, by the SQLSTATE of its error.

/** No such function or operator for these types, or a type that does not fit: a parameter that is text may be the reason. */
const typeStates = new Set(['42883', '42804', '42725', '42846'])
const unknownColumn = '42703'

export function queryHint(fault: unknown, typeHint: string): string {
  const { code, hint } = (fault ?? {}) as { code?: string; hint?: unknown }
  if (typeStates.has(code ?? '')) return typeHint
  const isNear = code === unknownColumn && typeof hint === 'string' && hint.startsWith('Perhaps you meant')
  return isNear ? ` ${hint}` : ''
}
