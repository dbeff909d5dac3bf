import {
  beginRow,
  type RowWriter,
  writeBoolean,
  writeFloat8,
  writeInt4,
  writeInt8,
  writeNull,
  writePart,
} from './copy-binary.ts'
import { type Cursor, peek } from './geojson-cursor.ts'
import { form, type RowForm } from './geojson-encode.ts'
import type { Feature } from './geojson-feature.ts'
import { coordinatesPlace, type FixedText, fixedText, idPlace, type Pattern, stepOver } from './geojson-pattern.ts'
import type { Findings } from './geojson-scan.ts'
import { isInDegrees } from './impossible-rows.ts'
import { readPlainNumber } from './plain-number.ts'
import { daysIn } from './temporal.ts'
import { kind } from './type-inference.ts'
import { beginGeometry, widenExtent, writeHeader, writePosition } from './wkb.ts'

/** Takes features from where the cursor stands, each behind a comma or none, and answers how many. */
export type TakeFeatures = (cursor: Cursor, hasComma: boolean) => number

type Quick = {
  feature: Feature
  findings: Findings
  writer: RowWriter
  row: RowForm
  /** Points outside degrees are left to others. */
  isBounded: boolean
  present: Uint8Array
}

/**
 * Writes points straight from the bytes of the file, as long as they are written like the one before and tell nothing new of
 * the table. It does what is done with features, only without making them.
 */
export function quickPoints(options: Omit<Quick, 'present'>): TakeFeatures {
  const quick = { ...options, present: new Uint8Array(options.row.forms.length) }
  const { feature, findings, writer } = quick
  let checked: Pattern | undefined
  let isUsable = false
  return (cursor, hasComma) => {
    const [pattern] = feature.patterns.seen
    if (pattern === undefined) return 0
    if (pattern !== checked) isUsable = isQuick(pattern, quick)
    checked = pattern
    if (!isUsable) return 0
    const before = findings.featureCount
    for (;;) {
      const start = cursor.at
      const rowStart = writer.length
      if (!isBegun(cursor, hasComma) || !takePoint(cursor, quick, pattern)) {
        cursor.at = start
        writer.length = rowStart
        return findings.featureCount - before
      }
      count(quick)
    }
  }
}

/** The key, then the fields in the order of the file, then the point; each of a form that is quickly read. */
function isQuick({ places, missing, fieldCount, geometryType }: Pattern, { feature, findings, row }: Quick): boolean {
  const { forms, places: written } = row
  const last = forms.length - 1
  const fields = places.filter((place) => place !== coordinatesPlace)
  return (
    geometryType === 'Point' &&
    findings.geometryTypes.has('Point') &&
    fieldCount === feature.fields.names.length &&
    missing.length === 1 &&
    missing[0] === idPlace &&
    forms[0] === form.fid &&
    forms[last] === form.geometry &&
    last - 1 === fields.length &&
    fields.every((place, index) => written[index + 1] === place && quickForms.has(forms[index + 1] as number))
  )
}

const word = (text: string): FixedText => fixedText(Buffer.from(text))
const words = { null: word('null'), true: word('true'), false: word('false') }

const quickForms: ReadonlySet<number> = new Set([form.text, form.integer, form.number, form.boolean, form.date])

function isBegun(cursor: Cursor, hasComma: boolean): boolean {
  if (hasComma && peek(cursor) !== 44) return false
  if (hasComma) cursor.at++
  return peek(cursor) === 123
}

function takePoint(cursor: Cursor, quick: Quick, { texts, places }: Pattern): boolean {
  const { feature, findings, writer, row } = quick
  const { geometry } = feature
  let column = 0
  beginRow(writer, row.forms.length)
  writeInt8(writer, findings.featureCount + 1)
  for (let index = 0; index < places.length; index++) {
    if (!stepOver(cursor, texts[index] as FixedText)) return false
    if (places[index] === coordinatesPlace) {
      if (!readPoint(cursor, feature) || (quick.isBounded && !isInDegrees(geometry.box))) return false
    } else if (!takeValue(cursor, quick, ++column)) return false
  }
  if (!stepOver(cursor, texts[places.length] as FixedText)) return false
  writePart(writer, geometry, 0, geometry.length)
  return true
}

