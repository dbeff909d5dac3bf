import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { zipOf } from '../../../../../testing/uploads/zip-of.ts'
import { openReader } from '../open-reader.ts'
import { ReadFault } from '../reader.ts'
import type { TableRules } from '../table-rules.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ods-'))
})
after(() => rm(directory, { recursive: true, force: true }))

let opened = 0

const namespaces = ['office', 'table', 'text', 'draw'].map((name) => `xmlns:${name}="urn:${name}"`).join(' ')

function odsOf(body: string, manifest = '<manifest/>', kind = 'spreadsheet'): Buffer {
  const content = `<office:document-content ${namespaces}><office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`
  const files = { mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': content }
  const parts = { ...files, 'META-INF/manifest.xml': manifest }
  return zipOf(Object.entries(parts).map(([name, text]) => ({ name, content: Buffer.from(text) })))
}

const sheet = (name: string, ...rows: string[]): string =>
  `<table:table table:name="${name}">${rows.map((cells) => `<table:table-row>${cells}</table:table-row>`).join('')}</table:table>`
const word = (text: string): string =>
  `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
const typed = (type: string, value: string, shown = 'shown'): string =>
  `<table:table-cell office:value-type="${type}" office:${type === 'float' ? '' : `${type}-`}value="${value}"><text:p>${shown}</text:p></table:table-cell>`
const blank = (count = 1): string => `<table:table-cell table:number-columns-repeated="${count}"/>`

async function open(content: Buffer, rules: TableRules = {}) {
  const own = join(directory, String(opened++))
  await mkdir(own)
  await writeFile(join(own, 'source'), content)
  const { signal } = new AbortController()
  return openReader(join(own, 'source'), {
    fileName: 'a.ods',
    directory: own,
    signal,
    allowNativeGdal: false,
    ...rules,
  })
}

async function read(content: Buffer, rules: TableRules = {}) {
  const reader = await open(content, rules)
  const { layer, rows } = await rowsOfReader(reader)
  const warnings = layer.warnings.map(({ code }) => code)
  return { warnings, layers: await reader.layers(), fields: layer.fields.map(({ name, type }) => [name, type]), rows }
}

const faultOf = (content: Buffer): Promise<unknown> =>
  open(content).then(
    () => 'none',
    (error) => (error instanceof ReadFault ? error.code : error),
  )

test('a sheet is read by the rules of CSV: titles above the heading, points, blank cells and rows', async () => {
  const rows = [
    word('Stops of 2024'),
    '',
    word('name') + word('lat') + word('lon') + word('note') + blank(16_380),
    word('Kamppi') + typed('float', '60.1685') + typed('float', '24.9315') + blank(16_381),
    word('Rautatientori') + typed('float', '60.1708') + typed('float', '24.9414') + word('x') + blank(16_380),
  ]
  const { layers, fields, warnings, rows: read_ } = await read(odsOf(sheet('Stops', ...rows) + sheet('Empty', '')))
  assert.deepEqual([layers, warnings], [['Stops'], []])
  assert.deepEqual(fields, [
    ['name', 'text'],
    ['lat', 'number'],
    ['lon', 'number'],
    ['note', 'text'],
  ])
  assert.deepEqual(
    read_.map(({ values, geometry }) => [values.name, values.note, geometry]),
    [
      ['Kamppi', null, { type: 'Point', coordinates: [24.9315, 60.1685] }],
      ['Rautatientori', 'x', { type: 'Point', coordinates: [24.9414, 60.1708] }],
    ],
  )
})

test('cells have the values of their types, not what is shown of them', async () => {
  const heading = ['number', 'day', 'at', 'time', 'flag', 'text'].map(word).join('')
  const text =
    '<table:table-cell office:value-type="string"><office:annotation><text:p>a note</text:p></office:annotation>' +
    '<text:p>two<text:s text:c="3"/>lines &amp; <text:span>more</text:span></text:p><text:p>of<text:tab/>it</text:p></table:table-cell>'
  const row =
    typed('float', '1234.5', '1,234.50') +
    typed('date', '2024-01-31', '31/01/24') +
    typed('date', '2024-01-31T10:20:30') +
    typed('time', 'PT10H20M30S') +
    typed('boolean', 'true', 'WAHR') +
    text
  const { fields, rows } = await read(odsOf(sheet('a', heading, row)))
  assert.deepEqual(fields, [
    ['number', 'number'],
    ['day', 'date'],
    ['at', 'timestamp'],
    ['time', 'time'],
    ['flag', 'boolean'],
    ['text', 'text'],
  ])
  assert.equal(rows[0]?.values.text, 'two   lines & more\nof\tit')
  assert.deepEqual([rows[0]?.values.number, rows[0]?.values.flag], [1234.5, true])
})

test('rows and cells that are repeated are as many, and more than a sheet holds are refused', async () => {
  const repeated = (count: number) =>
    `<table:table table:name="a"><table:table-row>${word('a')}${word('b')}</table:table-row>` +
    `<table:table-row table:number-rows-repeated="${count}"><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="2"/></table:table-row>` +
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>'
  const { rows } = await read(odsOf(repeated(3)))
  assert.deepEqual(
    rows.map(({ values }) => values),
    Array.from({ length: 3 }, () => ({ a: 1, b: 1 })),
  )
  assert.equal(await faultOf(odsOf(repeated(2_000_000_000))), 'expansion_limit')
  const wide = `<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="99999999"/>`
  assert.equal(await faultOf(odsOf(sheet('a', wide))), 'too_many_columns')
})

test('a heading alone makes an empty table', async () => {
  const { fields, rows } = await read(odsOf(sheet('a', word('name') + word('lat') + word('lon'))))
  assert.deepEqual([fields.map(([name]) => name), rows], [['name', 'lat', 'lon'], []])
})

test('the client has a word on the columns', async () => {
  const content = odsOf(sheet('a', word('plz') + word('b'), typed('float', '8001') + word('x')))
  const { fields } = await read(content, { types: { plz: 'string' } })
  assert.deepEqual(fields[0], ['plz', 'text'])
})

test('what is no spreadsheet, holds no rows, is encrypted or damaged is refused with its reason', async () => {
  assert.equal(await faultOf(odsOf('<text:p>letter</text:p>', undefined, 'text')), 'unsupported_format')
  assert.equal(await faultOf(odsOf('')), 'no_features')
  assert.equal(await faultOf(odsOf('', '<manifest><encryption-data/></manifest>')), 'zip_encrypted')
  assert.equal(await faultOf(odsOf('<table:table>')), 'invalid_xml')
})
