import { ewkbFlag, isSamePosition } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { geometryCode } from '../../../../query/geometry/geometry-type.ts'
import type { EncodedColumn } from '../reader.ts'

/** Looks at rows on their way to the database, for areas that may not be valid. */
export type ValidityCheck = {
  /** Rows of COPY BINARY, whole ones. */
  look(rows: Buffer): void
  /** The keys of rows whose areas have to be looked at more closely; undefined when they are too many to be named. */
  doubtful(): readonly number[] | undefined
}

const maxDoubtful = 50_000

/** Looking closely takes PostGIS longer than loading; most areas need it not. */
export function createValidityCheck(columns: readonly EncodedColumn[]): ValidityCheck {
  const [keyAt, geometryAt] = [indexOf(columns, 'fid'), indexOf(columns, 'geometry')]
  const doubtful: number[] = []

  /** Answers where the next row begins. */
  function lookAtRow(view: DataView, start: number): number {
    let key = 0
    let at = start + 2
    for (let field = 0; field < columns.length; field++) {
      const size = view.getInt32(at)
      at += 4
      if (size < 0) continue
      if (field === keyAt) key = view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4)
      else if (field === geometryAt && !isSurelyValid(view, at)) doubtful.push(key)
      at += size
    }
    return at
  }

  return {
    look({ buffer, byteOffset, length }) {
      const view = new DataView(buffer, byteOffset, length)
      for (let at = 0; at < length && doubtful.length <= maxDoubtful; ) at = lookAtRow(view, at)
    },
    doubtful: () => (doubtful.length > maxDoubtful ? undefined : doubtful),
  }
}

const indexOf = (columns: readonly EncodedColumn[], kind: EncodedColumn['kind']): number =>
  columns.findIndex((column) => column.kind === kind)

/** Whether the EWKB here is of points, or an area of one ring around whose middle it runs just once. */
function isSurelyValid(view: DataView, start: number): boolean {
  if (view.getUint8(start) !== 1) return false
  const type = view.getUint32(start + 1, true)
  const at = start + (type & ewkbFlag.srid ? 9 : 5)
  const code = type & 0xff
  if (code === geometryCode.Point || code === geometryCode.MultiPoint) return true
  if (code !== geometryCode.Polygon && code !== geometryCode.MultiPolygon) return false
  const count = view.getUint32(at, true)
  if (count !== 1) return count === 0
  if (code === geometryCode.MultiPolygon) return isSurelyValid(view, at + 4)
  return runsAroundOnce(view, at + 4, type & ewkbFlag.z ? 24 : 16)
}

/** What rounding can do to the sum of two products, and a little more. */
const rounding = 1e-15
const tiniest = 1e-280

/** The middle of so many corners is near enough to that of all. */
const enoughCorners = 16

/**
 * Seen from the middle of its corners, the ring turns the same way from each corner to the next, and once around in all: so it
 * cannot cross or touch itself. Corners that repeat the one before say nothing.
 */
function runsAroundOnce(view: DataView, ring: number, stride: number): boolean {
  const count = view.getUint32(ring, true) - 1
  if (count < 3) return false
  const start = ring + 4
  const end = start + count * stride
  const step = Math.ceil(count / enoughCorners)
  let middleX = 0
  let middleY = 0
  for (let at = start; at < end; at += step * stride) {
    middleX += view.getFloat64(at, true)
    middleY += view.getFloat64(at + 8, true)
  }
  const taken = Math.ceil(count / step)
  middleX /= taken
  middleY /= taken
  let fromX = view.getFloat64(start, true) - middleX
  let fromY = view.getFloat64(start + 8, true) - middleY
  let left = 0
  let right = 0
  let rounds = 0
  for (let at = start + stride; at <= end; at += stride) {
    const x = view.getFloat64(at, true) - middleX
    const y = view.getFloat64(at + 8, true) - middleY
    const one = fromX * y
    const other = fromY * x
    const turn = one - other
    const certain = rounding * (Math.abs(one) + Math.abs(other)) + tiniest
    if (turn > certain) left++
    else if (-turn > certain) right++
    else if (!isSamePosition(view, at - stride, at)) return false
    if (fromY < 0 && y >= 0) rounds++
    fromX = x
    fromY = y
  }
  return rounds === 1 && (left === 0 || right === 0)
}