/** Two plain numbers. What follows a number is looked at, so none is cut off by the end of the window. */
function readPoint(cursor: Cursor, { geometry }: Feature): boolean {
  const { bytes } = cursor
  if (bytes[cursor.at] !== 91) return false
  cursor.at++
  peek(cursor)
  const x = readPlainNumber(bytes, cursor)
  if (peek(cursor) !== 44) return false
  cursor.at++
  peek(cursor)
  const y = readPlainNumber(bytes, cursor)
  if (peek(cursor) !== 93 || Number.isNaN(x) || Number.isNaN(y)) return false
  cursor.at++
  beginGeometry(geometry)
  writeHeader(geometry, 'Point')
  writePosition(geometry, x, y, 0)
  return true
}

/** Writes the value here, if it is of a kind that was seen in the column before. */
function takeValue(cursor: Cursor, quick: Quick, column: number): boolean {
  const { writer, row, present, findings } = quick
  const known = findings.kinds[row.places[column] as number] as number
  present[column] = 1
  if (cursor.bytes[cursor.at] === 110) {
    present[column] = 0
    writeNull(writer)
    return stepOver(cursor, words.null)
  }
  switch (row.forms[column]) {
    case form.text:
      return (known & kind.text) !== 0 && takeText(cursor, writer)
    case form.date:
      return (known & kind.date) !== 0 && takeDate(cursor, writer)
    case form.boolean:
      return takeBoolean(cursor, writer)
    case form.integer:
      return takeInteger(cursor, writer)
    default:
      return takeNumber(cursor, writer, known)
  }
}

function takeText(cursor: Cursor, writer: RowWriter): boolean {
  const { bytes } = cursor
  if (bytes[cursor.at] !== 34) return false
  const start = cursor.at + 1
  let at = start
  let byte = bytes[at] as number
  while (byte !== 34 && byte !== 92 && byte >= 32) byte = bytes[++at] as number
  if (byte !== 34) return false
  writePart(writer, cursor, start, at)
  cursor.at = at + 1
  return true
}

const dateLength = 10

function takeDate(cursor: Cursor, writer: RowWriter): boolean {
  const { bytes, at } = cursor
  const end = at + 1 + dateLength
  if (end >= cursor.end || bytes[at] !== 34 || bytes[end] !== 34) return false
  const days = daysIn(bytes, at + 1, end)
  if (days === undefined) return false
  writeInt4(writer, days)
  cursor.at = end + 1
  return true
}

function takeBoolean(cursor: Cursor, writer: RowWriter): boolean {
  const isTrue = cursor.bytes[cursor.at] === 116
  writeBoolean(writer, isTrue)
  return stepOver(cursor, isTrue ? words.true : words.false)
}

function takeInteger(cursor: Cursor, writer: RowWriter): boolean {
  const value = readPlainNumber(cursor.bytes, cursor)
  if (Number.isNaN(value) || cursor.hasPoint) return false
  writeInt4(writer, value)
  return true
}

function takeNumber(cursor: Cursor, writer: RowWriter, known: number): boolean {
  const value = readPlainNumber(cursor.bytes, cursor)
  if (Number.isNaN(value) || (known & (cursor.hasPoint ? kind.float : kind.int4)) === 0) return false
  writeFloat8(writer, value)
  return true
}

function count({ feature, findings, row, present }: Quick): void {
  findings.featureCount++
  for (let column = 1; column < present.length - 1; column++) {
    const place = row.places[column] as number
    findings.valueCounts[place] = (findings.valueCounts[place] as number) + (present[column] as number)
  }
  findings.extent = widenExtent(findings.extent, feature.geometry.box)
}
