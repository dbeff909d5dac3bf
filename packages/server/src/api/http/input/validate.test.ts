import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { ApiError, type Fault } from '../../../kernel/errors.ts'
import { validator } from './validate.ts'

function errorOf(schema: TSchema, value: unknown): ApiError {
  try {
    validator(schema, 'body')(value)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('the value was accepted')
}

const faultsOf = (schema: TSchema, value: unknown): readonly Fault[] => errorOf(schema, value).faults
const messagesOf = (schema: TSchema, value: unknown): string[] =>
  faultsOf(schema, value).map(({ path, message }) => `${path}: ${message}`)

const closed = { additionalProperties: false }

test('an unknown field names the nearest and lists those that a client can give', () => {
  const inner = Type.Object({ hosst: Type.Optional(Type.String()), port: Type.Optional(Type.Integer()) }, closed)
  const id = Type.Optional(Type.Unknown({ readOnly: true }))
  const schema = Type.Object({ id, name: Type.Optional(Type.String()), settings: Type.Optional(inner) }, closed)
  assert.deepEqual(messagesOf(schema, { nmae: 'x', settings: { prot: 1 } }), [
    'body/nmae: "nmae" is not a known field. Did you mean "name"? Allowed: name, settings.',
    'body/settings/prot: "prot" is not a known field. Did you mean "port"? Allowed: hosst, port.',
  ])
  assert.deepEqual(
    faultsOf(schema, { nmae: 'x' }).map(({ code }) => code),
    ['unknown'],
  )
})

test('an unknown value of an enumeration names the nearest and lists the allowed', () => {
  const schema = Type.Object({ type: Type.Enum(['table', 'sql', 'rest', 'lambda']) })
  assert.deepEqual(messagesOf(schema, { type: 'tabel' }), [
    'body/type: must be one of table, sql, rest, lambda. Did you mean "table"?',
  ])
  assert.deepEqual(messagesOf(schema, { type: 7 }), ['body/type: must be one of table, sql, rest, lambda.'])
})

test('a value that fits no branch of a union is one fault', () => {
  const schema = Type.Object({
    port: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    mode: Type.Optional(Type.Union([Type.Literal('*'), Type.Array(Type.String())])),
    headers: Type.Optional(Type.Union([Type.Object({ a: Type.String() }, closed), Type.Null()])),
  })
  assert.deepEqual(messagesOf(schema, { port: 'x' }), ['body/port: must be a whole number or null'])
  assert.deepEqual(messagesOf(schema, { mode: 'x' }), ['body/mode: must be "*"'])
  assert.deepEqual(messagesOf(schema, { mode: [1] }), ['body/mode/0: must be a text'])
  assert.deepEqual(messagesOf(schema, { headers: { a: 1 } }), ['body/headers/a: must be a text'])
})

test('the detail says how many faults there are, and errors holds all of them', () => {
  const names = Array.from({ length: 19 }, (_, index) => `field${index}`)
  const schema = Type.Object(Object.fromEntries(names.map((name) => [name, Type.Integer()])))
  const error = errorOf(schema, Object.fromEntries(names.map((name) => [name, 'x'])))
  assert.equal(error.faults.length, 19)
  assert.equal(error.message, 'body/field0: must be a whole number. The request has 19 faults: see "errors".')
  assert.equal(
    errorOf(schema, { ...Object.fromEntries(names.map((name) => [name, 1])), field3: 'x' }).message,
    'body/field3: must be a whole number',
  )
})

test('the number of faults in an answer is bounded', () => {
  const error = errorOf(Type.Array(Type.Integer()), Array(5_000).fill('x'))
  assert.equal(error.faults.length, 20)
  assert.match(error.message, /at least 20 faults/)
})

test('formats and lengths are said in plain words', () => {
  const schema = Type.Object({
    at: Type.Optional(Type.String({ format: 'date-time' })),
    id: Type.Optional(Type.String({ format: 'uuid' })),
    name: Type.Optional(Type.String({ minLength: 1 })),
    hook: Type.Optional(Type.String({ pattern: '^https?://', examples: ['https://example.org/hook'] })),
  })
  assert.deepEqual(messagesOf(schema, { at: 'today', id: '7', name: '', hook: 'example' }), [
    'body/at: must be a date-time such as 2027-01-31T12:00:00Z',
    'body/id: must be a UUID such as 123e4567-e89b-42d3-a456-426614174000',
    'body/name: must not be empty',
    'body/hook: must be of the form https://example.org/hook',
  ])
})

test('what is far larger than its bound is refused alone, in a moment, whatever is inside', () => {
  const text = Type.String({ maxLength: 100 })
  const schema = Type.Object(
    {
      names: Type.Optional(Type.Array(text, { maxItems: 10 })),
      ids: Type.Optional(Type.Union([Type.Literal('*'), Type.Array(text, { maxItems: 10 })])),
      free: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 10 })),
      nested: Type.Optional(Type.Array(Type.Object({ deep: Type.Array(text, { maxItems: 3 }) }), { maxItems: 5 })),
      hook: Type.Optional(Type.String({ maxLength: 100, pattern: '^(a+)+$' })),
    },
    closed,
  )
  const many = (count: number) => Array.from({ length: count }, () => [])
  const keyed = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, 1]))
  for (const [value, ...expected] of [
    [{ names: many(340_000) }, 'body/names: must not have more than 10 items'],
    [{ ids: many(340_000) }, 'body/ids: must not have more than 10 items'],
    [{ free: keyed(20_000) }, 'body/free: must not have more than 10 properties'],
    [{ nested: [{ deep: [] }, { deep: many(9_000) }] }, 'body/nested/1/deep: must not have more than 3 items'],
    [{ hook: 'a'.repeat(100_000) }, 'body/hook: must not have more than 100 characters'],
    [
      { names: many(2_000), ids: many(2_000) },
      ...['names', 'ids'].map((name) => `body/${name}: must not have more than 10 items`),
    ],
  ] as [unknown, ...string[]][]) {
    const started = process.cpuUsage()
    assert.deepEqual(messagesOf(schema, value), expected)
    const { user, system } = process.cpuUsage(started)
    assert.ok(user + system < 500_000, `took ${user + system} µs`)
  }
  const unknown = messagesOf(schema, keyed(10_000))
  assert.equal(unknown.length, 20)
  assert.match(unknown[0] ?? '', /^body\/key0: "key0" is not a known field/)
})

