import { geometryWarnings } from './geometry-warnings.ts'
import { createSkippedRows, isInDegrees, outsideDegrees, type RowFault, type SkippedRows } from './impossible-rows.ts'
import type { Extent, GeometryType } from './reader.ts'
import type { RecordSource, SourceRecord } from './record-reader.ts'
import { fieldTypeOf, kind } from './type-inference.ts'
import { type GeometryWriter, widenExtent } from './wkb.ts'
import { writeGeometry } from './wkb-geometry.ts'

/** What is known of the records seen so far. */
export type Findings = {
  kinds: number[]
  valueCounts: number[]
  /** Those that are loaded. */
  featureCount: number
  skipped: SkippedRows
  invalidCount: number
  missingCount: number
  types: Set<GeometryType>
  hasZ: boolean
  extent: Extent | undefined
  /** Something was seen that may change the table; whoever cares takes it back. */
  isNews: boolean
}

/** What was learned of the table before, in the same file, need not be learned again. */
export function createFindings(before?: Findings): Findings {
  return {
    kinds: [...(before?.kinds ?? [])],
    valueCounts: [],
    featureCount: 0,
    skipped: createSkippedRows(),
    invalidCount: 0,
    missingCount: 0,
    types: new Set(before?.types),
    hasZ: before?.hasZ ?? false,
    extent: undefined,
    isNews: false,
  }
}

/** The geometry of a record: in the writer, absent, not readable in a record that is loaded without it, or why it is not loaded. */
export type Shape = 'written' | 'missing' | 'invalid' | RowFault

/** Writes the geometry of a record. */
export function shapeOf(record: SourceRecord, source: RecordSource, writer: GeometryWriter, isBounded: boolean): Shape {
  const { geometry, fault, line } = record
  if (fault) return fault
  if (geometry === null) return 'missing'
  if (geometry === 'invalid' || !writeGeometry(writer, geometry)) {
    return line === undefined ? 'invalid' : faultAt(record, source.coordinateNames?.x, 'is not a geometry')
  }
  return isBounded && !isInDegrees(writer.box) ? outsideFault(record, source, writer) : 'written'
}

function outsideFault(record: SourceRecord, source: RecordSource, { box }: GeometryWriter): RowFault {
  const outside = outsideDegrees(box)
  if (!outside) throw new Error('The geometry is in degrees')
  const { axis, value, problem } = outside
  return faultAt({ written: String(value), ...record }, source.coordinateNames?.[axis], problem)
}

function faultAt(
  record: Pick<SourceRecord, 'line' | 'written'>,
  column: string | undefined,
  problem: string,
): RowFault {
  const { line, written } = record
  return {
    ...(line !== undefined && { line }),
    ...(column !== undefined && { column }),
    ...(written !== undefined && { value: written }),
    problem,
  }
}

/** Takes a record into account that is loaded. */
export function observe(
  found: Findings,
  { values, geometry }: SourceRecord,
  shape: Shape,
  source: RecordSource,
  writer: GeometryWriter,
): void {
  found.featureCount++
  for (let index = 0; index < values.length; index++) observeValue(found, values[index], index, source)
  if (shape === 'missing') found.missingCount++
  else if (shape === 'invalid') found.invalidCount++
  else if (geometry !== null && geometry !== 'invalid') {
    observeShape(found, geometry.type as GeometryType, writer.sawZ)
    found.extent = widenExtent(found.extent, writer.box)
  }
}

function observeShape(found: Findings, type: GeometryType, sawZ: boolean): void {
  if (found.types.has(type) && (found.hasZ || !sawZ)) return
  found.types.add(type)
  found.hasZ ||= sawZ
  found.isNews = true
}

function observeValue(found: Findings, value: unknown, index: number, source: RecordSource): void {
  if (value === null || value === undefined) return
  const known = found.kinds[index] ?? 0
  // Once text, always text: nothing more can be learned but objects, which come with no text in these formats.
  const kinds = known & kind.text && typeof value === 'string' ? kind.text : source.kindsOf(value, index)
  if ((known | kinds) !== known) {
    found.kinds[index] = known | kinds
    found.isNews = true
  }
  // What says nothing of its type is null in all columns but text.
  if (kinds !== 0) found.valueCounts[index] = (found.valueCounts[index] ?? 0) + 1
}

/** Whether rows for what was known before are right for what is known now. */
export function isStill(before: Findings, now: Findings): boolean {
  if (!now.isNews) return true
  now.isNews = false
  if (now.types.size !== before.types.size || now.hasZ !== before.hasZ) return false
  return now.kinds.every((kinds, index) => fieldTypeOf(kinds) === fieldTypeOf(before.kinds[index] ?? 0))
}

export const warningsOf = (found: Findings) => geometryWarnings({ ...found, hasGeometry: found.types.size > 0 })
