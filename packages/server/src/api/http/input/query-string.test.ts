import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Type, { type TObject } from 'typebox'
import { ApiError, FaultCollector } from '../../../kernel/errors.ts'
import { parseQueryString, type QueryTree, readQuery as readCollecting } from './query-string.ts'

function readQuery(schema: TObject, tree: QueryTree): Record<string, unknown> {
  const faults = new FaultCollector()
  const values = readCollecting(schema, tree, faults)
  faults.finish()
  return values
}

/** Plain objects, so that they can be compared. */
const parse = (text: string) => JSON.parse(JSON.stringify(parseQueryString(text)))

test('brackets nest, repeated names and [] are lists', () => {
  assert.deepEqual(parse('a=1&b[c][d]=2&e=3&e=4&f[]=5&g[h][]=6&i[0]=7&i[1]=8'), {
    a: '1',
    b: { c: { d: '2' } },
    e: ['3', '4'],
    f: ['5'],
    g: { h: ['6'] },
    i: { 0: '7', 1: '8' },
  })
})

test('encoded brackets, plus signs and empty values are read', () => {
  assert.deepEqual(parse('filter%5Bname%5D=a+b%2B&x=&y&&z=%E2%82%AC'), {
    filter: { name: 'a b+' },
    x: '',
    y: '',
    z: '€',
  })
})

test('nothing is dropped: what cannot be read is a 400', () => {
  for (const text of [
    'a=%zz',
    'a=%ff',
    'a=%00',
    'a[=1',
    'a[b=1',
    'a]b[=1',
    'a[b]c=1',
    'a[][b]=1',
    'a=1&a[b]=2',
    'a[b]=1&a=2',
  ]) {
    assert.throws(() => parseQueryString(text), ApiError, text)
  }
  assert.throws(() => parseQueryString('a=1&'.repeat(2_000)), ApiError)
  assert.throws(() => parseQueryString(`a${'[b]'.repeat(100)}=1`), ApiError)
})

test('names of Object.prototype are ordinary names and change nothing', () => {
  const tree = parseQueryString('filter[__proto__][x]=1&filter[constructor]=2&__proto__[y]=3&filter[toString]=4')
  assert.equal(Object.getPrototypeOf(tree), null)
  assert.deepEqual(Object.keys(tree), ['filter', '__proto__'])
  assert.deepEqual(Object.keys(tree.filter ?? {}), ['__proto__', 'constructor', 'toString'])
  assert.equal(({} as Record<string, unknown>).x, undefined)
  assert.equal(({} as Record<string, unknown>).y, undefined)
})

test('any text is either read or refused, and never touches a prototype', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a[]=&%_.0+', '__proto__', 'constructor', '%5B') }), (text) => {
      try {
        parseQueryString(text)
      } catch (error) {
        assert.ok(error instanceof ApiError)
      }
      assert.equal(Object.keys(Object.prototype).length, 0)
    }),
    { numRuns: 5_000 },
  )
})

const schema = Type.Object({
  list: Type.Optional(Type.Array(Type.String())),
  whole: Type.Optional(Type.Integer()),
  number: Type.Optional(Type.Number()),
  flag: Type.Optional(Type.Boolean()),
  word: Type.Optional(Type.String()),
  deep: Type.Optional(Type.Object({})),
})
const read = (text: string) => readQuery(schema, parseQueryString(text))

test('a list may be written with commas, repeated, with [] and with [0]', () => {
  for (const text of ['list=a,b', 'list=a&list=b', 'list[]=a&list[]=b', 'list[0]=a&list[1]=b', 'list=a,,%20b,']) {
    assert.deepEqual(read(text), { list: ['a', 'b'] }, text)
  }
})

test('numbers and booleans are read strictly', () => {
  assert.deepEqual(read('whole=-5&number=1.5e3&flag=true&word=7'), { whole: -5, number: 1500, flag: true, word: '7' })
  for (const text of [
    'whole=1.5',
    'whole=',
    'whole=1e3',
    'whole=0x10',
    'whole=NaN',
    'number=Infinity',
    'number=1e999',
    'flag=yes',
  ]) {
    assert.throws(() => read(text), ApiError, text)
  }
})

test('a scalar given twice is refused', () => {
  for (const text of ['word=a&word=b', 'word[]=a', 'whole[x]=1']) assert.throws(() => read(text), ApiError, text)
})
