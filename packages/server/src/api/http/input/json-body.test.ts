import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../kernel/errors.ts'
import { bodyBudget } from '../../../kernel/json/json-budget.ts'
import { scanJson } from '../../../kernel/json/json-scanner.ts'
import { parseJsonBody as parseScanned } from './json-body.ts'

/** As the server does. */
const parseJsonBody = (text: string, columnsIn?: string): unknown =>
  parseScanned({ text, mayOverflow: scanJson(Buffer.from(text), bodyBudget).mayOverflow }, columnsIn)

test('ordinary JSON comes through as it is', () => {
  const holdsPollutingKey = (value: unknown) => /"(__proto__|constructor|prototype)":/.test(JSON.stringify(value))
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      fc.pre(!holdsPollutingKey(value) && !JSON.stringify(value).includes('\\u0000'))
      assert.deepEqual(parseJsonBody(JSON.stringify(value)), JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('what is not JSON is refused without quoting the body', () => {
  for (const text of ['{', '{"secret": hunter2}', 'nope', '{"a":1}}', '\u0000']) {
    assert.throws(
      () => parseJsonBody(text),
      (error) => error instanceof ApiError && error.code === 'invalid_json' && !/hunter2|nope/.test(error.message),
      text,
    )
  }
})

test('keys that reach a prototype are refused at any depth', () => {
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    assert.throws(() => parseJsonBody(`{"a":[{"${key}":{"polluted":1}}]}`), { code: 'invalid_request' })
  }
  assert.equal(({} as Record<string, unknown>).polluted, undefined)
})

test('where keys are columns, an object may have such a key, and then has no prototype', () => {
  const text = '{"where":{"$or":[{"constructor":{"$eq":"a"}},{"prototype":1}]},"limit":1}'
  const { where } = parseJsonBody(text, 'where') as { where: { $or: object[] } }
  assert.equal(JSON.stringify({ where, limit: 1 }), text)
  assert.deepEqual(where.$or.map(Object.getPrototypeOf), [null, null])
  const refused = [
    '{"where":{"__proto__":{"a":1}}}',
    '{"where":{"constructor":{"__proto__":1}}}',
    '{"constructor":1}',
    '{"sample":{"constructor":1}}',
    '{"where/a":{"constructor":1}}',
    '{"a":{"where":{"constructor":1}}}',
    '[{"where":{"constructor":1}}]',
  ]
  for (const body of refused) assert.throws(() => parseJsonBody(body, 'where'), { code: 'invalid_request' }, body)
  assert.throws(() => parseJsonBody(text), { code: 'invalid_request' })
  assert.equal(({} as Record<string, unknown>).a, undefined)
})

test('deep, wide and unstorable bodies are refused', () => {
  assert.throws(() => parseJsonBody('['.repeat(100_000) + ']'.repeat(100_000)), { code: 'invalid_request' })
  assert.throws(
    () => parseJsonBody(JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [i, 0])))),
    {
      code: 'invalid_request',
    },
  )
  assert.throws(() => parseJsonBody('{"a":"x\\u0000y"}'), { code: 'invalid_request' })
  assert.throws(() => parseJsonBody('["\\ud800"]'), { code: 'invalid_request' })
})

test('what cannot be stored is taken out of texts where an operation asks for that, and of nothing else', () => {
  const repair = (text: string): unknown => parseScanned({ text, mayOverflow: false }, undefined, true)
  assert.equal(repair('"a\\u0000b"'), 'ab')
  assert.deepEqual(repair('{"a":["x\\u0000y",1,{"b":"\\ud800z","c":"\\ud83d\\ude00"}],"d":"\\\\u0000"}'), {
    a: ['xy', 1, { b: 'z', c: '😀' }],
    d: '\\u0000',
  })
  assert.throws(() => repair('{"a\\u0000":1}'), { code: 'invalid_request' })
  assert.throws(() => repair('{"__proto__":"\\u0000"}'), { code: 'invalid_request' })
})

test('taking them out of a large body costs no more than a few times what parsing it does', () => {
  const positions = Array.from({ length: 33_000 }, (_, index) => [index / 7, index / 11])
  const text = JSON.stringify({ input: 'NUL: \0', texts: Array(19_000).fill('ab'), area: { coordinates: positions } })
  const leastCpu = (work: () => unknown): number =>
    Math.min(
      ...Array.from({ length: 7 }, () => {
        const before = process.cpuUsage()
        work()
        const { user, system } = process.cpuUsage(before)
        return user + system
      }),
    )
  const parsed = leastCpu(() => JSON.parse(text))
  const repaired = leastCpu(() => parseScanned({ text, mayOverflow: false }, undefined, true))
  assert.ok(repaired < 5 * parsed, `${repaired} µs of CPU, the parser alone ${parsed}`)
})

test('a long list of numbers is no problem', () => {
  assert.equal((parseJsonBody(JSON.stringify(new Array(19_999).fill(1.5))) as number[]).length, 19_999)
})

test('a number that no double holds is refused, however it is written', () => {
  const digits = '9'.repeat(250)
  for (const number of ['1e309', '-1E+309', '1'.repeat(310), `${digits}e99`, `${digits}.5e0099`])
    assert.throws(() => parseJsonBody(`{"a":[true,${number}]}`), { code: 'invalid_request' }, number)
  for (const number of ['1e9', '1e-400', '1'.repeat(300), '-0.5E2'])
    assert.deepEqual(parseJsonBody(`{"a":[true,${number}]}`), { a: [true, Number(number)] }, number)
})
