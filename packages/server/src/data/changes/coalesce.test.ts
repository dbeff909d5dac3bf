// One database is enough: it needs none.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LoggedChange } from './change-log.ts'
import { framesOf } from './coalesce.ts'

const era = '0123456789abcdef'
let seq = 0n
const change = (rest: Partial<LoggedChange>): LoggedChange => ({
  position: { xid: 1n, seq: ++seq },
  relation: '1',
  operation: 'insert',
  rowCount: 1,
  keys: [],
  boxes: [],
  ...rest,
})
const dataOf = (frames: readonly string[]) => frames.map((frame) => JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ''))
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => String(from + index))

test('more than 1 000 keys become several events, and each key is told once', () => {
  const changes = [0, 1, 2, 3].map((n) => change({ rowCount: 700, keys: numbers(700, n * 700) }))
  const events = dataOf(framesOf(changes, { era, isOpaque: false }))
  assert.deepEqual(
    events.map(({ keys }) => keys.length),
    [700, 700, 700, 700],
  )
  assert.equal(new Set(events.flatMap(({ keys }) => keys)).size, 2_800)
})

test('what many statements write at once takes a bounded size, and the rest of it has a place but no keys', () => {
  const long = 'x'.repeat(100)
  const changes = numbers(500).map((n) =>
    change({
      keys: numbers(20).map((key) => JSON.stringify(`${long}${n}.${key}`)),
      boxes: [[Number(n), 0, Number(n), 1]],
    }),
  )
  const frames = framesOf(changes, { era, isOpaque: false })
  assert.ok(frames.join('').length < 80_000)
  const last = dataOf(frames).at(-1)
  assert.equal(last.keys, null)
  assert.ok(last.boxes.length <= 16)
  assert.equal(Math.max(...last.boxes.map(([, , east]: number[]) => east)), 499)
  assert.match(frames.at(-1) ?? '', new RegExp(`^id: ${era}\\.1\\.${changes.at(-1)?.position.seq}\n`))
})

test('an event without a place makes the place of those it is merged with unknown', () => {
  const [event] = dataOf(
    framesOf([change({ keys: undefined, boxes: [[0, 0, 1, 1]] }), change({ keys: undefined, boxes: undefined })], {
      era,
      isOpaque: false,
    }),
  )
  assert.equal(event.boxes, null)
})
