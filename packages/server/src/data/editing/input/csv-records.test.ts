import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { ApiError } from '../../../kernel/errors.ts'
import { csvRecords } from './csv-records.ts'

const recordsOf = (text: string, most = 10) => [...csvRecords(text, most)]

test('CSV is read as csv-parse reads it, with the line on which each record begins', () => {
  const cell = fc.constantFrom('', '""', 'a', ' b ', '"c,d"', '"e""f"', '"g\nh"', '"i\r\nj"', 'ü', "'")
  const end = fc.constantFrom('\n', '\r\n', '\n\n')
  const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.tuple(
      end,
      fc.array(
        fc.array(cell, { minLength: width, maxLength: width }).map((row) => row.join()),
        { minLength: 1, maxLength: 6 },
      ),
    ),
  )
  fc.assert(
    fc.property(table, ([end, lines]) => {
      const text = lines.filter((line) => line !== '').join(end)
      const expected: unknown = parse(text, {
        bom: true,
        skip_empty_lines: true,
        record_delimiter: ['\r\n', '\n'],
        cast: (field, { quoting }) => (field === '' && !quoting ? null : field),
      })
      assert.deepEqual(
        recordsOf(text).map(({ fields }) => fields),
        expected,
      )
    }),
    { seed: Number(process.env.TEST_SEED ?? 1) },
  )
  assert.deepEqual(
    recordsOf('\ufeffa\r\n\r\n"b\nc"\n\nd').map(({ line }) => line),
    [1, 3, 6],
  )
})

const million = 1_000_000
const refused: [string, string, RegExp][] = [
  ['a record wider than the first', 'a,b\n1,2,3', /line 2 has more fields than there can be, 2/],
  ['a record narrower than the first', 'a,b\n1', /line 2 has fewer fields than the header, which has 2/],
  ['a header wider than its table', Array(11).fill('a').join(), /line 1 has more fields than there can be, 10/],
  ['a million commas', `a\n${','.repeat(million)}`, /line 2 has more fields/],
  ['a million empty lines', `a\n${'\n'.repeat(million)}b`, /10000 empty lines or more/],
  ['a million quotes', `a\n${'"'.repeat(million)}`, /line 2 has a field with more than 100000 quotes/],
  ['quotes that are not closed', 'a\n"b', /line 2 has a field whose quotes are not closed/],
  ['a quote inside of a field', 'a\nb"c', /line 2 has a quote inside of a field/],
  ['letters behind a quoted field', 'a\n"b"c', /line 2 has a quote inside of a field/],
]
for (const [what, text, message] of refused) {
  test(`CSV with ${what} is refused`, () => {
    assert.throws(
      () => recordsOf(text),
      (error) => error instanceof ApiError && message.test(error.message),
    )
  })
}
