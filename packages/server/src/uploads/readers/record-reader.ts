import {
  beginRow,
  createRowWriter,
  type RowWriter,
  takeChunk,
  writeBytes,
  writeInt8,
  writeNull,
  writeValue,
} from './copy-binary.ts'
import { geometryWarnings } from './geometry-warnings.ts'
import {
  type EncodedColumn,
  type Extent,
  type GeometryType,
  type Loaded,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
  type Warning,
} from './reader.ts'
import { type FieldList, fieldTypeOf, kind } from './type-inference.ts'
import { createGeometryWriter, type GeometryWriter, widenExtent, writtenGeometry } from './wkb.ts'
import { type LooseGeometry, writeGeometry } from './wkb-geometry.ts'

/** One row of a file: its values by field; `geometry` is null where there is none, 'invalid' where it cannot be read. */
export type SourceRecord = { values: readonly unknown[]; geometry: LooseGeometry | 'invalid' | null }

/** One reading of a layer, from its start. The fields are complete once all is read, and the same in every reading. */
export type RecordSource = {
  fields: FieldList
  read(signal: AbortSignal): AsyncIterable<{ records: SourceRecord[]; fraction: number }>
  /** The kinds of a value of a field, as bits of `kind`. */
  kindsOf(value: unknown, field: number): number
  /** Known when all is read. */
  facts(): { srid?: number; warnings: Warning[] }
}

/** A guess is made of so many records. */
const guessedRecords = 2_000

/** A reader of formats whose records are made in JavaScript, two passes over the same source. */
export function createRecordReader(
  format: string,
  layers: readonly string[],
  openLayer: (layer: string) => RecordSource,
): Reader {
  const guesses = new Map<string, Findings>()
  const sourceOf = (layer: string): RecordSource => {
    if (!layers.includes(layer)) throw new ReadFault('layer_not_found', `There is no layer "${layer}".`, { layer })
    return openLayer(layer)
  }
  return {
    format,
    layers: async () => [...layers],
    async scan(layer, options) {
      const source = sourceOf(layer)
      return layerOf(layer, source, await lookAt(source, options)) ?? nothing(layer)
    },
    encode: (layer, columns, options) => encodeRecords(sourceOf(layer), columns, options),
    async guess(layer, options) {
      const source = sourceOf(layer)
      const found = await lookAt(source, options, guessedRecords)
      guesses.set(layer, found)
      return layerOf(layer, source, found)
    },
    load(layer, columns, options) {
      const guessed = guesses.get(layer)
      if (!guessed) throw new Error('A layer is guessed before it is loaded')
      return loadRecords(layer, sourceOf(layer), columns, guessed, options)
    },
    close: async () => {},
  }
}

type Findings = {
  kinds: number[]
  valueCounts: number[]
  featureCount: number
  invalidCount: number
  missingCount: number
  types: Set<GeometryType>
  hasZ: boolean
  extent: Extent | undefined
  /** Something was seen that may change the table; whoever cares takes it back. */
  isNews: boolean
}

/** What was learned of the table before, in the same file, need not be learned again. */
function createFindings(before?: Findings): Findings {
  return {
    kinds: [...(before?.kinds ?? [])],
    valueCounts: [],
    featureCount: 0,
    invalidCount: 0,
    missingCount: 0,
    types: new Set(before?.types),
    hasZ: before?.hasZ ?? false,
    extent: undefined,
    isNews: false,
  }
}

/** Looks at the records, all or so many and a few more. */
async function lookAt(
  source: RecordSource,
  { signal, onProgress }: PassOptions,
  enough = Number.POSITIVE_INFINITY,
): Promise<Findings> {
  const found = createFindings()
  const writer = createGeometryWriter()
  for await (const { records, fraction } of source.read(signal)) {
    for (const record of records) observe(found, record, source, writer)
    onProgress?.(fraction)
    if (found.featureCount >= enough) break
  }
  return found
}

