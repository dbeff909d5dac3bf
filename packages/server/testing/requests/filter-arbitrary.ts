import fc, { type Arbitrary } from 'fast-check'
import type { Attribute, Attributes } from '../../src/query/values/attribute.ts'

/** For the property tests only: attributes, rows, and filters that apply to them. */
type Declared = {
  readonly attribute: Attribute
  readonly sqlType: string
  /** What a row may hold, null aside. */
  readonly value: Arbitrary<unknown>
  /** What a filter may compare with: the same values, sometimes spelt in another way. */
  readonly operand: Arbitrary<unknown>
}

const letters = ['a', 'A', 'b', 'B', '%', '_', '\\', "'", '"', ',', ' ', '\n', 'ß', '\u{ffee}', '😀']
const cased = ['ä', 'Ä', 'é']
/** Few letters, so that what is looked for comes several times over and matching has to try again. */
const repetitive = (...units: string[]): Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...units), maxLength: 8 })
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...letters, ...cased), maxLength: 4 }),
  repetitive('a', 'b'),
  fc.constantFrom('null', 'true', '1', '$eq', '{}', 'NULL'),
)
const patternOf = (units: readonly string[]): Arbitrary<string> =>
  fc
    .oneof(fc.string({ unit: fc.constantFrom(...units, '%', '_'), maxLength: 5 }), repetitive('a', 'b', '%', '_'))
    .filter((like) => !/(^|[^\\])(\\\\)*\\$/.test(like))
const pattern = patternOf([...letters, ...cased])
// What ILIKE makes of umlauts depends on the server, so that its patterns have none.
const asciiPattern = patternOf(letters)

const small = fc.integer({ min: -3, max: 3 })
const large = fc.constantFrom('9223372036854775807', '-9223372036854775808', '9007199254740993', '9007199254740992')
const decimal = fc.constantFrom(0, 0.1, 0.1 + 0.2, 0.3, 1, 1.5, -2.25, 1e21, 1e-7, 123456789.125, 5e-324, 1.7e308)
const date = fc.constantFrom('0001-01-01', '1999-12-31', '2000-02-29', '2024-02-29', '9999-12-31')
const utc = fc.constantFrom('2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000001Z', '1969-12-31T23:59:59.5Z')
const zoned = fc.constantFrom('2024-02-29T13:00:00+01:00', '2024-02-29 07:00-05', '2024-02-29T12:00:00.123456+0530')
const naive = fc.constantFrom('2024-02-29T12:00', '2024-02-29', '1969-12-31T23:59:59.500')
const time = fc.constantFrom('00:00', '12:30:00', '12:30:00.000001', '23:59:59.999999')
const uuid = fc.constantFrom('3fa85f64-5717-4562-b3fc-2c963f66afa6', '00000000-0000-0000-0000-000000000000')
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, 1.5, -1, '', 'a', 'ä', '😀'),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', ''), tie('json'), { maxKeys: 2 }),
  ),
}))

const spelt = (values: Arbitrary<unknown>): Arbitrary<unknown> => fc.oneof(values, values.map(String))
const listOf = (values: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.array(fc.oneof({ weight: 5, arbitrary: values }, fc.constant(null)), { maxLength: 4 })

/** Every type of attribute in the SQL types that serve it; two have names that every object inherits. */
const declared: readonly Declared[] = [
  { attribute: { name: 'text', type: 'string' }, sqlType: 'text', value: text, operand: text },
  { attribute: { name: 'toString', type: 'string' }, sqlType: 'varchar', value: text, operand: text },
  // What a driver calls a string may be anything that has a text.
  { attribute: { name: 'token', type: 'string' }, sqlType: 'uuid', value: uuid, operand: fc.oneof(uuid, text) },
  { attribute: { name: 'int4', type: 'integer' }, sqlType: 'int4', value: small, operand: spelt(small) },
  {
    attribute: { name: 'constructor', type: 'integer' },
    sqlType: 'int8',
    value: fc.oneof(small, large),
    operand: fc.oneof(spelt(small), large),
  },
  { attribute: { name: 'float8', type: 'number' }, sqlType: 'float8', value: decimal, operand: spelt(decimal) },
  { attribute: { name: 'numeric', type: 'number' }, sqlType: 'numeric', value: decimal, operand: spelt(decimal) },
  {
    attribute: { name: 'boolean', type: 'boolean' },
    sqlType: 'bool',
    value: fc.boolean(),
    operand: fc.constantFrom(true, false, 'true', '0', 1),
  },
  { attribute: { name: 'date', type: 'date' }, sqlType: 'date', value: date, operand: date },
  {
    attribute: { name: 'instant', type: 'datetime' },
    sqlType: 'timestamptz',
    value: fc.oneof(utc, zoned),
    operand: fc.oneof(utc, zoned, naive),
  },
  {
    attribute: { name: 'local', type: 'datetime', withoutZone: true },
    sqlType: 'timestamp',
    value: fc.oneof(utc, naive),
    operand: fc.oneof(utc, zoned, naive),
  },
  { attribute: { name: 'time', type: 'time' }, sqlType: 'time', value: time, operand: time },
  {
    attribute: { name: 'uuid', type: 'uuid' },
    sqlType: 'uuid',
    value: uuid,
    operand: fc.oneof(
      uuid,
      uuid.map((id) => id.toUpperCase()),
    ),
  },
  { attribute: { name: 'json', type: 'json' }, sqlType: 'jsonb', value: json, operand: json },
  { attribute: { name: 'plainJson', type: 'json' }, sqlType: 'json', value: json, operand: json },
  {
    attribute: { name: 'texts', type: 'array', itemType: 'string' },
    sqlType: 'varchar[]',
    value: listOf(text),
    operand: text,
  },
  {
    attribute: { name: 'integers', type: 'array', itemType: 'integer' },
    sqlType: 'int4[]',
    value: listOf(small),
    operand: spelt(small),
  },
  {
    attribute: { name: 'decimals', type: 'array', itemType: 'number' },
    sqlType: 'float8[]',
    value: listOf(decimal),
    operand: spelt(decimal),
  },
]

export const attributes: Attributes = new Map(declared.map(({ attribute }) => [attribute.name, attribute]))

export const columnTypes = declared.map(({ attribute, sqlType }) => ({ name: attribute.name, sqlType }))

export const anyRow: Arbitrary<Record<string, unknown>> = fc.record(
  Object.fromEntries(
    declared.map(({ attribute, value }) => [
      attribute.name,
      fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) }),
    ]),
  ),
)

