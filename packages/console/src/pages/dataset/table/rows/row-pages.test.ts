import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { PageStart } from './page-start.ts'
import { createRowPages, type RowPagesOptions } from './row-pages.ts'

type Row = { id: number }

/** A table of `total` rows whose answers come when the test says so. */
function table(total: number, options: Partial<RowPagesOptions<Row>> = {}) {
  const asked: { start: PageStart<Row>; signal: AbortSignal; answer(): Promise<void> }[] = []
  const pages = createRowPages<Row>({
    isReversible: true,
    hasSingleKey: true,
    pageRows: 10,
    ...options,
    fetch: (start, rows, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        const first = firstRow(start, rows, total)
        const found = Array.from({ length: Math.max(0, Math.min(rows, total - first)) }, (_, at) => ({
          id: first + at,
        }))
        const next = first + rows < total ? String(first + rows) : undefined
        const answer = async () => {
          resolve({ rows: found, ...(start.by === 'cursor' || start.by === 'offset' ? { next } : {}) })
          await new Promise(setImmediate)
        }
        asked.push({ start, signal, answer })
      }),
  })
  const answerAll = async () => {
    for (let at = 0; at < asked.length; at++) await asked[at]?.answer()
  }
  return { pages, asked, answerAll, starts: () => asked.map(({ start }) => start) }
}

function firstRow(start: PageStart<Row>, rows: number, total: number): number {
  if (start.by === 'cursor') return Number(start.cursor)
  if (start.by === 'before') return start.row.id - rows
  if (start.by === 'after') return start.row.id + 1
  if (start.by === 'from') return start.row.id
  return start.by === 'end' ? total - start.offset - start.rows : start.offset
}

const withClock = (t: TestContext) => t.mock.timers.enable({ apis: ['setTimeout'] })

test('the first page is asked for at once, the next ones by the cursor of the page before', async () => {
  const { pages, answerAll, starts } = table(1000)
  pages.want(0, 5)
  await answerAll()
  assert.deepEqual(starts().slice(0, 2), [
    { by: 'offset', offset: 0 },
    { by: 'cursor', cursor: '10' },
  ])
  assert.equal(pages.row(14)?.id, 14)
  assert.equal(pages.row(900), undefined)
})

test('sixty jumps of the scrollbar are one request, after 80 ms of quiet', async (t) => {
  withClock(t)
  const { pages, asked, answerAll } = table(10_000)
  pages.want(0, 5)
  await answerAll()
  const before = asked.length
  for (let jump = 1; jump <= 60; jump++) {
    pages.want(jump * 150, jump * 150 + 5)
    t.mock.timers.tick(20)
  }
  assert.equal(asked.length, before)
  t.mock.timers.tick(80)
  assert.deepEqual(asked.at(-1)?.start, { by: 'offset', offset: 9000 })
  assert.equal(asked.length, before + 1)
})

test('a request for rows that nobody looks at any more is aborted', async (t) => {
  withClock(t)
  const { pages, asked, answerAll } = table(10_000)
  pages.want(0, 5)
  await answerAll()
  pages.want(5000, 5005)
  t.mock.timers.tick(80)
  const jump = asked.at(-1)
  pages.want(0, 5)
  assert.equal(jump?.signal.aborted, true)
  assert.equal(pages.getState().isLoading, false)
  assert.equal(pages.getState().error, null)
})

test('from a jump, rows above come by the key of the row below them, and the last page from the end', async (t) => {
  withClock(t)
  const { pages, starts, answerAll } = table(10_000)
  pages.want(0, 5)
  await answerAll()
  pages.setTotal(10_000, true)
  pages.want(9990, 9999)
  t.mock.timers.tick(80)
  await answerAll()
  const [last, above] = starts().slice(-7)
  assert.deepEqual(last, { by: 'end', offset: 0, rows: 10 })
  assert.deepEqual(above?.by, 'before')
  assert.equal(pages.row(9999)?.id, 9999)
  assert.equal(pages.row(9985)?.id, 9985)
})

