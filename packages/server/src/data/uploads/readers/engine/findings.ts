import { type GeometryWriter, widenExtent } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import type { Extent, GeometryType } from '../../../../query/geometry/geometry-type.ts'
import { maxFields, type ScannedLayer, type Warning } from '../reader.ts'
import { createSkippedRows, type RowFault, type SkippedRows, skippedWarnings, skipRow } from './impossible-rows.ts'
import type { Facts, Field, Reading, Shape } from './reading.ts'

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
  found: Findings,
  reading: Reading,
  shape: Exclude<Shape, RowFault>,
  geometry: GeometryWriter,
): void {
  found.featureCount++
  const { kinds } = found
  const { places } = reading
  if (places.length > found.placeCount) {
    found.placeCount = places.length
    found.isNews = true
  }
  for (let index = 0; index < places.length; index++) {
    const place = places[index] as number
    const known = kinds[place] as number
    const seen = known | reading.kindsOf(place, known)
    if (seen === known) continue
    kinds[place] = seen
    found.isNews = true
  }
  if (shape === 'missing') found.missingCount++
  else if (shape === 'invalid') {
    skipRow(found.invalid, { feature: found.featureCount + found.skipped.count, problem: 'no geometry' })
  } else noteGeometry(found, shape, geometry)
}

function noteGeometry(found: Findings, type: GeometryType, { sawZ, box }: GeometryWriter): void {
  found.extent = widenExtent(found.extent, box)
  if (found.types.has(type) && (found.hasZ || !sawZ)) return
  found.types.add(type)
  found.hasZ ||= sawZ
  found.isNews = true
}

/** What a layer was found to be. */
export type Known = {
  readonly found: Findings
  readonly facts: Facts
  readonly fields: readonly Field[]
  readonly layer: ScannedLayer
}

export function knownBy(name: string, reading: Reading, found: Findings, closedRings: number): Known {
  const facts = reading.facts()
  const { srid, wkt, warnings, isFlat = false } = facts
  const fields = reading.fields(found.kinds)
  const layer: ScannedLayer = {
    name,
    fields: fields.map(({ name: field, type }) => ({ name: field, type })),
    featureCount: found.featureCount,
    geometryTypes: found.types,
    hasZ: found.hasZ && !isFlat,
    ...(srid === undefined ? {} : { srid }),
    ...(wkt === undefined ? {} : { wkt }),
    ...(found.extent ? { extent: found.extent } : {}),
    warnings: [...warnings, ...skippedWarnings(found.skipped), ...warningsOf(found, closedRings)],
  }
  return { found, facts, fields, layer }
}

/** What to tell of geometries that are not there, or not as the file has them. */
function warningsOf({ invalid, missingCount, types }: Findings, closedRings: number): Warning[] {
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
  return warnings
}

/** Whether rows for what was known before are right for what is known now: fields that are not found yet will be. */
export function isStill(before: Known, now: Findings, reading: Reading): boolean {
  if (now.types.size !== before.found.types.size || now.hasZ !== before.found.hasZ) return false
  const fields = reading.fields(now.kinds)
  return fields.length <= before.fields.length && fields.every(({ place, type }) => typeAt(before, place) === type)
}

const typeAt = ({ fields }: Known, wanted: number) => fields.find(({ place }) => place === wanted)?.type
