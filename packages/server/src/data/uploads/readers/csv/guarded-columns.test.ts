import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { csvFormat } from '../../../../query/formats/csv.ts'
import { openCsv } from './csv.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'guards-'))
})
after(() => rm(directory, { recursive: true }))

async function read(text: string, options: Partial<Parameters<typeof openCsv>[1]> = {}) {
  const file = join(await mkdtemp(join(directory, 'own-')), 'a.csv')
  await writeFile(file, text)
  const reader = await openCsv(file, { fileName: 'a.csv', ...options })
  const { layer, rows } = await rowsOfReader(reader)
  await reader.close()
  return {
    names: layer.fields.map(({ name }) => name),
    values: rows.map(({ values }) => Object.values(values)),
    warnings: layer.warnings.filter(({ code }) => code !== 'local_values').map(({ code }) => code),
  }
}

/** As a download, whose formulas are guarded. */
function exported(name: string, texts: readonly string[]): string {
  const { begin, row } = csvFormat(
    [
      { name: 'id', type: 'integer' },
      { name, type: 'string' },
    ],
    true,
  )
  return begin + texts.map((text, index) => row([String(index), text])).join('')
}

for (const isFast of [true, false]) {
  describe(`a CSV that is read again from ${isFast ? 'bytes' : 'text'}`, () => {
    test('has the texts that it was exported from, formulas among them', async () => {
      const odd = [
        '=1+1',
        "'=1",
        "''-x",
        '-',
        '+49 30 1234',
        '@home',
        ' =a',
        '\u00a0-b',
        '\t',
        "'",
        "'s-Hertogenbosch",
        'a',
        '',
      ]
      const text = fc.oneof(fc.constantFrom(...odd), fc.stringMatching(/^[ '=+@a-]{0,4}$/))
      // What begins and ends with apostrophes is a quotation.
      const texts = fc
        .array(text, { minLength: 1, maxLength: 20 })
        .filter((all) => !all.some((one) => one.endsWith("'")))
      await fc.assert(
        fc.asyncProperty(texts, async (all) => {
          const given = ['=first', 'plain', ...all]
          const { names, values } = await read(exported('=name', given), { isFast })
          assert.deepEqual(names, ['id', '=name'])
          assert.deepEqual(
            values,
            given.map((one, index) => [index, one]),
          )
        }),
        { numRuns: 60, seed: Number(process.env.TEST_SEED ?? 1) },
      )
    })

    test('tells that apostrophes were taken off', async () => {
      assert.deepEqual((await read(exported('name', ['=1', 'a']), { isFast })).warnings, ['guarded_formulas'])
      assert.deepEqual((await read(exported('name', ['a', 'b']), { isFast })).warnings, [])
    })

    test('keeps the apostrophes of columns that have formulas without them, or quotations', async () => {
      for (const other of ['=2', "'quoted'"]) {
        const { values, warnings } = await read(`id,name\n1,'=1\n2,${other}\n`, { isFast })
        assert.deepEqual(
          [values, warnings],
          [
            [
              [1, "'=1"],
              [2, other],
            ],
            [],
          ],
        )
      }
    })

    test('keeps the apostrophes of a column that the client calls text', async () => {
      const { values, warnings } = await read("id,name\n1,'=1\n2,b\n", { isFast, rules: { types: { name: 'string' } } })
      assert.deepEqual(
        [values, warnings],
        [
          [
            [1, "'=1"],
            [2, 'b'],
          ],
          [],
        ],
      )
    })
  })
}