test('what is a little too large is told together with what else is wrong', () => {
  const schema = Type.Object({ name: Type.String({ maxLength: 3 }), size: Type.Integer() })
  assert.deepEqual(messagesOf(schema, { name: 'four', size: 'x' }), [
    'body/name: must not have more than 3 characters',
    'body/size: must be a whole number',
  ])
})

test('a bound that is a limit is named in the answer', () => {
  const names = Type.Array(Type.String(), { maxItems: 3, 'x-limit': { name: 'names' } })
  for (const count of [4, 5_000]) {
    const { extensions } = errorOf(Type.Object({ names }), { names: Array(count).fill('a') })
    assert.deepEqual(extensions, { limit: 3, limitName: 'names' })
  }
})

test('no value is too odd to be refused', () => {
  const bounded = Type.Array(Type.String({ maxLength: 3 }), { maxItems: 3 })
  const scalars = {
    none: Type.Null(),
    flag: Type.Boolean(),
    size: Type.Integer(),
    maybe: Type.Union([bounded, Type.Null()]),
  }
  const schema = Type.Object(
    { a: Type.Union([bounded, Type.Object({ b: bounded }, closed)]), ...Type.Partial(Type.Object(scalars)).properties },
    closed,
  )
  const fitting = { a: null, none: null, flag: true, size: 1, maybe: null }
  for (const value of [
    null,
    undefined,
    7,
    'x',
    [],
    [null],
    {},
    { a: null },
    { a: { b: null } },
    { a: [null] },
    fitting,
  ]) {
    assert.ok(faultsOf(schema, value).length > 0)
  }
})
