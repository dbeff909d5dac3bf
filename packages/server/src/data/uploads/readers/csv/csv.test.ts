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
  directory = await mkdtemp(join(tmpdir(), 'csv-'))
})
after(() => rm(directory, { recursive: true, force: true }))

async function read(content: string | Buffer) {
  const file = join(directory, 'file')
  await writeFile(file, content)
  const { signal } = new AbortController()
  return rowsOfReader(await openReader(file, { fileName: 'places.csv', directory, signal, allowNativeGdal: false }))
}

const values = async (content: string | Buffer) => (await read(content)).rows.map((row) => row.values)
const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })

test('a column has the narrowest type that loses nothing; leading zeros and signs stay text', async () => {
  const { layer, rows } = await read(
    'i,z,f,b,d,t,m,e\n1,007,1.5,true,2020-01-31,+49,1,\n2147483648,1,2,FALSE,2020-02-01,5,x,\n',
  )
  assert.deepEqual(
    layer.fields.map(({ type }) => type),
    ['bigint', 'text', 'number', 'boolean', 'date', 'text', 'text', 'text'],
  )
  assert.deepEqual(rows[0]?.values, { i: 1n, z: '007', f: 1.5, b: true, d: '2020-01-31', t: '+49', m: '1', e: null })
  assert.equal(layer.name, 'places')
  assert.equal(layer.geometryTypes.size, 0)
})

test('quotes hold delimiters, line ends and quotes; nothing is null, a quoted nothing is empty text', async () => {
  assert.deepEqual(await values('a,b\r\n"x,""y""\r\nz",1\r\n,2\r\n"",3'), [
    { a: 'x,"y"\r\nz', b: 1 },
    { a: null, b: 2 },
    { a: '', b: 3 },
  ])
  assert.deepEqual(await values('a,b\n5" pipe,1\n"x"y,2\n'), [
    { a: '5" pipe', b: 1 },
    { a: 'xy', b: 2 },
  ])
  assert.deepEqual(await values('n,m\n"",x\n"3",y\n'), [
    { n: null, m: 'x' },
    { n: 3, m: 'y' },
  ])
  assert.deepEqual(await values('a,b\r1,2\r3,4\r'), [
    { a: 1, b: 2 },
    { a: 3, b: 4 },
  ])
})

test('semicolons with decimal commas, tabs, bars and a declared separator are seen', async () => {
  assert.deepEqual(await values('a;b\n1,5;x\n-0,25;"y;z"\n'), [
    { a: 1.5, b: 'x' },
    { a: -0.25, b: 'y;z' },
  ])
  assert.deepEqual(await values('a;b\n1,5;x\n2.5;y\n'), [
    { a: '1,5', b: 'x' },
    { a: '2.5', b: 'y' },
  ])
  assert.deepEqual(await values('a\tb\n1\tx, y\n'), [{ a: 1, b: 'x, y' }])
  assert.deepEqual(await values('a|b\n1|2\n'), [{ a: 1, b: 2 }])
  assert.deepEqual(await values('sep=;\r\na;b\r\n1;2\r\n'), [{ a: 1, b: 2 }])
})

test('UTF-16, Windows-1252 and a byte order mark are read', async () => {
  const text = 'name,größe\nKöln,1\n'
  const expected = [{ name: 'Köln', größe: 1 }]
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  assert.deepEqual(await values(utf16), expected)
  assert.deepEqual(await values(Buffer.from(utf16).swap16()), expected)
  assert.deepEqual(await values(Buffer.from(text, 'latin1')), expected)
  assert.deepEqual(await values(`\ufeff${text}`), expected)
  assert.equal((await read(Buffer.from(text, 'latin1'))).layer.warnings[0]?.code, 'transcoded')
})

test('coordinates are found by name, and rows without them are kept', async () => {
  const { rows, layer } = await read('name,Latitude,Longitude\na,50.5,6.5\nb,,\nc,N/A,7\nd,1,2\n')
  assert.deepEqual(
    rows.map(({ geometry }) => geometry),
    [point(6.5, 50.5), null, null, point(2, 1)],
  )
  assert.deepEqual(
    layer.warnings.map(({ code, count }) => [code, count]),
    [
      ['null_values', undefined],
      ['missing_geometry', 2],
    ],
  )
  assert.deepEqual((await read('coord_x;coord_y\n1,5;2,5\n')).rows[0]?.geometry, point(1.5, 2.5))
  assert.deepEqual((await read('x,y,z\n24.93841,60.16991,3\n')).rows[0]?.geometry, point(24.93841, 60.16991, 3))
  assert.equal((await read('x,y\nleft,right\n')).rows[0]?.geometry, null)
})

