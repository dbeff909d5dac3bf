import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'
import type { ReaderOptions } from '../reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'local-values-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(content: string | object, rules: Partial<ReaderOptions> = {}) {
  const file = join(directory, 'file')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  const { signal } = new AbortController()
  const options = { fileName: 'a', directory, signal, allowNativeGdal: false, ...rules }
  const { rows, layer } = await rowsOfReader(await openReader(file, options))
  return {
    types: Object.fromEntries(layer.fields.map(({ name, type }) => [name, type])),
    rows: rows.map(({ values }) => values),
    warnings: layer.warnings.map(({ code, message }) => `${code}: ${message}`),
  }
}

/** A table with one column besides a key, so that a semicolon parts them. */
const column = (name: string, values: readonly string[], separator = ';') =>
  `id${separator}${name}\n${values.map((value, index) => `${index}${separator}${value}\n`).join('')}`

const valuesOf = async (values: readonly string[], rules: Partial<ReaderOptions> = {}, name = 'v', separator = ';') => {
  const { types, rows, warnings } = await read(column(name, values, separator), rules)
  return { type: types[name], values: rows.map((row) => row[name]), warnings }
}

test('dates by the customs of a country become dates, and a warning says how', async () => {
  const written: [values: string[], expected: string[], said: RegExp][] = [
    [['31.01.2024', '05.06.2023', ''], ['2024-01-31', '2023-06-05'], /day first, as in 31\.01\.2024/],
    [['31/1/2024', '5/6/2023'], ['2024-01-31', '2023-06-05'], /day first/],
    [['01/31/2024', '05/06/2023'], ['2024-01-31', '2023-05-06'], /month first, as in 01\/31\/2024/],
    [['Jan 31 2024', 'Feb 1 2024'], ['2024-01-31', '2024-02-01'], /text was read as dates/],
    [['January 31, 2024', 'Sept. 1st, 2024'], ['2024-01-31', '2024-09-01'], /text was read as dates/],
    [['31. Januar 2024', '1. März 2024'], ['2024-01-31', '2024-03-01'], /text was read as dates/],
    [['31-Jan-2024', '01-Dez-2024'], ['2024-01-31', '2024-12-01'], /text was read as dates/],
    [['31 janvier 2024', '1er août 2024'], ['2024-01-31', '2024-08-01'], /text was read as dates/],
    [['31 de enero de 2024', '1 de agosto de 2024'], ['2024-01-31', '2024-08-01'], /text was read as dates/],
    [['2024.01.31', '2024.2.1'], ['2024-01-31', '2024-02-01'], /text was read as dates/],
  ]
  for (const [texts, expected, said] of written) {
    const { type, values, warnings } = await valuesOf(texts)
    assert.equal(type, 'date', texts[0])
    assert.deepEqual(values.filter((value) => value !== null).map(String), expected, texts[0])
    assert.match(warnings.join(), said)
    assert.match(warnings.join(), /^local_values: The column "v": .*give the field dateOrder, or types/)
  }
})

test('dates with times become timestamps', async () => {
  const { type, values } = await valuesOf(['31.01.2024 14:30', '05.06.2023 08:15:30'])
  assert.equal(type, 'timestamp')
  assert.deepEqual(values.map(String), ['2024-01-31T14:30:00.000', '2023-06-05T08:15:30.000'])
  const american = await valuesOf(['1/31/2024 2:30 PM', '5/6/2023 12:05 am'])
  assert.deepEqual(american.values.map(String), ['2024-01-31T14:30:00.000', '2023-05-06T00:05:00.000'])
})

