/** A piece of SQL whose values are bound, never spliced. Only this module makes one. */
export type Sql = { readonly [brand]: true; readonly parts: readonly (string | Bound)[] }

export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null | readonly SqlValue[]

type Bound = { readonly value: SqlValue }

const brand: unique symbol = Symbol('sql')

const make = (parts: readonly (string | Bound)[]): Sql => ({ [brand]: true, parts: merged(parts) })

/** Neighbouring texts become one, so that a fragment that is used again is cheap to put in. */
function merged(parts: readonly (string | Bound)[]): (string | Bound)[] {
  const result: (string | Bound)[] = []
  let text = ''
  for (const part of parts) {
    if (typeof part === 'string') text += part
    else {
      result.push(text, part)
      text = ''
    }
  }
  result.push(text)
  return result
}

const isSql = (value: unknown): value is Sql => typeof value === 'object' && value !== null && brand in value

/** sql`SELECT … WHERE id = ${id} AND ${condition}`: fragments are inlined, every other value becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...values: (Sql | SqlValue)[]): Sql {
  const parts: (string | Bound)[] = [strings[0] ?? '']
  values.forEach((value, index) => {
    // Not by spreading: a large fragment would overflow the stack.
    if (isSql(value)) for (const part of value.parts) parts.push(part)
    else parts.push({ value })
    parts.push(strings[index + 1] ?? '')
  })
  return make(parts)
}

/** A quoted identifier; a dotted name is quoted part by part when given as several arguments. */
export function ident(...names: string[]): Sql {
  return make([names.map(quoted).join('.')])
}

/** The same as text, for commands that are no Sql. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Text that the program itself wrote (a keyword, an operator, a migration). Never pass input. */
export const raw = (text: string): Sql => make([text])

/** A JSON value as a jsonb parameter. */
export const json = (value: unknown): Sql => sql`${JSON.stringify(value) ?? null}::jsonb`

export function joinSql(pieces: readonly Sql[], separator: string): Sql {
  return make(pieces.flatMap((piece, index) => (index === 0 ? piece.parts : [separator, ...piece.parts])))
}

/** All conditions hold; none at all is true. */
export function and(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return raw('TRUE')
  return joinSql(
    conditions.map((condition) => sql`(${condition})`),
    ' AND ',
  )
}

/** The text with $n markers and the values, as the wire wants them. */
export function compileSql(query: Sql): { text: string; values: SqlValue[] } {
  const values: SqlValue[] = []
  const text = query.parts.map((part) => (typeof part === 'string' ? part : `$${values.push(part.value)}`)).join('')
  return { text, values }
}
