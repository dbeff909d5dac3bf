import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openCsv } from './csv.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'nulls-'))
})
after(() => rm(directory, { recursive: true }))

async function read(text: string, options: Partial<Parameters<typeof openCsv>[1]> = {}) {
  const file = join(await mkdtemp(join(directory, 'own-')), 'a.csv')
  await writeFile(file, text)
  const reader = await openCsv(file, { fileName: 'a.csv', ...options })
  const { layer, rows } = await rowsOfReader(reader)
  await reader.close()
  return {
    values: rows.map(({ values }) => Object.values(values)),
    warnings: layer.warnings.map(({ code, count }) => [code, count]),
  }
}

const table =
  'name,n,day,open,code\nNULL,1,2024-01-31,true,NA\nb,N/A,NULL,n/a,CH\nc,-,2024-02-01,false,\\N\nNA,3,–,NULL,DE\n'
const expected = [
  [null, 1, '2024-01-31', true, 'NA'],
  ['b', null, null, null, 'CH'],
  ['c', null, '2024-02-01', false, null],
  ['NA', 3, null, null, 'DE'],
]

for (const isFast of [true, false]) {
  test(`NULL is null, and N/A where all other values are of a type, with warnings (${isFast ? 'from bytes' : 'from text'})`, async () => {
    assert.deepEqual(await read(table, { isFast }), {
      values: expected,
      warnings: [
        ['null_values', 4],
        ['null_values', undefined],
      ],
    })
  })
}

test('a column of nothing but words for nothing is text', async () => {
  const { values, warnings } = await read('a,b\nNA,x\n-,y\n')
  assert.deepEqual(values, [
    ['NA', 'x'],
    ['-', 'y'],
  ])
  assert.deepEqual(warnings, [])
})

test('the client says which texts are null, and no others are', async () => {
  const { values, warnings } = await read('a,b\nNULL,1\n-9999,N/A\nx,-9999\n', { rules: { nulls: ['-9999'] } })
  assert.deepEqual(values, [
    ['NULL', '1'],
    [null, 'N/A'],
    ['x', null],
  ])
  assert.deepEqual(warnings, [])
})
