/**
 * COPY into the embedded database, in pieces that are a COPY each. It has one session, so outside a transaction a piece is cut so that
 * it keeps others waiting for `paceMs`, whatever its rows and their indexes take.
 */
import { copyHeader, copyTrailer } from '../copy-binary.ts'
import type { TupleBytes } from '../db.ts'
import type { Sql } from '../sql.ts'
import { encodeStatement } from '../values.ts'
import type { Outcome } from './embedded-protocol.ts'

/** Half of what a reader may be kept waiting: a request asks the platform once or twice before it queries. */
const paceMs = 25
const mostBytes = 1024 * 1024
const fewestBytes = 16 * 1024
const firstBytes = 128 * 1024
/** One slow piece, such as one behind a checkpoint, says little of the next. */
const mostChange = 2

const textPieceLength = 4 * 1024 * 1024

/** How long the next piece may be. */
type Pace = { readonly bytes: number; note(ms: number): void }

function createPace(): Pace {
  let bytes = firstBytes
  return {
    get bytes() {
      return bytes
    },
    note(ms) {
      const change = Math.min(mostChange, Math.max(1 / mostChange, paceMs / Math.max(ms, 0.1)))
      bytes = Math.min(mostBytes, Math.max(fewestBytes, Math.round(bytes * change)))
    },
  }
}

type Send = (text: string, data: Uint8Array) => Promise<Outcome>

/** Lets others through between the pieces. */
export function copyInPaced(statement: Sql, tuples: AsyncIterable<TupleBytes>, send: Send): Promise<number> {
  const pace = createPace()
  return copyInPieces(statement, tuplePieces(tuples, pace), async (text, data) => {
    const outcome = await send(text, data)
    pace.note(outcome.copyMs ?? 0)
    return outcome
  })
}

/** While one piece is being copied the next is collected. */
export async function copyInPieces(statement: Sql, pieces: AsyncIterable<Uint8Array>, send: Send): Promise<number> {
  const { text, values } = encodeStatement(statement)
  if (values.length > 0) throw new Error('COPY takes no values')
  let count = 0
  let copying: Promise<Outcome> | undefined
  for await (const piece of pieces) {
    count += rowCount(await copying)
    copying = send(text, piece)
    // It is awaited in the next round, which may come after its failure.
    copying.catch(() => undefined)
  }
  return count + rowCount(await copying)
}

const rowCount = (outcome: Outcome | undefined): number => Number(outcome?.command.replace('COPY ', '') ?? 0)

/** At least one piece, so that a statement that cannot work fails even when there is nothing to copy. */
export async function* tuplePieces(
  tuples: AsyncIterable<TupleBytes>,
  pace: Pick<Pace, 'bytes'> = { bytes: mostBytes },
): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const { bytes, isEnd } of tuples) {
    parts.push(new Uint8Array(bytes))
    length += bytes.length
    if (!isEnd || length < pace.bytes) continue
    yield* cut(Buffer.concat(parts, length), pace)
    parts = []
    length = 0
  }
  yield* cut(Buffer.concat(parts, length), pace)
}

/** Whole tuples, in pieces that end with the tuple in which their length is reached. */
function* cut(tuples: Buffer, pace: Pick<Pace, 'bytes'>): Generator<Uint8Array> {
  let start = 0
  do {
    const end = tupleEnd(tuples, start, start + pace.bytes)
    yield pieceOf(tuples.subarray(start, end))
    start = end
  } while (start < tuples.length)
}

const countBytes = 2
const lengthBytes = 4

function tupleEnd(tuples: Buffer, start: number, least: number): number {
  if (least >= tuples.length) return tuples.length
  let at = start
  while (at < least) {
    let fields = tuples.readInt16BE(at)
    at += countBytes
    for (; fields > 0; fields--) at += lengthBytes + Math.max(0, tuples.readInt32BE(at))
  }
  return at
}

/** In memory of its own, since it is given away to the thread. */
function pieceOf(tuples: Uint8Array): Uint8Array {
  const piece = new Uint8Array(copyHeader.length + tuples.length + copyTrailer.length)
  piece.set(copyHeader)
  piece.set(tuples, copyHeader.length)
  piece.set(copyTrailer, copyHeader.length + tuples.length)
  return piece
}

/** At least one piece, for the same reason. */
export async function* textPieces(chunks: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let piece = ''
  for await (const chunk of chunks) {
    piece += chunk
    if (piece.length < textPieceLength) continue
    yield encoder.encode(piece)
    piece = ''
  }
  yield encoder.encode(piece)
}
