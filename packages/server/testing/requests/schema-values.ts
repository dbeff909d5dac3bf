import fc, { type Arbitrary } from 'fast-check'
import { anyName, dateTexts, goodJson, goodTexts, numbers } from '../hostile/hostile-values.ts'
import type { Schema } from './api-document.ts'

/** An object with these members, of which some may be missing. */
export function membersOf<T>(
  members: readonly (readonly [string, Arbitrary<T>])[],
  required: readonly string[] = [],
): Arbitrary<Record<string, T>> {
  const known: string[] = required.filter((name) => members.some(([member]) => member === name))
  return fc.record(Object.fromEntries(members), { requiredKeys: known }) as Arbitrary<Record<string, T>>
}

export const often = <T, U>(weight: number, usual: Arbitrary<T>, other: Arbitrary<U>): Arbitrary<T | U> =>
  fc.oneof<[{ weight: number; arbitrary: Arbitrary<T | U> }, Arbitrary<T | U>]>({ weight, arbitrary: usual }, other)

/** Values that a schema allows. */
export function valueFor(schema: Schema): Arbitrary<unknown> {
  const { type, items = {}, minimum, maximum, minItems = 0 } = schema
  // A related record: the service sets it itself, and following it would never end, because it refers back.
  if (schema.$ref) return goodJson
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((branch) => valueFor(branch)))
  if (type === 'string') return textOf(schema)
  if (type === 'integer') return integerOf(schema)
  if (type === 'number') return fc.double({ min: minimum ?? -1e300, max: maximum ?? 1e300, noNaN: true })
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'array') return fc.array(valueFor(items), { minLength: minItems, maxLength: minItems + 3 })
  return type === 'object' ? objectOf(schema) : goodJson
}

/** Of the peculiar numbers those that fit, if any does. */
function integerOf({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
}: Schema): Arbitrary<number> {
  const any = fc.integer({ min: minimum, max: maximum })
  const peculiar = numbers.filter((n) => Number.isInteger(n) && n >= minimum && n <= maximum)
  return peculiar.length > 0 ? fc.oneof(any, fc.constantFrom(...peculiar)) : any
}

function objectOf({ properties = {}, required = [], patternProperties = {} }: Schema): Arbitrary<object> {
  const [members] = Object.values(patternProperties)
  const fields = Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)] as const)
  const rest = fc.dictionary(anyName, members ? valueFor(members) : goodJson, {
    maxKeys: 3,
    noNullPrototype: true,
  })
  return fc.tuple(membersOf(fields, required), rest).map(([known, others]) => ({ ...others, ...known }))
}

export function textOf({ format, pattern, minLength = 0, maxLength = 1_000 }: Schema): Arbitrary<string> {
  const fits = (text: string) => text.length >= minLength && text.length <= maxLength
  if (format === 'uuid') return fc.uuid({ version: 4 })
  if (format === 'date-time') {
    const min = new Date('2100-01-01')
    return often(
      9,
      fc.date({ min, max: new Date('9999-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom(...dateTexts),
    )
  }
  if (pattern) return fc.stringMatching(new RegExp(pattern), { maxLength }).filter(fits)
  return fc.oneof(fc.constantFrom(...goodTexts), fc.string({ minLength, maxLength: 20 })).filter(fits)
}
