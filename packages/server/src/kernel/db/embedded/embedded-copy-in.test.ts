import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyHeader, copyTrailer } from '../copy-binary.ts'
import type { TupleBytes } from '../db.ts'
import { raw } from '../sql.ts'
import { copyInPaced } from './embedded-copy-in.ts'

// One database is enough: none is needed.

const rowBytes = 100

/** A tuple of a null and a value. */
function tuple(): Buffer {
  const bytes = Buffer.alloc(rowBytes)
  bytes.writeInt16BE(2, 0)
  bytes.writeInt32BE(-1, 2)
  bytes.writeInt32BE(rowBytes - 10, 6)
  return bytes
}

async function* chunksOf(rows: number, inChunk: number): AsyncGenerator<TupleBytes> {
  for (let at = 0; at < rows; at += inChunk) {
    const bytes = Buffer.concat(Array.from({ length: Math.min(inChunk, rows - at) }, tuple))
    // Cut in the middle of a tuple, as a pipe does.
    yield { bytes: bytes.subarray(0, 33), isEnd: false }
    yield { bytes: bytes.subarray(33), isEnd: true }
  }
}

/** Copies rows of which each takes so long, and returns how many each piece had. */
async function pieceRows(rows: number, rowMs: number): Promise<number[]> {
  const pieces: number[] = []
  const count = await copyInPaced(raw('COPY t FROM STDIN'), chunksOf(rows, 2_000), async (_, data) => {
    const length = (data.length - copyHeader.length - copyTrailer.length) / rowBytes
    pieces.push(length)
    return { columns: [], rows: [], command: `COPY ${length}`, strayTransaction: false, copyMs: length * rowMs }
  })
  assert.equal(count, rows)
  return pieces
}

test('a piece of COPY is as long as keeps others waiting for about 25 ms', async () => {
  const pieces = await pieceRows(40_000, 0.05)
  assert.ok(pieces.every(Number.isInteger), 'pieces end with whole tuples')
  const settled = pieces.slice(5, -1)
  assert.ok(settled.length > 20)
  assert.deepEqual(
    settled.filter((rows) => rows * 0.05 > 50),
    [],
  )
})

test('quick rows are copied in pieces of a megabyte, and none is copied in one piece', async () => {
  const pieces = await pieceRows(60_000, 0.0001)
  assert.ok(Math.max(...pieces) > 10_000, String(pieces))
  assert.deepEqual(await pieceRows(0, 1), [0])
})