test('dates whose days are all below 13 stay text, and the field dateOrder settles them', async () => {
  const texts = ['01.02.2024', '03.04.2024']
  const { type, warnings } = await valuesOf(texts)
  assert.equal(type, 'text')
  assert.match(
    warnings.join(),
    /^ambiguous_values: The column "v": all days are below 13, .*Give the field dateOrder: dmy or mdy/,
  )
  assert.deepEqual((await valuesOf(texts, { dateOrder: 'dmy' })).values.map(String), ['2024-02-01', '2024-04-03'])
  assert.deepEqual((await valuesOf(texts, { dateOrder: 'mdy' })).values.map(String), ['2024-01-02', '2024-03-04'])
  assert.deepEqual((await valuesOf(['24-01-31', '99-12-01'], { dateOrder: 'ymd' })).values.map(String), [
    '2024-01-31',
    '1999-12-01',
  ])
  assert.deepEqual((await valuesOf(['31.01.24'], { dateOrder: 'dmy' })).values.map(String), ['2024-01-31'])
  // One more row settles it, however late it comes; two that differ leave it text.
  const many = Array.from({ length: 5_000 }, (_, n) => `${String((n % 12) + 1).padStart(2, '0')}.02.2024`)
  const late = await valuesOf([...many, '31.01.2024'])
  assert.deepEqual([late.type, String(late.values[2])], ['date', '2024-02-03'])
  const mixed = await valuesOf(['31.01.2024', '01.31.2024'])
  assert.deepEqual([mixed.type, mixed.warnings], ['text', []])
  assert.equal((await valuesOf(['31.01.2024', 'unknown'])).type, 'text')
  assert.equal((await valuesOf(['30.02.2024'])).type, 'text')
})

test('eight digits are a date where the column is called one, and a number elsewhere', async () => {
  for (const name of ['date', 'Datum', 'fecha', 'Erfassungsdatum', 'start_date', 'updateDate']) {
    const { type, values } = await valuesOf(['20240131', '20231201', ''], {}, name)
    assert.deepEqual([type, String(values[0])], ['date', '2024-01-31'], name)
  }
  assert.equal((await valuesOf(['20240131', '20231201'], {}, 'population')).type, 'integer')
  assert.deepEqual((await valuesOf(['20240131', '17'], {}, 'date')).values, [20240131, 17])
  const json = await read([{ date: 20240131 }, { date: 20231201 }])
  assert.deepEqual([json.types.date, String(json.rows[0]?.date)], ['date', '2024-01-31'])
})

test('numbers with thousands in groups become numbers, and a warning says how', async () => {
  const written: [values: string[], expected: number[], type: string, said: RegExp][] = [
    [['1.234,50', '12,5', '7', '1.234'], [1234.5, 12.5, 7, 1234], 'number', /decimal comma, as in 1\.234,50/],
    [["1'234.50", "12'345'678.25", '5.5'], [1234.5, 12345678.25, 5.5], 'number', /decimal point/],
    [['1’234', '12'], [1234, 12], 'integer', /groups of thousands/],
    [['1 234,5', '2 000 000,25'], [1234.5, 2000000.25], 'number', /decimal comma/],
    [['1,234.50', '-1,000.25'], [1234.5, -1000.25], 'number', /decimal point/],
    [['1.234.567', '89'], [1234567, 89], 'integer', /decimal comma/],
  ]
  for (const [texts, expected, type, said] of written) {
    const found = await valuesOf(texts)
    assert.equal(found.type, type, texts[0])
    assert.deepEqual(found.values, expected)
    assert.match(found.warnings.join(), said)
  }
  const quoted = await valuesOf(['"1,234,567"', '"12,345"'], {}, 'v', ',')
  assert.deepEqual([quoted.type, quoted.values], ['integer', [1234567, 12345]])
  // Plain decimals are read as ever, without a word; so are commas where they part no columns.
  assert.deepEqual(await valuesOf(['46.951', '7.439']), { type: 'number', values: [46.951, 7.439], warnings: [] })
  assert.deepEqual(await valuesOf(['46,951', '7,439']), { type: 'number', values: [46.951, 7.439], warnings: [] })
})

