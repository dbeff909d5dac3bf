/** A piece of SQL whose values are bound, never spliced. Only this module makes one. */
export type Sql = { readonly [brand]: true; readonly parts: readonly (string | Bound)[] }

export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null | readonly SqlValue[]

/** `name` says what the value is compared with, for the message of a database that cannot read it. */
type Bound = { readonly value: SqlValue; readonly name?: string }

const brand: unique symbol = Symbol('sql')

/** Neighbouring texts become one, so that a fragment that is used again is cheap to put in. */
class PartsBuilder {
  readonly #parts: (string | Bound)[] = []
  #text = ''

  add(part: string | Bound): void {
    if (typeof part === 'string') {
      this.#text += part
      return
    }
    this.#parts.push(this.#text, part)
    this.#text = ''
  }

  /** Not by spreading: a large fragment would overflow the stack. */
  addAll({ parts }: Sql): void {
    for (const part of parts) this.add(part)
  }

  finish(): Sql {
    this.#parts.push(this.#text)
    return { [brand]: true, parts: this.#parts }
  }
}

const isSql = (value: unknown): value is Sql => typeof value === 'object' && value !== null && brand in value

/** sql`SELECT … WHERE id = ${id} AND ${condition}`: fragments are inlined, every other value becomes a parameter. */
export function sql(strings: TemplateStringsArray, ...values: (Sql | SqlValue)[]): Sql {
  const builder = new PartsBuilder()
  for (let index = 0; index < strings.length; index++) {
    builder.add(strings[index] ?? '')
    if (index === values.length) break
    const value = values[index] as Sql | SqlValue
    if (isSql(value)) builder.addAll(value)
    else builder.add({ value })
  }
  return builder.finish()
}

/** A value for the column of this name, whose type the database gives it. */
export const bound = (value: SqlValue, name: string): Sql => ({ [brand]: true, parts: ['', { value, name }, ''] })

/** By the numbers of their markers: the names of columns that values were bound for. */
export type BoundNames = Readonly<Record<number, string>>

export function boundNames({ parts }: Sql): BoundNames {
  const values = parts.filter((part) => typeof part !== 'string')
  return Object.fromEntries(
    values.flatMap(({ name }, index) => (name === undefined ? [] : [[index + 1, name] as const])),
  )
}

/** A quoted identifier; a dotted name is quoted part by part when given as several arguments. */
export function ident(...names: string[]): Sql {
  return raw(names.map(quoted).join('.'))
}

/** The same as text, for commands that are no Sql. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Text that the program itself wrote (a keyword, an operator, a migration). Never pass input. */
export const raw = (text: string): Sql => ({ [brand]: true, parts: [text] })

/** A JSON value as a jsonb parameter. */
export const json = (value: unknown): Sql => sql`${JSON.stringify(value) ?? null}::jsonb`

export function joinSql(pieces: readonly Sql[], separator: string): Sql {
  const builder = new PartsBuilder()
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) builder.add(separator)
    builder.addAll(piece)
  }
  return builder.finish()
}

/** All conditions hold; none at all is true. */
export function and(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return raw('TRUE')
  return joinSql(
    conditions.map((condition) => sql`(${condition})`),
    ' AND ',
  )
}

/** Which of the values, counted from 0, is this one; undefined if it is not exactly one of them. */
export function valueIndex({ parts }: Sql, value: SqlValue): number | undefined {
  const values = parts.filter((part) => typeof part !== 'string').map((part) => part.value)
  const index = values.indexOf(value)
  return index === -1 || values.lastIndexOf(value) !== index ? undefined : index
}

/** The text with $n markers and the values, as the wire wants them. */
export function compileSql({ parts }: Sql): { text: string; values: SqlValue[] } {
  const values: SqlValue[] = []
  let text = ''
  for (const part of parts) text += typeof part === 'string' ? part : `$${values.push(part.value)}`
  return { text, values }
}
