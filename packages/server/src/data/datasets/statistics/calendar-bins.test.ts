import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CalendarUnit, calendarBins } from './calendar-bins.ts'

const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

function binsOf(type: 'date' | 'datetime', low: string, high: string, most: number, unit?: CalendarUnit) {
  const bins = calendarBins(type, { low: Date.parse(low), high: Date.parse(high) }, { most, unit })
  return Array.from({ length: bins.count + 1 }, (_, index) => bins.edge(index))
}

test('bins are of the shortest step of the calendar that needs no more than were asked for', () => {
  const edges = (low: string, high: string, most: number) => binsOf('date', low, high, most).map(day)
  assert.deepEqual(edges('2024-02-27', '2024-03-01', 10), [
    '2024-02-27',
    '2024-02-28',
    '2024-02-29',
    '2024-03-01',
    '2024-03-02',
  ])
  assert.deepEqual(edges('2024-01-31', '2024-04-01', 4), [
    '2024-01-01',
    '2024-02-01',
    '2024-03-01',
    '2024-04-01',
    '2024-05-01',
  ])
  assert.deepEqual(edges('2024-02-07', '2024-12-31', 4), [
    '2024-01-01',
    '2024-04-01',
    '2024-07-01',
    '2024-10-01',
    '2025-01-01',
  ])
  assert.deepEqual(edges('1987-05-05', '2024-01-01', 5), [
    '1980-01-01',
    '1990-01-01',
    '2000-01-01',
    '2010-01-01',
    '2020-01-01',
    '2030-01-01',
  ])
  assert.deepEqual(edges('0042-05-05', '0044-01-01', 4), ['0042-01-01', '0043-01-01', '0044-01-01', '0045-01-01'])
  // Weeks begin on Mondays, before 1970 too.
  assert.deepEqual(edges('1969-12-24', '1970-01-10', 5), ['1969-12-22', '1969-12-29', '1970-01-05', '1970-01-12'])
  const times = binsOf('datetime', '2024-03-31T00:59:59Z', '2024-03-31T02:00:00Z', 20).map((at) =>
    new Date(at).toISOString().slice(11, 16),
  )
  assert.deepEqual(times, [
    '00:55',
    '01:00',
    '01:05',
    '01:10',
    '01:15',
    '01:20',
    '01:25',
    '01:30',
    '01:35',
    '01:40',
    '01:45',
    '01:50',
    '01:55',
    '02:00',
    '02:05',
  ])
  assert.equal(binsOf('datetime', '1999-12-31T23:59:59Z', '2000-01-01T00:00:00Z', 1).length, 2)
})

test('each time is in the one bin whose edges are around it', () => {
  const [low, high] = [Date.parse('1890-07-01'), Date.parse('2031-02-28T12:34:56Z')]
  for (const unit of ['year', undefined] as const) {
    for (const most of [1, 7, 20, 100]) {
      const { count, indexOf, edge } = calendarBins('datetime', { low, high }, { most, unit })
      for (let at = low; at <= high; at += 86_400_000 * 97.3) {
        const index = indexOf(at)
        assert.ok(index >= 0 && index < count && edge(index) <= at && (at < edge(index + 1) || at === high))
      }
    }
  }
})

test('more bins of a unit than an answer holds are refused with a longer one', () => {
  assert.equal(binsOf('date', '2000-01-01', '2002-09-26', 1, 'day').length, 1_001)
  assert.throws(
    () => binsOf('date', '2000-01-01', '2002-09-27', 1, 'day'),
    /gives 1001 bins, and 1000 is the most: use month/,
  )
  assert.throws(() => binsOf('date', '0001-01-01', '2002-09-27', 1, 'year'), /use bins instead/)
})
