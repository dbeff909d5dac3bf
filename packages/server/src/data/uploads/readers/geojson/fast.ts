import * as codes from '../../../../query/geometry/encoding/character-codes.ts'
import { beginGeometry, type GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { fieldIndex } from '../engine/type-inference.ts'
import { noGeometry, readCoordinates } from './coordinates.ts'
import { peek, readKey, skipValue, type TextCursor } from './cursor.ts'
import { type FeatureBuffer, readValue } from './feature.ts'
import { fixedText, stepOver } from './fixed-text.ts'
import { addGap, afterField, afterGap, type Gap, isWhole, type Junction } from './layout.ts'

// As constants of this module: V8 does not fold imported ones.
const { comma } = codes
const { end, skippedValue } = afterGap

/** Reads a feature that is written as others before it; false when it is not, and has to be read again from its start. */
export function readAlike(cursor: TextCursor, feature: FeatureBuffer): boolean {
  let { start: junction } = feature.layout
  let members = 0
  let shape: Gap['shape']
  for (;;) {
    const gap = gapHere(cursor, junction.gaps) ?? newProperty(cursor, feature, junction)
    if (gap === undefined || (gap.members !== 0 && isContradiction(gap, members, shape))) return false
    members |= gap.members
    shape ??= gap.shape
    if (gap.place >= 0) readValue(cursor, feature, gap.place)
    else if (gap.place === end) break
    else if (gap.place === skippedValue) skipValue(cursor)
    else if (!readCoordinatesAlike(cursor, feature.geometry, shape)) return false
    junction = gap.next
  }
  feature.shape = shape ?? 'missing'
  return isWhole(members)
}

/** A member is there twice, or the type that was assumed for the coordinates is not the one that follows them. */
function isContradiction(gap: Gap, members: number, shape: Gap['shape']): boolean {
  return (members & gap.members) !== 0 || (shape !== undefined && gap.shape !== undefined && gap.shape !== shape)
}

function gapHere(cursor: TextCursor, gaps: Gap[]): Gap | undefined {
  for (let index = 0; index < gaps.length; index++) {
    const gap = gaps[index] as Gap
    if (!stepOver(cursor, gap.text)) continue
    if (index > 0) {
      gaps[index] = gaps[index - 1] as Gap
      gaps[index - 1] = gap
    }
    return gap
  }
  return undefined
}

/** Reads the name of a property that did not follow this one before. */
function newProperty(cursor: TextCursor, { layout, fields }: FeatureBuffer, junction: Junction): Gap | undefined {
  const start = cursor.at
  if (!junction.isProperty || peek(cursor) !== comma) return undefined
  cursor.at++
  const place = fieldIndex(fields, readKey(cursor))
  const text = fixedText(cursor.bytes.subarray(start, cursor.at))
  return addGap(layout, junction, { text, members: 0, place, shape: undefined, next: afterField(layout, place) })
}

function readCoordinatesAlike(cursor: TextCursor, writer: GeometryWriter, type: Gap['shape']): boolean {
  if (type === undefined || type === 'missing') return false
  beginGeometry(writer)
  try {
    readCoordinates(cursor, writer, type)
    return true
  } catch (error) {
    if (error === noGeometry) return false
    throw error
  }
}