test('a comma that may part thousands or decimals stays text, and the field decimal settles it', async () => {
  const texts = ['"1,234"', '"5,678"']
  const { type, warnings } = await valuesOf(texts, {}, 'v', ',')
  assert.equal(type, 'text')
  assert.match(warnings.join(), /^ambiguous_values: .*Give the field decimal: "," or "\."/)
  assert.deepEqual((await valuesOf(texts, { decimal: ',' }, 'v', ',')).values, [1.234, 5.678])
  assert.deepEqual((await valuesOf(texts, { decimal: '.' }, 'v', ',')).values, [1234, 5678])
  assert.deepEqual((await valuesOf(['1.234', '5.678'], { decimal: ',' })).values, [1234, 5678])
  // A list of two numbers is none.
  assert.equal((await valuesOf(['"1,2"', '"3,45"'], {}, 'v', ',')).type, 'text')
  assert.equal((await valuesOf(['007', '0123'])).type, 'text')
  // Beside decimal commas 1.000 may be a thousand.
  const among = await read('price;count\n3,50;1.000\n4,25;2.500\n')
  assert.deepEqual(among.types, { price: 'number', count: 'text' })
  assert.match(among.warnings.join(), /^ambiguous_values: The column "count"/)
  // Numbers of telephones, companies and the internet are none.
  for (const codes of [['079 123 456'], ['123 456 789'], ['192.168.100.200'], ['044.123.456']])
    assert.equal((await valuesOf(codes)).type, 'text', codes[0])
})

test('yes and no in words become booleans where both occur', async () => {
  for (const [yes, no] of [
    ['yes', 'no'],
    ['Yes', 'No'],
    ['ja', 'nein'],
    ['JA', 'NEIN'],
    ['oui', 'non'],
    ['sí', 'no'],
    ['sì', 'no'],
    ['sim', 'não'],
    ['tak', 'nie'],
    ['да', 'нет'],
    ['Y', 'N'],
    ['J', 'N'],
  ]) {
    const { type, values, warnings } = await valuesOf([yes ?? '', no ?? '', ''])
    assert.deepEqual([type, values], ['boolean', [true, false, null]], yes)
    assert.match(warnings.join(), /yes and no in words were read as true and false/)
  }
  assert.equal((await valuesOf(['N', 'S', 'E', 'W'])).type, 'text')
  assert.equal((await valuesOf(['no', 'no'])).type, 'text')
  assert.equal((await valuesOf(['yes', 'no', 'maybe'])).type, 'text')
  const json = await read([{ a: 'yes' }, { a: 'no' }])
  assert.deepEqual(json.rows, [{ a: true }, { a: false }])
})

test('types that the client gives win, rows that do not fit are named, and nulls are nothing', async () => {
  const csv = 'plz,n,b,d,t,u\n01234,"1,5",1,31.01.2024,7:30,-9999\n8001,-9999,0,n/a,08:15:30,x\n'
  const { types, rows } = await read(csv, {
    types: { plz: 'string', n: 'number', b: 'boolean', d: 'date', t: 'time' },
    nulls: ['-9999', 'n/a'],
    decimal: ',',
  })
  assert.deepEqual(types, { plz: 'text', n: 'number', b: 'boolean', d: 'date', t: 'time', u: 'text' })
  assert.deepEqual(rows[0], { plz: '01234', n: 1.5, b: true, d: rows[0]?.d, t: rows[0]?.t, u: null })
  assert.deepEqual([rows[1]?.n, rows[1]?.d], [null, null])
  const lines = Array.from({ length: 300 }, (_, n) => (n === 250 ? 'x' : String(n)))
  const skipped = await read(column('v', lines), { types: { v: 'integer' } })
  assert.equal(skipped.rows.length, 299)
  assert.match(skipped.warnings.join(), /line 252, column "v": "x" is not an integer/)
  const json = await read([{ a: '12', b: 5, c: -9999 }], { types: { a: 'integer', b: 'string' }, nulls: ['-9999'] })
  assert.deepEqual(json.rows, [{ a: 12, b: '5', c: null }])
})