test('from a jump, rows below come by the key of the row above them', async (t) => {
  withClock(t)
  const { pages, starts, answerAll } = table(10_000)
  pages.want(0, 5)
  await answerAll()
  pages.setTotal(10_000, true)
  pages.want(9000, 9005)
  t.mock.timers.tick(80)
  await answerAll()
  const before = starts().length
  for (let row = 9000; row < 9200; row += 10) {
    pages.want(row, row + 9)
    await answerAll()
  }
  assert.deepEqual(
    new Set(
      starts()
        .slice(before)
        .map(({ by }) => by),
    ),
    new Set(['after']),
  )
  assert.equal(pages.row(9195)?.id, 9195)
})

test('an order that cannot be reversed jumps by offset, and says when that is slow', async (t) => {
  withClock(t)
  const { pages, starts, answerAll } = table(400_000, { isReversible: false, hasSingleKey: false })
  pages.want(0, 5)
  await answerAll()
  pages.setTotal(400_000, true)
  pages.want(399_990, 399_999)
  t.mock.timers.tick(80)
  assert.deepEqual(starts().at(-1), { by: 'offset', offset: 399_990 })
  assert.equal(pages.getState().isSlow, true)
  await answerAll()
  assert.equal(pages.row(399_995)?.id, 399_995)
  assert.equal(pages.getState().isSlow, false)
})

test('twenty pages are kept, those nearest to the viewport', async () => {
  const { pages, answerAll } = table(10_000)
  for (let row = 0; row < 500; row += 10) {
    pages.want(row, row + 9)
    await answerAll()
  }
  assert.equal(pages.row(0), undefined)
  assert.equal(pages.row(495)?.id, 495)
  const held = Array.from({ length: 100 }, (_, index) => pages.row(index * 10)).filter(Boolean)
  assert.equal(held.length, 20)
})

test('a page that is not full tells the exact total, and an estimate never replaces it', async () => {
  const { pages, answerAll } = table(7)
  pages.setTotal(500, false)
  pages.want(0, 5)
  await answerAll()
  assert.deepEqual(pages.getState().total, { rows: 7, isExact: true })
  pages.setTotal(500, false)
  assert.deepEqual(pages.getState().total, { rows: 7, isExact: true })
})

test('what fails is told once, and asked for again only on demand', async () => {
  let isBroken = true
  const asked: number[] = []
  const pages = createRowPages<Row>({
    isReversible: false,
    hasSingleKey: false,
    fetch: async () => {
      asked.push(1)
      if (isBroken) throw new Error('no')
      return { rows: [{ id: 1 }] }
    },
  })
  pages.want(0, 5)
  await new Promise(setImmediate)
  pages.want(0, 6)
  await new Promise(setImmediate)
  assert.deepEqual([asked.length, String(pages.getState().error)], [1, 'Error: no'])
  isBroken = false
  pages.retry()
  await new Promise(setImmediate)
  assert.deepEqual([pages.row(0), pages.getState().error], [{ id: 1 }, null])
})

test('pages that a change has made stale are loaded again quietly, the visible ones, and show their rows until then', async () => {
  const { pages, asked, answerAll, starts } = table(1000)
  pages.want(0, 25)
  await answerAll()
  pages.setTotal(1000, true)
  const before = asked.length
  let states = 0
  pages.subscribe(() => states++)
  const renewed = pages.renew(() => ({ isStale: (index) => index === 2, movedFrom: null, mayChangeTotal: false }))
  assert.equal(pages.row(25)?.id, 25)
  assert.equal(pages.getState().isLoading, false)
  await answerAll()
  assert.equal(await renewed, false)
  assert.deepEqual(starts().slice(before), [{ by: 'cursor', cursor: '20' }])
  assert.equal(pages.getState().isLoading, false)
  assert.ok(states > 0)
})

