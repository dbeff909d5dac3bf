import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { nearestName, shortList, unknownName } from './nearest-name.ts'

test('the nearest name is at most two letters away, whatever their case', () => {
  const known = ['name', 'createdAt', 'population', 'geom']
  for (const [name, nearest] of [
    ['nmae', 'name'],
    ['Name', 'name'],
    ['created_at', 'createdAt'],
    ['CREATEDAT', 'createdAt'],
    ['populatoin', 'population'],
    ['poplation', 'population'],
    ['goem', 'geom'],
  ] as const) {
    assert.equal(nearestName(name, known), nearest, name)
  }
})

test('a beginning stands for the name that goes on with it, and a misspelling comes before a beginning', () => {
  assert.equal(nearestName('pop', ['name', 'population', 'pop_2020']), 'pop_2020')
  assert.equal(nearestName('populationDensity', ['name', 'population']), 'population')
  assert.equal(nearestName('pop', ['population', 'op']), 'op')
})

test('what is like nothing has no nearest name', () => {
  for (const name of ['', 'x', 'ab', 'zebra', 'n'.repeat(1_000)]) {
    assert.equal(nearestName(name, ['name', 'id', 'geom']), undefined, name)
  }
  assert.equal(nearestName('name', []), undefined)
})

test('a message names what was given, the nearest and the allowed names, and is short whatever they are', () => {
  assert.equal(
    unknownName('a field', 'nam', ['id', 'name']),
    '"nam" is not a field. Did you mean "name"? Allowed: id, name.',
  )
  assert.equal(unknownName('a relation', 'x', []), '"x" is not a relation. There are none.')
  const many = Array.from({ length: 22 }, (_, index) => `c${index}`)
  assert.equal(shortList(many), 'c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 … and 12 more')
  const long = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(1_000, 'x'))
  assert.ok(unknownName('a field', 'y'.repeat(10_000), long).length < 1_000)
})

test('messages about ten thousand unknown names cost no more than those about a few', async () => {
  const known = Array.from({ length: 1_600 }, (_, index) => `${'x'.repeat(55)}${index}`)
  for (const name of ['x'.repeat(58), 'nothing', 'y'.repeat(1_000)]) {
    await nextTurn()
    const started = process.cpuUsage()
    const messages = Array.from({ length: 10_000 }, (_, index) => unknownName('a name', `${name}${index}`, known))
    const { user, system } = process.cpuUsage(started)
    assert.match(messages[0] ?? '', /Allowed: /)
    assert.ok(messages.every((message) => message.includes('is not a name.')))
    assert.ok(user + system < 1_000_000, `took ${user + system} µs`)
  }
  await nextTurn()
  assert.match(unknownName('a name', 'nmae', ['name']), /Did you mean "name"/, 'and the next request has hints again')
})

test('the nearest name is that of the whole table of distances', async () => {
  const letter = fc.constantFrom('a', 'b', 'c')
  const word = fc.array(letter, { minLength: 1, maxLength: 8 }).map((letters) => letters.join(''))
  await fc.assert(
    fc.asyncProperty(word, word, async (one, other) => {
      await nextTurn()
      const [short, long] = one.length < other.length ? [one, other] : [other, one]
      const isNear = wholeDistance(one, other) <= Math.min(2, Math.floor(one.length / 2))
      const isBeginning = short.length >= 3 && long.startsWith(short)
      assert.equal(nearestName(one, [other]), isNear || isBeginning ? other : undefined)
    }),
  )
})

/** Optimal string alignment, as the textbook has it. */
function wholeDistance(one: string, other: string): number {
  const table = Array.from({ length: one.length + 1 }, (_, row) =>
    Array.from({ length: other.length + 1 }, (_, column) => (row === 0 || column === 0 ? row + column : Infinity)),
  )
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      ;(table[row] as number[])[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (one[row - 1] === other[column - 1] ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(one.length, other.length)
}
