import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomOf } from '../testing/mutations.ts'
import { createRowWriter } from './copy-binary.ts'
import { createFlatGeometry, createGeometrySummary, summarise } from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { writeGeometry } from './flat-geometry-write.ts'
import { readShape } from './shapefile-geometry.ts'
import { createPlainShape, findPlainShape, writePlainShape } from './shapefile-plain.ts'

type Vertex = readonly [x: number, y: number]

/** A record's content, with some bytes behind it such as measures are. */
function recordOf(code: number, vertices: readonly Vertex[], starts: readonly number[] = [0]): Buffer {
  const isPoint = code % 10 === 1
  const vertexAt = isPoint ? 4 : 44 + starts.length * 4
  const bytes = Buffer.alloc(vertexAt + vertices.length * 16 + 40)
  bytes.writeInt32LE(code, 0)
  if (!isPoint) {
    bytes.writeInt32LE(starts.length, 36)
    bytes.writeInt32LE(vertices.length, 40)
    for (const [part, start] of starts.entries()) bytes.writeInt32LE(start, 44 + part * 4)
  }
  for (const [index, [x, y]] of vertices.entries()) {
    bytes.writeDoubleLE(x, vertexAt + index * 16)
    bytes.writeDoubleLE(y, vertexAt + index * 16 + 8)
  }
  return bytes
}

/** Lies somewhere in a window, as records do. */
function windowOf(record: Buffer) {
  const bytes = Buffer.concat([Buffer.alloc(12, 1), record, Buffer.alloc(8, 1)])
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), end: 12 + record.length }
}

function both(record: Buffer, isMulti: boolean) {
  const { bytes, view, end } = windowOf(record)
  const [plain, slow] = [createPlainShape(), createFlatGeometry()]
  const [plainSummary, slowSummary] = [createGeometrySummary(), createGeometrySummary()]
  const column = { srid: 4326, hasZ: false, isMulti }
  const [plainWriter, slowWriter] = [createRowWriter(), createRowWriter()]
  const isPlain = findPlainShape(view, 12, end, plain, plainSummary)
  if (!isPlain) {
    assert.deepEqual(plainSummary, createGeometrySummary(), 'nothing is said of others')
    return false
  }
  writePlainShape(plainWriter, { bytes, view }, plain, column)
  const sound = readShape(view, 12, end, slow) ? mended(slow, slowSummary) : undefined
  assert.ok(sound)
  summarise(slowSummary, sound)
  writeGeometry(slowWriter, sound, column)
  const written = [plainWriter, slowWriter].map((writer) => writer.bytes.toString('hex', 0, writer.length))
  assert.equal(written[0], written[1])
  assert.deepEqual(plainSummary, slowSummary)
  return true
}

test('a plain shape is written as any other would be', () => {
  const random = randomOf(3)
  const vertices = (count: number): Vertex[] =>
    Array.from({ length: count }, () => [random(1000) / 7 - 60, random(1000) / 9 - 50])
  const closed = (line: Vertex[]): Vertex[] => [...line, line[0] ?? [0, 0]]
  for (let round = 0; round < 300; round++) {
    const count = 3 + random(40)
    const code = random(2) * 20
    for (const isMulti of [false, true]) {
      assert.ok(both(recordOf(1 + code, vertices(1)), isMulti))
      assert.ok(both(recordOf(3 + code, vertices(count)), isMulti))
      assert.ok(both(recordOf(5 + code, closed(vertices(count))), isMulti))
    }
  }
})

test('what is not plain is left to others', () => {
  const ring: Vertex[] = [
    [0, 0],
    [0, 1],
    [1, 1],
    [0, 0],
  ]
  assert.ok(both(recordOf(5, ring), false))
  for (const record of [
    recordOf(0, []),
    recordOf(5, ring.slice(0, 3)),
    recordOf(5, ring.slice(1)),
    recordOf(5, [...ring.slice(0, 3), [0, 0.5]]),
    recordOf(5, [...ring, ...ring], [0, 4]),
    recordOf(5, ring, [1]),
    recordOf(5, ring, []),
    recordOf(15, ring),
    recordOf(8, ring),
    recordOf(31, ring),
    recordOf(99, ring),
    recordOf(3, ring.slice(0, 1)),
    recordOf(1, [[Number.NaN, Number.NaN]]),
    recordOf(3, [
      [0, 0],
      [Number.POSITIVE_INFINITY, 1],
    ]),
    recordOf(5, [[0, 0], [0, Number.NaN], ...ring.slice(2)]),
    recordOf(5, ring).subarray(0, 60),
    recordOf(5, ring).subarray(0, 20),
    recordOf(1, [[1, 2]]).subarray(0, 12),
  ])
    assert.equal(both(record, false), false, record.toString('hex'))
})
