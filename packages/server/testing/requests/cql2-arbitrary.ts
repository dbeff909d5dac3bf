import fc, { type Arbitrary } from 'fast-check'
import type { Attribute, Attributes } from '../../src/query/values/attribute.ts'

/** For the property tests of CQL2 only: rows, and filters as CQL2 JSON that are valid for them. */
type Json = unknown

const word = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', 'A', 'b', 'ä', 'Ä', 'ß', 'ø', 'é', '%', '_', '\\', "'", '"', '\n', '😀'),
    maxLength: 4,
  }),
  fc.constantFrom('straße', 'STRASSE', 'Ærø', 'aero', 'ΟΔΟΣ', 'οδος', 'ı', 'i', 'İ'),
)
const small = fc.integer({ min: -4, max: 9 })
const decimal = fc.constantFrom(0, 0.5, -1.25, 3, 7, 1e-160, 1e160, 1e21, 123456.75)
const date = fc.constantFrom('1999-12-31', '2024-02-29', '2024-03-01')
const instant = fc.constantFrom(
  '2024-02-28T23:59:59.999999Z',
  '2024-02-29T00:00:00Z',
  '2024-02-29T12:30:00Z',
  '2024-03-01T00:00:00Z',
)
const list = (items: Arbitrary<unknown>) => fc.array(items, { maxLength: 3 })
const nested = fc.oneof(fc.constantFrom('a', 'b', 1, 2.5, true), list(fc.constantFrom('a', 1)))

type Declared = { readonly attribute: Attribute; readonly sqlType: string; readonly value: Arbitrary<unknown> }

const declared: readonly Declared[] = [
  { attribute: { name: 'name', type: 'string' }, sqlType: 'text', value: word },
  { attribute: { name: 'Other name', type: 'string' }, sqlType: 'varchar COLLATE "C"', value: word },
  { attribute: { name: 'n', type: 'integer' }, sqlType: 'int4', value: small },
  { attribute: { name: 'm', type: 'integer' }, sqlType: 'int8', value: small },
  { attribute: { name: 'x', type: 'number' }, sqlType: 'float8', value: decimal },
  { attribute: { name: 'y', type: 'number' }, sqlType: 'numeric', value: decimal },
  { attribute: { name: 'isOpen', type: 'boolean' }, sqlType: 'bool', value: fc.boolean() },
  { attribute: { name: 'date', type: 'date' }, sqlType: 'date', value: date },
  { attribute: { name: 'start', type: 'datetime' }, sqlType: 'timestamptz', value: instant },
  { attribute: { name: 'end', type: 'datetime', withoutZone: true }, sqlType: 'timestamp', value: instant },
  {
    attribute: { name: 'tags', type: 'array', itemType: 'string' },
    sqlType: 'text[]',
    value: list(fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 5 })),
  },
  {
    attribute: { name: 'more', type: 'array', itemType: 'string' },
    sqlType: 'text[]',
    value: list(fc.constantFrom('a', 'b')),
  },
  {
    attribute: { name: 'doc', type: 'json' },
    sqlType: 'jsonb',
    value: fc.oneof(list(nested), fc.constantFrom({ a: 1 }, 'a', 1)),
  },
]

export const attributes: Attributes = new Map(declared.map(({ attribute }) => [attribute.name, attribute]))
export const columnTypes = declared.map(({ attribute, sqlType }) => ({ name: attribute.name, sqlType }))

export const anyRow: Arbitrary<Record<string, unknown>> = fc.record(
  Object.fromEntries(declared.map(({ attribute, value }) => [attribute.name, fc.option(value, { freq: 6 })])),
)

const property = (...names: string[]): Arbitrary<Json> => fc.constantFrom(...names).map((name) => ({ property: name }))
const call = (op: string | Arbitrary<string>, ...args: Arbitrary<Json>[]): Arbitrary<Json> =>
  fc.record({ op: typeof op === 'string' ? fc.constant(op) : op, args: fc.tuple(...args) })

const fold = (text: Arbitrary<Json>): Arbitrary<Json> =>
  fc.oneof(text, call('casei', text), call('accenti', text), call('accenti', call('casei', text)))
const text = fold(fc.oneof(property('name', 'Other name'), word))
const pattern = fc
  .string({ unit: fc.constantFrom('a', 'A', 'ä', 'ß', 's', '%', '_', "'", '😀', '\\%', '\\\\'), maxLength: 4 })
  .chain((like) => fold(fc.constant(like)))

