import { featureIdName } from './feature-ids.ts'
import { numberIn, textIn, token } from './geojson-cursor.ts'
import type { Feature } from './geojson-feature.ts'
import { idPlace } from './geojson-pattern.ts'
import { geometryWarnings } from './geometry-warnings.ts'
import {
  createSkippedRows,
  isInDegrees,
  outsideDegrees,
  type SkippedRows,
  skippedWarnings,
  skipRow,
} from './impossible-rows.ts'
import { type Extent, type GeometryType, maxFields, type ScannedField, type Warning } from './reader.ts'
import { daysIn } from './temporal.ts'
import { fieldTypeOf, kind, kindsOfInteger, kindsOfString } from './type-inference.ts'
import { widenExtent } from './wkb.ts'

/** What is known of the features seen so far. */
export type Findings = {
  /** The kinds of values per field; the last place is that of the ids. */
  kinds: Uint16Array
  valueCounts: Float64Array
  /** Those that are loaded. */
  featureCount: number
  skipped: SkippedRows
  /** Those that are loaded without their geometry. */
  invalid: SkippedRows
  missingCount: number
  geometryTypes: Set<GeometryType>
  hasZ: boolean
  extent: Extent | undefined
  /** How many fields there were when it was last looked. */
  fieldCount: number
  /** Something was seen that may change the table; whoever cares takes it back. */
  isNews: boolean
}

/** What was learned of the table before, in the same file, need not be learned again. */
export function createFindings(before?: Findings): Findings {
  return {
    kinds: before ? before.kinds.slice() : new Uint16Array(maxFields + 1),
    valueCounts: new Float64Array(maxFields + 1),
    featureCount: 0,
    skipped: createSkippedRows(),
    invalid: createSkippedRows(),
    missingCount: 0,
    geometryTypes: new Set(before?.geometryTypes),
    hasZ: before?.hasZ ?? false,
    extent: undefined,
    fieldCount: before?.fieldCount ?? 0,
    isNews: false,
  }
}

/** Whether the coordinates of a feature cannot be degrees. */
export function isOutside({ geometryType, geometry }: Feature): boolean {
  return geometryType !== undefined && !isInDegrees(geometry.box)
}

/** Takes a feature into account that is not loaded because it is outside. */
export function skipOutside(findings: Findings, { geometry }: Feature, ordinal: number): void {
  const outside = outsideDegrees(geometry.box)
  if (outside) skipRow(findings.skipped, { feature: ordinal, value: String(outside.value), problem: outside.problem })
}

/** Takes the feature in the window into account, the so-many-th of the file. */
export function observe(findings: Findings, feature: Feature, bytes: Buffer, ordinal: number): void {
  findings.featureCount++
  const count = feature.fields.names.length
  if (count !== findings.fieldCount) {
    findings.fieldCount = count
    findings.isNews = true
  }
  for (let field = 0; field < count; field++) observeValue(findings, feature, bytes, field)
  observeValue(findings, feature, bytes, idPlace)
  if (feature.geometryType === undefined) {
    if (feature.geometryState === 'invalid') skipRow(findings.invalid, { feature: ordinal, problem: 'no geometry' })
    else findings.missingCount++
    return
  }
  observeShape(findings, feature.geometryType, feature.geometry.sawZ)
  findings.extent = widenExtent(findings.extent, feature.geometry.box)
}

function observeShape(findings: Findings, type: GeometryType, sawZ: boolean): void {
  if (findings.geometryTypes.has(type) && (findings.hasZ || !sawZ)) return
  findings.geometryTypes.add(type)
  findings.hasZ ||= sawZ
  findings.isNews = true
}

function observeValue(findings: Findings, feature: Feature, bytes: Buffer, place: number): void {
  const found = feature.kinds[place] as number
  if (found === token.null) return
  findings.valueCounts[place] = (findings.valueCounts[place] as number) + 1
  const known = findings.kinds[place] as number
  const kinds = kindsOfToken(bytes, feature.starts[place] as number, feature.ends[place] as number, found, known)
  if ((known | kinds) === known) return
  findings.kinds[place] = known | kinds
  findings.isNews = true
}

/** The cheap questions first: most values tell nothing new of their field. */
function kindsOfToken(bytes: Buffer, start: number, end: number, found: number, known: number): number {
  switch (found) {
    case token.integer:
      return end - start < 10 ? kind.int4 : kindsOfInteger(bytes.toString('latin1', start, end))
    case token.float:
      return end - start < 300 ? kind.float : kindsOfFloat(bytes, start, end)
    case token.exponent:
      return kindsOfFloat(bytes, start, end)
    case token.text:
      return known & kind.text ? kind.text : kindsOfPlainText(bytes, start + 1, end - 1)
    case token.escaped:
      return known & kind.text ? kind.text : kindsOfString(textIn(bytes, start, end, found))
    case token.nested:
      return kind.json
    default:
      return kind.boolean
  }
}

function kindsOfPlainText(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] as number
  if (first < 48 || first > 57 || end - start > 40) return kind.text
  return daysIn(bytes, start, end) === undefined ? kindsOfString(bytes.toString('latin1', start, end)) : kind.date
}

function kindsOfFloat(bytes: Buffer, start: number, end: number): number {
  return Number.isFinite(numberIn(bytes, start, end)) ? kind.float : kind.text
}

/** The fields found, and the ids of the features as one more. */
export function foundFields(
  findings: Findings,
  names: readonly string[],
): { fields: ScannedField[]; places: number[] } {
  const places = names.map((_, index) => index)
  if (findings.kinds[idPlace] !== kind.none) places.push(idPlace)
  const fields = places.map((place) => ({
    name: place === idPlace ? featureIdName(names) : (names[place] ?? ''),
    type: fieldTypeOf(findings.kinds[place] ?? 0),
    nullable: findings.valueCounts[place] !== findings.featureCount,
  }))
  return { fields, places }
}

export function foundWarnings({ geometryTypes, invalid, skipped, missingCount }: Findings): Warning[] {
  const hasGeometry = geometryTypes.size > 0
  return [
    ...skippedWarnings(skipped),
    ...geometryWarnings({ invalidCount: invalid.count, first: invalid.first, missingCount, hasGeometry }),
  ]
}
