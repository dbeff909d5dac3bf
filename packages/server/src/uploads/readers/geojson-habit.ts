import type { Cursor } from './geojson-cursor.ts'
import type { GeometryType } from './reader.ts'

/** The bytes that features of a file begin with, and those between their properties and coordinates: mostly the same ones. */
export type Habit = { opening: Buffer; bridge: Buffer; bridgeType: GeometryType; lessonsLeft: number }

const longest = 120

/** Files without habits are not asked for them again and again. */
export function createHabit(): Habit {
  return { opening: Buffer.alloc(0), bridge: Buffer.alloc(0), bridgeType: 'Point', lessonsLeft: 200 }
}

const opening = /^\{[ \t\r\n]*"type"[ \t\r\n]*:[ \t\r\n]*"Feature"[ \t\r\n]*,[ \t\r\n]*"properties"[ \t\r\n]*:/
const bridge =
  /^[ \t\r\n]*,[ \t\r\n]*"geometry"[ \t\r\n]*:[ \t\r\n]*\{[ \t\r\n]*"type"[ \t\r\n]*:[ \t\r\n]*"((?:Multi)?(?:Point|LineString|Polygon))"[ \t\r\n]*,[ \t\r\n]*"coordinates"[ \t\r\n]*:/

/** The feature here begins otherwise than the one before. */
export function learnOpening(habit: Habit, cursor: Cursor): void {
  const [found] = lesson(habit, cursor, opening) ?? []
  if (found) habit.opening = Buffer.from(found, 'latin1')
}

/** Behind the properties here is something else than in the feature before. */
export function learnBridge(habit: Habit, cursor: Cursor): void {
  const [found, type] = lesson(habit, cursor, bridge) ?? []
  if (!found) return
  habit.bridge = Buffer.from(found, 'latin1')
  habit.bridgeType = type as GeometryType
}

function lesson(habit: Habit, { bytes, at, end }: Cursor, pattern: RegExp): RegExpExecArray | null {
  if (habit.lessonsLeft === 0) return null
  habit.lessonsLeft--
  return pattern.exec(bytes.toString('latin1', at, Math.min(at + longest, end)))
}

/** Steps over exactly these bytes, if they are here. None of them is the 0 that ends the window. */
export function stepOver(cursor: Cursor, expected: Buffer): boolean {
  const { bytes, at } = cursor
  let index = expected.length
  if (index === 0) return false
  // From behind: what is alike begins alike.
  while (index > 0 && bytes[at + index - 1] === expected[index - 1]) index--
  if (index > 0) return false
  cursor.at = at + expected.length
  return true
}