/** A filter as a client writes it, valid for the attributes. */
export const anyFilter: Arbitrary<unknown> = fc.letrec<{ filter: Record<string, unknown> }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(...declared.map(fieldFilter)),
    fc.tuple(...declared.slice(0, 3).map(fieldFilter)).map((parts) => Object.assign({}, ...parts)),
    fc.record({ $and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $not: tie('filter') }),
  ),
})).filter

/**
 * The same filter as a deep-object query string hands it over: every leaf is text and lists are objects with indexes.
 * What cannot be said that way stays: null where it would be the text, an empty list, and what json attributes hold.
 */
export function queryStringForm(input: unknown): unknown {
  if (typeof input === 'number' || typeof input === 'boolean') return String(input)
  if (typeof input !== 'object' || input === null) return input
  if (Array.isArray(input)) return input.length === 0 ? input : Object.assign(bare(), input.map(queryStringForm))
  const entries = Object.entries(input).map(([key, item]) => {
    const isJson = attributes.get(key)?.type === 'json'
    return [key, isJson ? item : queryStringForm(item)]
  })
  return Object.assign(bare(), Object.fromEntries(entries))
}

const bare = (): object => Object.create(null)

function fieldFilter(field: Declared): Arbitrary<Record<string, unknown>> {
  return condition(field).map((inner) => ({ [field.attribute.name]: inner }))
}

function condition(field: Declared): Arbitrary<unknown> {
  const operators = operatorsOf(field)
  const single = fc.oneof(
    ...Object.entries(operators).map(([name, operand]) => operand.map((value) => ({ [name]: value }))),
  )
  const nulls = [{ $is: null }, { $not: null }, { $eq: null }, { $ne: null }, { $is: 'null' }, null]
  return fc.oneof(
    { weight: 12, arbitrary: single },
    { weight: 2, arbitrary: fc.constantFrom(...nulls) },
    { weight: 1, arbitrary: fc.record({ $not: single }) },
    { weight: 1, arbitrary: fc.record({ $or: fc.array(single, { maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.tuple(single, single).map(([first, second]) => ({ ...first, ...second })) },
  )
}

function operatorsOf({ attribute, operand }: Declared): Record<string, Arbitrary<unknown>> {
  const list = fc.oneof(
    fc.array(operand, { maxLength: 3 }),
    fc.array(operand, { minLength: 9, maxLength: 12 }),
    fc.array(operand, { minLength: 1, maxLength: 3 }).map((items) => ({ ...items })),
  )
  if (attribute.type === 'json') return { $eq: operand, $ne: operand, $contains: operand }
  if (attribute.type === 'array') return { $eq: list, $ne: list, $contains: list, $overlap: list }
  const equality = { $eq: operand, $ne: operand, $in: list, $notIn: list, $not: fc.oneof(operand, list) }
  if (attribute.type === 'boolean') return { ...equality, $is: fc.constantFrom(true, false, 'true', 'false') }
  const range = fc.tuple(operand, operand)
  const order = { $gt: operand, $gte: operand, $lt: operand, $lte: operand, $between: range, $notBetween: range }
  if (attribute.type !== 'string') return { ...equality, ...order }
  const like = { $like: pattern, $notLike: pattern, $iLike: asciiPattern, $notILike: asciiPattern }
  return { ...equality, ...order, ...like, $startsWith: operand, $endsWith: operand, $substring: operand }
}