test('geometry is read from WKT, EWKT, GeoJSON and hexadecimal WKB, and is no field then', async () => {
  const ring = '(0 0,1 0,1 1,0 0)'
  const mixed = `1,"POLYGON (${ring},(0.1 0.1,0.2 0.1,0.2 0.2,0.1 0.1))"\n2,"MULTIPOLYGON ((${ring}))"\n3,nonsense\n`
  const text = await read(`id,remark\n${mixed}`)
  assert.equal(text.layer.geometryTypes.size, 0, 'a column of more than geometries is text')
  assert.deepEqual(text.rows[2]?.values, { id: 3, remark: 'nonsense' })
  const named = await read(`id,shape\n${mixed}`)
  assert.deepEqual([...named.layer.geometryTypes], ['Polygon', 'MultiPolygon'], 'but its name can tell')
  assert.equal(named.layer.warnings[0]?.count, 1)
  const ewkt = await read('id,geom\n1,SRID=28992;POINT Z (1 2 3)\n2,POINT EMPTY\n3,\n')
  assert.deepEqual(
    ewkt.rows.map(({ geometry }) => geometry),
    [point(1, 2, 3), point(), null],
  )
  assert.equal(ewkt.layer.srid, 28992)
  assert.deepEqual(
    ewkt.layer.fields.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(
    (await read('id,g\n1,"{""type"":""Point"",""coordinates"":[1,2]}"\n')).rows[0]?.geometry,
    point(1, 2),
  )
  assert.deepEqual(
    (await read('id,wkb\n1,0101000020E6100000000000000000F03F0000000000000040\n')).rows[0]?.geometry,
    point(1, 2),
  )
  const multi = await read(
    'id,wkt\n1,"MULTIPOINT(1 2,3 4)"\n2,"MULTIPOINT((5 6))"\n3,"MULTILINESTRING((0 0 9,1 1 9),EMPTY)"\n4,"GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))"\n5,"POINT M (1 2 9)"\n6,"LINESTRING(1 2)"\n',
  )
  assert.deepEqual(
    multi.rows.map(({ geometry }) => (geometry as { type: string } | null)?.type),
    ['MultiPoint', 'MultiPoint', 'MultiLineString', 'GeometryCollection', 'Point'],
  )
  assert.match(multi.layer.warnings[0]?.message ?? '', /: line 7, column "wkt": "LINESTRING\(1 2\)" is not a geometry/)
})

test('names are made unique, rows of other lengths are kept, and a table without header gets one', async () => {
  assert.deepEqual(await values('a,a,\n1,2,3\n4\n'), [
    { a: 1, a_2: 2, column_3: 3 },
    { a: 4, a_2: null, column_3: null },
  ])
  assert.deepEqual(await values('1,2\n3,4\n'), [
    { column_1: 1, column_2: 2 },
    { column_1: 3, column_2: 4 },
  ])
  assert.deepEqual(
    (await read('a,b\n1,2,3\n')).layer.warnings.map(({ code, count }) => [code, count]),
    [['extra_cells', 1]],
  )
})

test('rows are whole wherever the chunks of the file end', async () => {
  const line = (index: number) => `${index},"${'é"",\n'.repeat(index % 50)}",${'x'.repeat(index % 7)}\r\n`
  const count = 20_000
  const { rows } = await read(`n,text,x\r\n${Array.from({ length: count }, (_, index) => line(index)).join('')}`)
  assert.equal(rows.length, count)
  for (const [index, row] of rows.entries()) {
    assert.equal(row.values.n, index)
    assert.equal(row.values.text, 'é",\n'.repeat(index % 50))
  }
})

async function faultOf(content: string | Buffer): Promise<string> {
  return read(content).then(
    () => 'none',
    (error) => (error instanceof ReadFault ? error.code : String(error)),
  )
}

test('faults have their codes', async () => {
  assert.equal(await faultOf(''), 'empty_file')
  assert.equal(await faultOf(' \n\n'), 'empty_file')
  assert.equal(await faultOf('a,b\n1,"x\n'), 'truncated')
  assert.equal(
    await faultOf(`${Array.from({ length: 1_001 }, (_, index) => `c${index}`).join()}\n1,2\n`),
    'too_many_columns',
  )
  assert.equal(await faultOf(`a,b\n1,"${'x,'.repeat(20 * 1024 * 1024)}`), 'row_too_large')
})

test('a text that is no table is refused, and a ragged table is not', async () => {
  const objects = Array.from({ length: 30 }, (_, n) => `${n} 0 obj\n<< /Type /Page, /Parent 1 0 R >>\nendobj`)
  assert.equal(await faultOf(`%PDF-1.4\n${objects.join('\n')}\ntrailer\n%%EOF\n`), 'unsupported_format')
  assert.equal(await faultOf(`%!PS-Adobe-3.0\n${'0 0 moveto, 1 1 lineto\n'.repeat(20)}`), 'unsupported_format')
  assert.equal(await faultOf('{\\rtf1\\ansi\nSome text, more text\n'), 'unsupported_format')
  const prose = [3, 1, 5, 2, 7, 1, 4, 9].map((width) => Array.from({ length: width }, () => 'some words').join(', '))
  assert.equal(await faultOf(prose.join('\n')), 'unsupported_format')
  const letters = Array.from({ length: 90 * 1024 }, (_, n) => (n % 80 === 79 ? '\n' : 'a')).join('')
  assert.equal(
    await faultOf(Buffer.concat([Buffer.from(`a,b\n${letters}`), Buffer.alloc(90_000, 1)])),
    'unsupported_format',
  )
  const ragged = 'a,b,c,d,e\n1,2,3,4,5\n1,2,3\n1,2\n1,2,3,4\n1\n1,2,3,4,5\n'
  assert.equal(await faultOf(ragged), 'none')
  assert.equal(await faultOf('name\nAda\nGrace, rear admiral\nEdsger\n'), 'none')
})
