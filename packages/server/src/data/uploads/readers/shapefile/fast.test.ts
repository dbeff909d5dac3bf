import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../../../../../testing/uploads/mutations.ts'
import { createGeometryWriter, type GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { createFlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { writeFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-write.ts'
import type { ByteWindow } from '../engine/byte-window.ts'
import { copyPlainShape } from './fast.ts'
import { readShape } from './geometry.ts'

const column = { srid: 4326, hasZ: false, isMulti: false }

/** The content of a record: a point, or parts of a line or an area, with measures behind the vertices where it has any. */
function contentOf(code: number, vertices: readonly number[], starts: readonly number[] = [0]): Buffer {
  const isPoint = code % 10 === 1
  const head = Buffer.alloc(isPoint ? 4 : 44 + starts.length * 4)
  head.writeInt32LE(code, 0)
  if (!isPoint) {
    head.writeUInt32LE(starts.length, 36)
    head.writeUInt32LE(vertices.length / 2, 40)
    for (const [part, start] of starts.entries()) head.writeUInt32LE(start, 44 + part * 4)
  }
  const measures = code > 20 ? Buffer.alloc(16 + vertices.length * 4, 1) : Buffer.alloc(0)
  return Buffer.concat([head, Buffer.from(new Float64Array(vertices).buffer), measures])
}

/** Other bytes lie around the record in the window. */
function windowOf(content: Buffer): { shp: ByteWindow; start: number; end: number } {
  const bytes = Buffer.concat([Buffer.alloc(5, 1), content, Buffer.alloc(40, 1)])
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return { shp: { bytes, view } as ByteWindow, start: 5, end: 5 + content.length }
}

const seenOf = (writer: GeometryWriter) => ({
  ewkb: writer.bytes.toString('hex', 0, writer.length),
  box: [...writer.box],
  sawZ: writer.sawZ,
})

function copied(content: Buffer, writer: GeometryWriter) {
  const { shp, start, end } = windowOf(content)
  const type = copyPlainShape(shp, start, end, writer)
  return type && { type, ...seenOf(writer) }
}

function read(content: Buffer, writer: GeometryWriter) {
  const { shp, start, end } = windowOf(content)
  const geometry = createFlatGeometry()
  assert.ok(readShape(shp.view, start, end, geometry))
  return { type: writeFlatGeometry(writer, geometry), ...seenOf(writer) }
}

/** So many vertices; the last is the first again where they make a ring. */
function verticesOf(random: (below: number) => number, count: number, isRing: boolean): number[] {
  const vertices = Array.from({ length: count * 2 }, () => (random(360_000) - 180_000) / 1000)
  return isRing ? [...vertices.slice(0, -2), vertices[0] ?? 0, vertices[1] ?? 0] : vertices
}

test('a plain shape is copied as it would have been read, with measures and as part of a multi geometry too', () => {
  const random = randomOf(7)
  for (const isMulti of [false, true]) {
    const [one, other] = [createGeometryWriter({ ...column, isMulti }), createGeometryWriter({ ...column, isMulti })]
    for (const code of [1, 3, 5, 21, 23, 25]) {
      // Few vertices are copied by a loop, many at once, and some need more room than there is.
      for (const size of [4, 5, 16, 17, 300, 1000]) {
        const content = contentOf(code, verticesOf(random, code % 10 === 1 ? 1 : size, code % 10 === 5))
        const result = copied(content, one)
        assert.ok(result, `code ${code}`)
        assert.deepEqual(result, read(content, other))
      }
    }
  }
})

test('a shape that is not plain is left to be read', () => {
  const ring = [0, 0, 0, 1, 1, 1, 0, 0]
  const line = [0, 0, 1, 1]
  const cut = (content: Buffer, bytes: number) => content.subarray(0, content.length - bytes)
  const others: Record<string, Buffer> = {
    'no shape': Buffer.alloc(4),
    'heights of a point': Buffer.concat([contentOf(11, [1, 2]), Buffer.alloc(16)]),
    'an unknown type': contentOf(27, line),
    'a point that is nowhere': contentOf(1, [Number.NaN, Number.NaN]),
    'an infinite vertex': contentOf(3, [0, 0, Infinity, 1]),
    'a vertex that is no number': contentOf(5, [0, 0, 0, 1, Number.NaN, 1, 0, 0]),
    'two parts': contentOf(3, [...line, ...line], [0, 2]),
    'a part that starts later': contentOf(3, line, [1]),
    'a line of one vertex': contentOf(3, [0, 0]),
    'a ring that is open': contentOf(5, [0, 0, 0, 1, 1, 1, 1, 0]),
    'a ring of three vertices': contentOf(5, [0, 0, 0, 1, 0, 0]),
    'a point that is cut off': cut(contentOf(1, [1, 2]), 1),
    'a header that is cut off': cut(contentOf(5, ring), 70),
    'a ring that is cut off': cut(contentOf(5, ring), 1),
    'a line that is cut off': cut(contentOf(3, line), 1),
  }
  for (const [name, content] of Object.entries(others))
    assert.equal(copied(content, createGeometryWriter(column)), undefined, name)
  assert.equal(copied(contentOf(5, ring), createGeometryWriter({ ...column, hasZ: true })), undefined, 'a column of Z')
})
