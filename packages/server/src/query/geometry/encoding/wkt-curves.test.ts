import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWkt } from './wkt.ts'

const half = Math.SQRT1_2

/** What a text becomes. */
const read = (text: string) => parseWkt(text)?.geometry

function near(found: unknown, expected: readonly number[]): void {
  assert.ok(Array.isArray(found))
  for (const [index, value] of expected.entries())
    assert.ok(Math.abs(Number(found[index]) - value) < 1e-12, `${found} is not ${expected}`)
}

test('a circular string is a line whose points lie on the circle', () => {
  const geometry = read('CIRCULARSTRING(1 0, 0 1, -1 0)')
  assert.equal(geometry?.type, 'LineString')
  assert.equal(geometry.isCurved, true)
  const line = geometry.coordinates as number[][]
  assert.ok(line.length > 40)
  for (const [x = 0, y = 0] of line) assert.ok(Math.abs(Math.hypot(x, y) - 1) < 1e-12)
  near(line[0], [1, 0])
  near(line.at(-1), [-1, 0])
  assert.ok(
    line.every(([, y = 0]) => y > -1e-12),
    'the arc takes the other way',
  )
})

test('parts of a compound curve are one line without double points', () => {
  const geometry = read(
    `SRID=2056;COMPOUNDCURVE Z (CIRCULARSTRING Z (1 0 5, ${half} ${half} 5, 0 1 5),(0 1 5, -3 1 5))`,
  )
  const line = geometry?.coordinates as number[][]
  assert.equal(new Set(line.map(String)).size, line.length)
  near(line[0], [1, 0, 5])
  near(line.at(-1), [-3, 1, 5])
})

test('all types with curves are read, with members of every kind', () => {
  const types: Record<string, string> = {
    'MULTICURVE((0 0,1 1),LINESTRING(2 2,3 3),CIRCULARSTRING(0 0,1 1,2 0),COMPOUNDCURVE((0 0,1 0),CIRCULARSTRING(1 0,2 1,3 0)))':
      'MultiLineString',
    'CURVEPOLYGON(CIRCULARSTRING(0 0,4 0,4 4,0 4,0 0),(1 1,3 3,3 1,1 1))': 'Polygon',
    'CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0,2 0,2 1,2 3,4 3),(4 3,4 5,1 4,0 0)))': 'Polygon',
    'MULTISURFACE(CURVEPOLYGON(CIRCULARSTRING(0 0,4 0,4 4,0 4,0 0)),((10 10,14 12,11 10,10 10)),POLYGON((1 1,2 1,2 2,1 1)))':
      'MultiPolygon',
    'multicurve zm (circularstring zm (0 0 1 9,1 1 1 9,2 0 1 9))': 'MultiLineString',
    'MULTICURVE EMPTY': 'MultiLineString',
    'GEOMETRYCOLLECTION(POINT(1 2),CIRCULARSTRING(0 0,1 1,2 0))': 'GeometryCollection',
    'TIN(((0 0,1 0,0 1,0 0)),((1 0,1 1,0 1,1 0)))': 'MultiPolygon',
    'TRIANGLE((0 0,1 0,0 1,0 0))': 'Polygon',
    'POLYHEDRALSURFACE Z (((0 0 0,1 0 0,0 1 0,0 0 0)))': 'MultiPolygon',
  }
  for (const [text, type] of Object.entries(types)) {
    assert.equal(read(text)?.type, type, text)
    assert.equal(read(text)?.isCurved === true, /CIRCULAR/i.test(text), text)
  }
})

test('what is no curve is refused', () => {
  for (const text of [
    'CIRCULARSTRING(0 0,1 1)',
    'CIRCULARSTRING(0 0,1 1,2 0,3 1)',
    'MULTICURVE(POLYGON((0 0,1 0,1 1,0 0)))',
    'MULTISURFACE(CIRCULARSTRING(0 0,1 1,2 0))',
    'COMPOUNDCURVE(CIRCULARSTRING(0 0,1 1,2 0)',
    'CURVEPOLYGON()',
    `${'COMPOUNDCURVE('.repeat(100)}(0 0,1 1)${')'.repeat(100)}`,
  ])
    assert.equal(read(text), undefined, text.slice(0, 60))
})