const { number } = fc.letrec<{ number: Json }>((tie) => ({
  number: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    property('n', 'm', 'x', 'y'),
    fc.oneof(small, decimal),
    call(fc.constantFrom('+', '-', '*', '/', '%', 'div'), tie('number'), tie('number')),
    call('^', property('n'), fc.constantFrom(0, 1, 2, 0.5, -1)),
  ),
}))
const time = fc.oneof(
  property('date', 'start', 'end'),
  date.map((day) => ({ date: day })),
  instant.map((at) => ({ timestamp: at })),
)
const bound = fc.oneof(fc.constant('..'), property('start', 'end', 'date'))
const interval = fc.oneof(
  fc.tuple(bound, bound).map((bounds) => ({ interval: bounds })),
  fc.constantFrom({ interval: ['2024-02-28', '2024-02-29'] }, { interval: ['2024-02-29T00:00:00Z', '..'] }),
)
const truth = fc.oneof(property('isOpen'), fc.boolean())
const comparison = fc.constantFrom('=', '<>', '<', '<=', '>', '>=')
const itemsOf = (value: Arbitrary<Json>) => fc.array(value, { minLength: 1, maxLength: 3 })
const set = fc.oneof(property('doc', 'tags', 'more'), list(nested))
const words = list(fc.constantFrom('a', 'b', 'c'))
const sets = fc.constantFrom('a_contains', 'a_containedby', 'a_equals', 'a_overlaps')
const both = fc.constantFrom('t_after', 't_before', 't_disjoint', 't_equals', 't_intersects')
const intervals = fc.constantFrom(
  ...['t_contains', 't_during', 't_finishedby', 't_finishes', 't_meets', 't_metby', 't_overlappedby', 't_overlaps'],
  ...['t_startedby', 't_starts'],
)

const leaf: Arbitrary<Json> = fc.oneof(
  call(comparison, text, text),
  call(comparison, number, number),
  call(comparison, time, time),
  call(comparison, truth, truth),
  call('between', number, number, number),
  call('in', text, itemsOf(text)),
  call('in', number, itemsOf(number)),
  call('like', text, pattern),
  call('isNull', fc.oneof(text, number, time, property('doc', 'tags'))),
  call(both, fc.oneof(time, interval), fc.oneof(time, interval)),
  call(intervals, interval, interval),
  call(sets, property('tags'), words),
  call(sets, words, property('tags')),
  call(sets, property('doc', 'tags', 'more'), property('doc', 'tags', 'more')),
  call(sets, property('doc'), set),
  truth,
)

/** A filter in CQL2 JSON. */
export const anyCql2: Arbitrary<Json> = fc.letrec<{ filter: Json }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    { weight: 1, arbitrary: call(fc.constantFrom('and', 'or'), tie('filter'), tie('filter')) },
    { weight: 1, arbitrary: call('not', tie('filter')) },
    { weight: 1, arbitrary: call('isNull', call('=', number, number)) },
  ),
})).filter

type Members = Record<string, Json> & { op?: string; args?: Json[] }

/** The same filter in CQL2 text. */
export function textOf(json: Json, isPattern = false): string {
  if (typeof json === 'string') return stringText(json, isPattern)
  if (Array.isArray(json)) return `(${json.map((item) => textOf(item)).join(', ')})`
  if (typeof json !== 'object' || json === null) return String(json)
  const { op, args = [], ...members } = json as Members
  if (op !== undefined) return callText(op, args, isPattern)
  if (typeof members.property === 'string') return `"${members.property}"`
  if (members.interval) return `INTERVAL(${(members.interval as Json[]).map((item) => textOf(item)).join(', ')})`
  return members.date ? `DATE('${members.date}')` : `TIMESTAMP('${members.timestamp}')`
}

function callText(op: string, args: readonly Json[], isPattern: boolean): string {
  const [first = '', second = '', third = ''] = args.map((item) => textOf(item, isPattern))
  if (op === 'and' || op === 'or') return `(${first} ${op.toUpperCase()} ${second})`
  if (op === 'not') return `NOT (${first})`
  if (op === 'isNull') return `(${first}) IS NULL`
  if (op === 'between') return `${first} BETWEEN ${second} AND ${third}`
  if (op === 'like') return `${first} LIKE ${textOf(args[1], true)}`
  if (op === 'in') return `${first} IN ${second}`
  if (/^[a-z]+_|^(casei|accenti)$/.test(op)) return `${op}(${args.map((item) => textOf(item, isPattern)).join(', ')})`
  return /^[<>=]+$/.test(op) ? `${first} ${op} ${second}` : `(${first} ${op} ${second})`
}

/** In a pattern a backslash escapes as it is; elsewhere it is written twice. */
function stringText(value: string, isPattern: boolean): string {
  const escaped = isPattern ? value : value.replaceAll('\\', '\\\\')
  return `'${escaped.replaceAll("'", "''")}'`
}
