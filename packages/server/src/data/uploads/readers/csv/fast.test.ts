import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  createRandom,
  hugeIntegers,
  integers,
  pick,
  decimals as plainDecimals,
  type Random,
  smallIntegers,
} from '../../../../../testing/uploads/random.ts'
import { type EncodedColumn, geometryColumnType, ReadFault, type ScannedLayer } from '../reader.ts'
import { openCsv } from './csv.ts'

const { signal } = new AbortController()
/** Random rows are impossible more often than those of files. */
const rules = { mostSkipped: 1 }
let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'csv-quick-'))
})
after(() => rm(directory, { recursive: true, force: true }))

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))

const decimals = [...plainDecimals, '.5']
const commas = ['0,5', '-1,25', '7']
const exponents = ['1e5', '-1E-7', '1e400', '1e-400', '1.5e+3']
const texts = [
  'a',
  'é😀',
  ' b ',
  'x'.repeat(150),
  '007',
  '+5',
  'q"q',
  '\u2028',
  'nul\0',
  'Infinity',
  '1.',
  '0x10',
  '--1',
  'x\ty',
]
const quoted = [
  '""',
  '"a"',
  '"12"',
  '"1.5"',
  '"a""b"',
  '"x,;|\ty"',
  '"two\r\nlines"',
  '"a"b',
  '" 5"',
  '"é"',
  '"2020-01-31"',
  '"true"',
  '"\0"',
]
const dates = ['2020-01-31', '2020/02/29', '0001-01-01']
const moments = ['2020-01-01T10:00:00Z', '2020-01-01 10:00:00.5', '10:20:30', '2021-02-29', '2020/01-01']
const classes = [
  smallIntegers,
  smallIntegers,
  integers,
  hugeIntegers,
  decimals,
  decimals,
  commas,
  exponents,
  texts,
  texts,
  quoted,
  dates,
  dates,
  moments,
  ['true', 'FALSE'],
  [''],
]

const ordinates = ['1', '-0', '179.9823575', '-66.3948081', '3.141592653589793', '17.12345678901234567', '100']
const oddOrdinates = ['1e5', '', 'N/A', ' 5', '1,5', 'Infinity', '+1', '05', '"7.5"', '.5', '0x10']

function randomWkt(random: Random): string {
  const number = () => pick(random, random() < 0.02 ? ['1e5', '05', 'x', '1.', '+1'] : ordinates)
  const position = () => times(random() < 0.03 ? 3 : 2, number).join(random() < 0.02 ? '  ' : ' ')
  const list = (item: () => string, least: number) =>
    `(${times(least + Math.floor(random() * 3), item).join(random() < 0.3 ? ', ' : ',')})`
  const ring = () => {
    const start = position()
    return `(${[start, '1000 2', '3 4000', ...(random() < 0.9 ? [start] : [])].join()})`
  }
  const makers: [string, () => string][] = [
    ['POINT', () => list(position, 1).replace(/,.*/, random() < 0.9 ? ')' : ',1 2)')],
    ['LINESTRING', () => list(position, random() < 0.1 ? 1 : 2)],
    ['POLYGON', () => list(ring, 1)],
    ['MULTIPOINT', () => list(random() < 0.5 ? position : () => (random() < 0.9 ? `(${position()})` : position()), 1)],
    ['MULTILINESTRING', () => list(() => list(position, 2), 1)],
    ['MULTIPOLYGON', () => list(() => list(ring, 1), 1)],
    ['GEOMETRYCOLLECTION', () => '(POINT(1 2))'],
  ]
  const [name, make] = pick(random, random() < 0.7 ? makers.slice(2, 3) : makers)
  const wkt = `${name}${pick(random, [' ', '', ' Z ', 'Z', ' Z'])}${make()}`
  const odd = [
    `SRID=4326;${wkt}`,
    wkt.toLowerCase(),
    `${name} EMPTY`,
    '',
    'nonsense',
    `${wkt} x`,
    `${wkt} `,
    wkt.slice(0, -1),
    ` ${wkt}`,
    `${name} M ${make()}`,
  ]
  return random() < 0.1 ? pick(random, odd) : wkt
}

type Column = { name: string; cell: (isOdd: boolean) => string }

function randomColumns(random: Random): Column[] {
  const plain = times(1 + Math.floor(random() * 5), (n): Column => {
    const own = pick(random, classes)
    return { name: `c${n}`, cell: (isOdd) => pick(random, isOdd ? pick(random, classes) : own) }
  })
  const ordinate = (name: string): Column => ({ name, cell: (isOdd) => pick(random, isOdd ? oddOrdinates : ordinates) })
  const shape = Math.floor(random() * 4)
  if (shape === 0) return plain
  if (shape === 1) return [ordinate('lon'), ...plain, ordinate('lat')]
  if (shape === 2) return [...plain, ordinate('x'), ordinate('y'), ordinate('z')]
  const isBare = random() < 0.2
  return [{ name: 'wkt', cell: () => (isBare ? randomWkt(random) : `"${randomWkt(random)}"`) }, ...plain]
}

