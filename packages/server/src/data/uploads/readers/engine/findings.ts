import { isDeepStrictEqual } from 'node:util'
import { type GeometryWriter, widenExtent } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import type { Extent, GeometryType } from '../../../../query/geometry/geometry-type.ts'
import { maxFields, type ScannedLayer, type Warning } from '../reader.ts'
import { createSkippedRows, type RowFault, type SkippedRows, skippedWarnings, skipRow } from './impossible-rows.ts'
import { localWarnings } from './local-columns.ts'
import type { LayerFacts, Reading, RecordField, RecordShape } from './reading.ts'

/** What is known of the records read so far. */
export type Findings = {
  /** The kinds of values at each place. */
  readonly kinds: Int32Array
  /** How many places there were. */
  placeCount: number
  /** Of the records that are loaded. */
  featureCount: number
  readonly skipped: SkippedRows
  /** Those that are loaded without their geometry. */
  readonly invalid: SkippedRows
  missingCount: number
  /** Those whose measures are left out. */
  measuredCount: number
  readonly types: Set<GeometryType>
  hasZ: boolean
  extent: Extent | undefined
  /** Something was seen that may change the table; whoever cares takes it back. */
  isNews: boolean
}

/** What was learned of the table before, in the same file, need not be learned again. */
export function createFindings(before?: Findings): Findings {
  return {
    kinds: before ? before.kinds.slice() : new Int32Array(maxFields + 1),
    placeCount: before?.placeCount ?? 0,
    featureCount: 0,
    skipped: createSkippedRows(),
    invalid: createSkippedRows(),
    missingCount: 0,
    measuredCount: 0,
    types: new Set(before?.types),
    hasZ: before?.hasZ ?? false,
    extent: undefined,
    isNews: false,
  }
}

/** Takes a record into account that is not loaded. What has no line is known by its number. */
export function noteSkipped({ skipped, featureCount }: Findings, fault: RowFault): void {
  skipRow(skipped, fault.line === undefined ? { feature: featureCount + skipped.count + 1, ...fault } : fault)
}

/** Takes the record at hand into account. */
export function noteRecord(
  findings: Findings,
  reading: Reading,
  shape: Exclude<RecordShape, RowFault>,
  geometry: GeometryWriter,
): void {
  findings.featureCount++
  const { kinds } = findings
  const { places } = reading
  if (places.length > findings.placeCount) {
    findings.placeCount = places.length
    findings.isNews = true
  }
  for (let index = 0; index < places.length; index++) {
    const place = places[index] as number
    const before = kinds[place] as number
    const seen = before | reading.kindsOf(place, before)
    if (seen === before) continue
    kinds[place] = seen
    findings.isNews = true
  }
  if (shape === 'missing') findings.missingCount++
  else if (shape === 'invalid') {
    skipRow(findings.invalid, { feature: findings.featureCount + findings.skipped.count, problem: 'no geometry' })
  } else noteGeometry(findings, shape, geometry)
}

function noteGeometry(findings: Findings, type: GeometryType, { sawZ, sawM, box }: GeometryWriter): void {
  if (sawM) findings.measuredCount++
  findings.extent = widenExtent(findings.extent, box)
  if (findings.types.has(type) && (findings.hasZ || !sawZ)) return
  findings.types.add(type)
  findings.hasZ ||= sawZ
  findings.isNews = true
}

/** What a layer was found to be. */
export type GuessedLayer = {
  readonly findings: Findings
  readonly facts: LayerFacts
  readonly fields: readonly RecordField[]
  readonly layer: ScannedLayer
}

/** Geometries that are not loaded as the file has them. */
type Changed = { readonly closedRings: number; readonly curvedCount: number }

export function guessLayer(
  name: string,
  reading: Reading,
  findings: Findings,
  { isPart, ...changed }: Changed & { readonly isPart: boolean },
): GuessedLayer {
  const facts = reading.facts()
  const { srid, wkt, sridHint, geometryColumns, warnings, note, isFlat = false, isSpatial = false } = facts
  const isEmpty = findings.featureCount + findings.skipped.count === 0 && !isPart
  const fields = reading.fields(findings.kinds)
  const layer: ScannedLayer = {
    name,
    fields: fields.map(({ name: field, type, digits }) => ({ name: field, type, ...(digits && { digits }) })),
    featureCount: findings.featureCount,
    geometryTypes: findings.types,
    hasZ: findings.hasZ && !isFlat,
    ...(srid === undefined ? {} : { srid }),
    ...(wkt === undefined ? {} : { wkt }),
    ...(sridHint === undefined ? {} : { sridHint }),
    ...(geometryColumns && { geometryColumns }),
    ...(note?.geometry && { notedGeometry: note.geometry.type }),
    ...(isPart && { isPart }),
    ...((isEmpty ? isSpatial : note?.geometry) && { isSpatial: true }),
    ...(findings.extent ? { extent: findings.extent } : {}),
    warnings: [
      ...warnings,
      ...(isEmpty ? [noFeatures] : []),
      ...localWarnings(fields),
      ...skippedWarnings(findings.skipped),
      ...warningsOf(findings, changed),
    ],
  }
  return { findings, facts, fields, layer }
}

const noFeatures: Warning = {
  code: 'empty_layer',
  message: 'There are no features in the file, so the table is empty.',
}

/** What to tell of geometries that are not there, or not as the file has them. */
function warningsOf(
  { invalid, missingCount, measuredCount, types }: Findings,
  { closedRings, curvedCount }: Changed,
): Warning[] {
  const warnings: Warning[] = []
  if (invalid.count > 0) {
    const features = invalid.first.map(({ feature }) => feature).join(', ')
    const places = `${features}${invalid.count > invalid.first.length ? ', …' : ''}`
    const message = `Some geometries are not valid (too few points, wrong nesting, values that are not numbers). Their features (${places}) were loaded without geometry.`
    warnings.push({ code: 'invalid_geometry', message, count: invalid.count })
  }
  if (missingCount > 0 && types.size > 0)
    warnings.push({ code: 'missing_geometry', message: 'Some features have no geometry.', count: missingCount })
  if (closedRings > 0)
    warnings.push({ code: 'unclosed_ring', message: 'Rings that were not closed were closed.', count: closedRings })
  if (curvedCount > 0) {
    const message = 'Arcs were replaced by straight lines, one for every four degrees or less.'
    warnings.push({ code: 'linearised_curves', message, count: curvedCount })
  }
  if (measuredCount > 0) {
    const message = 'Measures (M) of positions are not kept: a table holds longitude, latitude and height.'
    warnings.push({ code: 'measures_left_out', message, count: measuredCount })
  }
  return warnings
}

/** Whether rows for what was known before are right for what is known now: fields that are not found yet will be. */
export function isStill(before: GuessedLayer, now: Findings, reading: Reading): boolean {
  if (now.types.size !== before.findings.types.size || now.hasZ !== before.findings.hasZ) return false
  const fields = reading.fields(now.kinds)
  return (
    fields.length <= before.fields.length && fields.every((field) => isSameField(fieldAt(before, field.place), field))
  )
}

const fieldAt = ({ fields }: GuessedLayer, wanted: number) => fields.find(({ place }) => place === wanted)

const isSameField = (before: RecordField | undefined, { type, local }: RecordField): boolean =>
  before?.type === type && isDeepStrictEqual(before.local, local)