/** All that is known now; undefined when there was nothing. */
function layerOf(name: string, source: RecordSource, found: Findings): ScannedLayer | undefined {
  if (found.featureCount === 0) return undefined
  const { srid, warnings } = source.facts()
  return {
    name,
    fields: source.fields.names.map((field, index) => ({
      name: field,
      type: fieldTypeOf(found.kinds[index] ?? 0),
      nullable: (found.valueCounts[index] ?? 0) < found.featureCount,
    })),
    featureCount: found.featureCount,
    geometryTypes: found.types,
    hasZ: found.hasZ,
    ...(srid === undefined ? {} : { srid }),
    ...(found.extent ? { extent: found.extent } : {}),
    warnings: [...warnings, ...geometryWarnings({ ...found, hasGeometry: found.types.size > 0 })],
  }
}

function nothing(layer: string): never {
  throw new ReadFault('no_features', 'There are no features in the file.', { layer })
}

/** Answers whether there is a geometry, which then lies in the writer. */
function observe(found: Findings, record: SourceRecord, source: RecordSource, writer: GeometryWriter): boolean {
  found.featureCount++
  const { values, geometry } = record
  for (let index = 0; index < values.length; index++) observeValue(found, values[index], index, source)
  if (geometry === null) found.missingCount++
  else if (geometry === 'invalid' || !writeGeometry(writer, geometry)) found.invalidCount++
  else {
    observeShape(found, geometry.type as GeometryType, writer.sawZ)
    found.extent = widenExtent(found.extent, writer.box)
    return true
  }
  return false
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

async function* encodeRecords(
  source: RecordSource,
  columns: readonly EncodedColumn[],
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const rows = createRowWriter()
  const geometry = createGeometryWriter(columns.find((column) => column.kind === 'geometry'))
  let fid = 0
  for await (const { records, fraction } of source.read(signal)) {
    for (const record of records) {
      const hasGeometry =
        record.geometry !== null && record.geometry !== 'invalid' && writeGeometry(geometry, record.geometry)
      encode(rows, columns, record.values, hasGeometry ? writtenGeometry(geometry) : null, ++fid)
      const chunk = takeChunk(rows)
      if (chunk) yield chunk
    }
    onProgress?.(fraction)
  }
  const chunk = takeChunk(rows, true)
  if (chunk) yield chunk
}

async function* loadRecords(
  layer: string,
  source: RecordSource,
  columns: readonly EncodedColumn[],
  guessed: Findings,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer, Loaded> {
  const rows = createRowWriter()
  const geometry = createGeometryWriter(columns.find((column) => column.kind === 'geometry'))
  const found = createFindings(guessed)
  let isAsGuessed = true
  for await (const { records, fraction } of source.read(signal)) {
    for (const record of records) {
      const hasGeometry = observe(found, record, source, geometry)
      isAsGuessed &&= isStill(guessed, found)
      if (!isAsGuessed) continue
      encode(rows, columns, record.values, hasGeometry ? writtenGeometry(geometry) : null, found.featureCount)
      const chunk = takeChunk(rows)
      if (chunk) yield chunk
    }
    onProgress?.(fraction)
  }
  const chunk = takeChunk(rows, true)
  if (chunk) yield chunk
  return { layer: layerOf(layer, source, found) ?? nothing(layer), isAsGuessed }
}

/** Whether rows for what was known before are right for what is known now. */
function isStill(before: Findings, now: Findings): boolean {
  if (!now.isNews) return true
  now.isNews = false
  if (now.types.size !== before.types.size || now.hasZ !== before.hasZ) return false
  return now.kinds.every((kinds, index) => fieldTypeOf(kinds) === fieldTypeOf(before.kinds[index] ?? 0))
}

function encode(
  rows: RowWriter,
  columns: readonly EncodedColumn[],
  values: readonly unknown[],
  geometry: Buffer | null,
  fid: number,
): void {
  beginRow(rows, columns.length)
  for (const column of columns) {
    if (column.kind === 'field') writeValue(rows, column.type, values[column.field])
    else if (column.kind === 'fid') writeInt8(rows, fid)
    else if (geometry === null) writeNull(rows)
    else writeBytes(rows, geometry)
  }
}