/** Nothing is odd in the first rows when they are to be calm. */
function randomTable(random: Random, rowCount: number, calmRows = 0): string {
  const delimiter = pick(random, [',', ',', ',', ';', '\t', '|'])
  const lineEnd = pick(random, ['\n', '\n', '\r\n', '\r'])
  const columns = randomColumns(random)
  const laterOddity = pick(random, calmRows ? [0.002, 0.02, 0.2] : [0, 0.02, 0.2])
  const mayQuote = random() < 0.5
  const row = (index: number): string => {
    const oddity = index < calmRows ? 0 : laterOddity
    if (random() < oddity / 4)
      return pick(random, ['', delimiter, `1${delimiter}2`, `${`1${delimiter}`.repeat(9)}1`, '""'])
    const cells = columns.map(({ cell }) => {
      const text = cell(random() < oddity)
      const isBare = !(text.includes(delimiter) || (mayQuote && random() < 0.3)) || random() < oddity / 4
      return text.startsWith('"') || isBare ? text : `"${text.replaceAll('"', '""')}"`
    })
    return cells.join(delimiter)
  }
  const rows = times(rowCount, row)
  return [
    random() < 0.2 ? '\ufeff' : '',
    [columns.map(({ name }) => name).join(delimiter), ...rows].join(lineEnd),
    random() < 0.7 ? lineEnd : '',
  ].join('')
}

function columnsFor({ fields, geometryTypes, hasZ }: ScannedLayer): EncodedColumn[] {
  return [
    { kind: 'fid' },
    ...fields.map(({ type }, field): EncodedColumn => ({ kind: 'field', field, type })),
    { kind: 'geometry', srid: 4326, hasZ, isMulti: geometryColumnType(geometryTypes).isMulti },
  ]
}

async function hex(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of chunks) text += chunk.toString('hex')
  return text
}

/** What is made of the file when all of it is read as text. */
async function slowly(file: string): Promise<{ layer: ScannedLayer; rows: string } | ReadFault> {
  try {
    const reader = await openCsv(file, { fileName: 'a.csv', rules, isFast: false })
    const layer = await reader.scan('a', { signal })
    return { layer, rows: await hex(reader.encode('a', columnsFor(layer), { signal })) }
  } catch (error) {
    if (error instanceof ReadFault) return error
    throw error
  }
}

/** Loads the file in one reading where that can be, else in a second one. */
async function quickly(file: string, window: number): Promise<{ layer: ScannedLayer; rows: string } | ReadFault> {
  try {
    const reader = await openCsv(file, { fileName: 'a.csv', window, rules })
    const guess = await reader.guess('a', { signal })
    // Of a heading alone nothing is guessed.
    if (!guess) return { layer: await reader.scan('a', { signal }), rows: '' }
    const loading = reader.load('a', columnsFor(guess), { signal })
    let rows = ''
    let step = await loading.next()
    for (; !step.done; step = await loading.next()) rows += step.value.toString('hex')
    const { layer, isAsGuessed } = step.value
    const again = await hex(reader.encode('a', columnsFor(layer), { signal }))
    if (isAsGuessed) assert.equal(rows, again)
    return { layer, rows: again }
  } catch (error) {
    if (error instanceof ReadFault) return error
    throw error
  }
}

async function compare(text: string, windows: readonly number[], label: string): Promise<boolean> {
  const file = join(directory, 'file')
  await writeFile(file, text)
  const expected = await slowly(file)
  for (const window of windows) {
    const found = await quickly(file, window)
    const where = `${label}, window ${window}`
    if (expected instanceof ReadFault || found instanceof ReadFault)
      assert.equal(codeOf(found), codeOf(expected), where)
    else assert.deepEqual(found, expected, where)
  }
  return !(expected instanceof ReadFault)
}

const codeOf = (result: object): string | undefined => (result instanceof ReadFault ? result.code : undefined)

const rounds = 500

test(`${rounds} random tables give the same rows whether records are made of them or not`, async () => {
  let good = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const random = createRandom(seed + 7e6)
    const windows = [pick(random, [16, 100, 1_000]), 1_000_000]
    if (await compare(randomTable(random, 1 + Math.floor(random() * 40)), windows, `seed ${seed}`)) good++
  }
  assert.ok(good > rounds * 0.8, `only ${good} were read`)
})

test('tables that go on otherwise than they begin give the same rows too', async () => {
  for (let seed = 1; seed <= 25; seed++) {
    await compare(randomTable(createRandom(seed + 8e6), 2_300, 2_100), [1_000], `seed ${seed}`)
  }
})

test('rows are the same wherever the window ends', async () => {
  const row = (n: number) => `${n},${n}.5,"é""${n}",word ü,"x,\r\n",2020-01-0${n},"POLYGON ((0 0,${n} 0,1 1.25,0 0))"`
  const text = `\ufeffa,b,c,d,e,f,wkt\r\n${times(9, row).join('\r\n')}\r\n`
  assert.ok(
    await compare(
      text,
      times(Buffer.byteLength(text), (n) => n + 4),
      'all windows',
    ),
  )
})