const everything = () => ({ isStale: () => true, movedFrom: 0, mayChangeTotal: true })

test('after rows have moved no cursor or neighbour of before is used, and the count corrects what was counted from the end', async (t) => {
  withClock(t)
  const { pages, asked, answerAll, starts } = table(10_000)
  pages.want(0, 5)
  await answerAll()
  pages.setTotal(10_000, true)
  pages.want(9990, 9999)
  t.mock.timers.tick(80)
  await answerAll()
  let before = asked.length
  const renewed = pages.renew(everything)
  await answerAll()
  assert.equal(await renewed, true, 'the rows must be counted again')
  assert.deepEqual(starts()[before], { by: 'end', offset: 0, rows: 10 })
  before = asked.length
  pages.setTotal(9_999, true)
  await answerAll()
  assert.deepEqual(starts()[before], { by: 'end', offset: 0, rows: 9 })
  const again = pages.renew(everything)
  await answerAll()
  assert.equal(await again, true, 'a last page that is counted from the old end does not tell the total')
})

test('deep in a table, where skipping rows is slow, a renewal stays at the row that was first', async (t) => {
  withClock(t)
  const { pages, asked, answerAll, starts } = table(400_000)
  pages.want(0, 5)
  await answerAll()
  pages.setTotal(400_000, true)
  pages.want(150_000, 150_005)
  t.mock.timers.tick(80)
  await answerAll()
  const before = asked.length
  void pages.renew(everything)
  await answerAll()
  assert.deepEqual(starts()[before], { by: 'from', row: { id: 150_000 } })
  assert.ok(
    starts()
      .slice(before)
      .every(({ by }) => by === 'from' || by === 'after' || by === 'before'),
    JSON.stringify(starts().slice(before)),
  )
})

test('an answer that was on its way when a change came is shown, and asked for again', async () => {
  const { pages, asked, answerAll } = table(5)
  pages.want(0, 4)
  const renewed = pages.renew(() => ({ isStale: () => true, movedFrom: 0, mayChangeTotal: true }))
  assert.equal(asked.length, 1)
  await answerAll()
  await renewed
  assert.equal(asked.length, 2)
  assert.equal(pages.row(4)?.id, 4)
})

test('a renewal that fails says so and ends, and the next one clears the error', async () => {
  let isBroken = false
  const pages = createRowPages<Row>({
    isReversible: false,
    hasSingleKey: false,
    fetch: async () => {
      if (isBroken) throw new Error('no')
      return { rows: [{ id: 1 }] }
    },
  })
  pages.want(0, 5)
  await new Promise(setImmediate)
  isBroken = true
  await pages.renew(everything)
  assert.deepEqual([pages.row(0), String(pages.getState().error)], [{ id: 1 }, 'Error: no'])
  isBroken = false
  assert.equal(await pages.renew(everything), false, 'a page that is not full tells the total')
  assert.equal(pages.getState().error, null)
})

test('where the last row of a page is another one than before, the pages behind it are stale too', async () => {
  let first = 0
  const asked: PageStart<Row>[] = []
  const pages = createRowPages<Row>({
    isReversible: true,
    hasSingleKey: true,
    pageRows: 10,
    idOf: (row) => row?.id,
    async fetch(start, rows) {
      asked.push(start)
      const from = start.by === 'cursor' ? Number(start.cursor) : first
      return { rows: Array.from({ length: rows }, (_, at) => ({ id: from + at })), next: String(from + rows) }
    },
  })
  const settled = () => new Promise(setImmediate)
  pages.want(0, 15)
  while (pages.getState().isLoading) await settled()
  first = 1
  const before = asked.length
  await pages.renew(() => ({ isStale: (index) => index === 0, movedFrom: null, mayChangeTotal: false }))
  assert.deepEqual(asked.slice(before, before + 2), [
    { by: 'offset', offset: 0 },
    { by: 'cursor', cursor: '11' },
  ])
  assert.equal(pages.row(10)?.id, 11)
})
