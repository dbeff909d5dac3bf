import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { openReader } from '../open-reader.ts'
import { ReadFault } from '../reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'json-records-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(content: string | object) {
  const file = join(directory, 'file')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  const { signal } = new AbortController()
  const reader = await openReader(file, { fileName: 'a.json', directory, signal, allowNativeGdal: false })
  return { format: reader.format, ...(await rowsOfReader(reader)) }
}

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const helsinki = { name: 'Helsinki', lat: 60.17, lon: 24.94 }
const turku = { name: 'Turku', lat: 60.45, lon: 22.27, since: '1229-01-01' }

test('objects in a list, in a member or one after another are rows, with a point where they have coordinates', async () => {
  const written: Record<string, string> = {
    list: JSON.stringify([helsinki, turku]),
    indented: JSON.stringify([helsinki, turku], null, 2),
    member: JSON.stringify({ status: 'ok', total: 2, next: null, data: [helsinki, turku], more: { a: [1] } }),
    lines: `${JSON.stringify(helsinki)}\n${JSON.stringify(turku)}\n`,
    sequence: `\x1e${JSON.stringify(helsinki)}\n\x1e${JSON.stringify(turku)}\n`,
    marked: `\ufeff${JSON.stringify([helsinki, turku])}`,
  }
  for (const [label, text] of Object.entries(written)) {
    const { format, layer, rows } = await read(text)
    assert.equal(format, 'json', label)
    assert.deepEqual(
      rows.map(({ geometry }) => geometry),
      [point(24.94, 60.17), point(22.27, 60.45)],
      label,
    )
    assert.deepEqual(
      layer.fields.map(({ name, type }) => [name, type]),
      [
        ['name', 'text'],
        ['lat', 'number'],
        ['lon', 'number'],
        ['since', 'date'],
      ],
      label,
    )
    assert.deepEqual(rows[0]?.values, { ...helsinki, since: null }, label)
  }
})

test('objects without coordinates are a table without geometry; nested values are JSON and large integers exact', async () => {
  const { layer, rows } = await read(
    '[{"id":9007199254740993,"tags":{"a":[1,9007199254740993]}},{"id":1,"type":"bus","ok":true},{}]',
  )
  assert.equal(layer.geometryTypes.size, 0)
  assert.deepEqual(
    layer.fields.map(({ name, type }) => [name, type]),
    [
      ['id', 'bigint'],
      ['tags', 'json'],
      ['type', 'text'],
      ['ok', 'boolean'],
    ],
  )
  assert.equal(rows[0]?.values.id, 9007199254740993n)
  assert.deepEqual(rows[2]?.values, { id: null, tags: null, type: null, ok: null })
})

test('a point is read from text, nested objects, lists and geometries', async () => {
  const shapes: Record<string, object> = {
    strings: { latitude: '60.17', longitude: '24.94' },
    degrees: { Breitengrad: '60°10\'12"N', Längengrad: '24°56\'24"E' },
    nested: { location: { lat: 60.17, lng: 24.94 } },
    list: { lonlat: [24.94, 60.17] },
    like: { location: { coordinates: [24.94, 60.17] } },
    planar: { location: { x: 24.94, y: 60.17 } },
    pair: { position: '60.17, 24.94' },
    geometry: { geometry: point(24.94, 60.17) },
    wkt: { wkt: 'POINT (24.94 60.17)' },
  }
  for (const [label, shape] of Object.entries(shapes)) {
    const { rows } = await read([{ id: 1, ...shape }])
    assert.deepEqual(rows[0]?.geometry, point(24.94, 60.17), label)
  }
  assert.deepEqual(Object.keys((await read([{ id: 1, geometry: point(1, 2) }])).rows[0]?.values ?? {}), ['id'])
})

test('items that are no objects and coordinates that are none are skipped and named', async () => {
  const items: unknown[] = Array.from({ length: 300 }, (_, n) => ({ n, lat: n % 90, lon: n }))
  items[10] = 'text'
  items[20] = { n: 20, lat: 'north', lon: 1 }
  items[30] = { n: 30, lat: 6017, lon: 1 }
  const { layer, rows } = await read(items)
  assert.equal(rows.length, 297)
  const [{ message } = { message: '' }] = layer.warnings
  assert.match(
    message,
    /feature 11: .*text.* is not an object; feature 21, column "lat": "north" is not a latitude; feature 31, column "lat": "6017"/,
  )
})

test('records are whole wherever the windows of the file end', async () => {
  const items = Array.from({ length: 30_000 }, (_, n) => ({ n, text: 'é"\\\n'.repeat(n % 40), list: [{ n }] }))
  for (const content of [JSON.stringify({ items }), items.map((item) => JSON.stringify(item)).join('\n')]) {
    const { rows } = await read(content)
    assert.equal(rows.length, items.length)
    for (const [n, row] of rows.entries()) assert.deepEqual(row.values, items[n])
  }
})

test('another list of objects is not read, and a warning says so', async () => {
  const { layer, rows } = await read({ stops: [{ a: 1 }], routes: [{ b: 1 }] })
  assert.equal(rows.length, 1)
  assert.match(layer.warnings.map(({ message }) => message).join(), /Only the list "stops" was read, not "routes"/)
})

test('GeoJSON stays GeoJSON, and JSON that is neither is refused', async () => {
  const feature = { type: 'Feature', properties: { a: 1 }, geometry: point(1, 2) }
  const kinds = [feature, [feature], point(1, 2), { features: [feature], type: 'FeatureCollection' }]
  for (const content of kinds) assert.equal((await read(content)).format, 'geojson')
  const refused: [string, string][] = [
    ['{"a": 1}', 'wrong_format'],
    ['[1, 2]', 'wrong_format'],
    ['[["name"], ["Bern"]]', 'wrong_format'],
    ['[x]', 'invalid_json'],
    ['[{"a": 1}, {"a": 2', 'truncated'],
    ['[{"a": 1}, {"a" 2}]', 'invalid_json'],
    ['{"data": [{"a": 1}] "b": 1}', 'invalid_json'],
  ]
  for (const [content, code] of refused) {
    await assert.rejects(read(content), (error) => error instanceof ReadFault && error.code === code, content)
  }
})
