import {
  beginRow,
  createRowWriter,
  type RowWriter,
  takeChunk,
  writeInt8,
  writeNull,
  writePart,
  writeValue,
} from './copy-binary.ts'
import { featureIdKey, featureIdName } from './feature-ids.ts'
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
import { createGeometryWriter, type GeometryWriter, widenExtent } from './wkb.ts'
import { type LooseGeometry, writeGeometry } from './wkb-geometry.ts'

/** One row of a file: its values by field; `geometry` is null where there is none, 'invalid' where it cannot be read. */
export type SourceRecord = { values: readonly unknown[]; geometry: LooseGeometry | 'invalid' | null }

/** One reading of a layer, from its start. The fields are complete once all is read, and the same in every reading. */
export type RecordSource = {
  fields: FieldList
  /** The records, but for those that the source has written by itself. */
  read(signal: AbortSignal, pass?: WritingPass): AsyncIterable<{ records: SourceRecord[]; fraction: number }>
  /** The kinds of a value of a field, as bits of `kind`. */
  kindsOf(value: unknown, field: number): number
  /** Known when all is read. `isFlat`: heights are left out. */
  facts(): { srid?: number; warnings: Warning[]; isFlat?: boolean }
}

/** Where the rows of a reading go. A source may write some that tell nothing new: it counts them among what was found. */
export type WritingPass = {
  columns: readonly EncodedColumn[]
  rows: RowWriter
  geometry: GeometryWriter
  found: Findings
  /** Nothing more is written. */
  isOver: boolean
}

/** A guess is made of so many records. */
const guessedRecords = 2_000

/** A reader of formats whose records are made in JavaScript, two passes over the same source. */
export function createRecordReader(
  format: string,
  layers: readonly string[],
  openLayer: (layer: string) => RecordSource,
): Reader {
  const known = new Map<string, Findings>()
  const sourceOf = (layer: string): RecordSource => {
    if (!layers.includes(layer)) throw new ReadFault('layer_not_found', `There is no layer "${layer}".`, { layer })
    return openLayer(layer)
  }
  return {
    format,
    layers: async () => [...layers],
    async scan(layer, options) {
      const source = sourceOf(layer)
      const found = await lookAt(source, options)
      known.set(layer, found)
      return layerOf(layer, source, found) ?? nothing(layer)
    },
    encode: (layer, columns, options) => encodeRecords(sourceOf(layer), columns, known.get(layer), options),
    async guess(layer, options) {
      const source = sourceOf(layer)
      const found = await lookAt(source, options, guessedRecords)
      known.set(layer, found)
      return layerOf(layer, source, found)
    },
    async *load(layer, columns, options) {
      const guessed = known.get(layer)
      if (!guessed) throw new Error('A layer is guessed before it is loaded')
      const found = createFindings(guessed)
      const loaded = yield* loadRecords(layer, sourceOf(layer), passFor(columns, found), guessed, options)
      known.set(layer, found)
      return loaded
    },
    close: async () => {},
  }
}

export type Findings = {
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
  const { srid, warnings, isFlat = false } = source.facts()
  const { names } = source.fields
  return {
    name,
    fields: names.map((field, index) => ({
      name: field === featureIdKey ? featureIdName(names) : field,
      type: fieldTypeOf(found.kinds[index] ?? 0),
      nullable: (found.valueCounts[index] ?? 0) < found.featureCount,
    })),
    featureCount: found.featureCount,
    geometryTypes: found.types,
    hasZ: found.hasZ && !isFlat,
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

function passFor(columns: readonly EncodedColumn[], found: Findings): WritingPass {
  const geometry = createGeometryWriter(columns.find((column) => column.kind === 'geometry'))
  return { columns, rows: createRowWriter(), geometry, found, isOver: false }
}

async function* encodeRecords(
  source: RecordSource,
  columns: readonly EncodedColumn[],
  known: Findings | undefined,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const pass = passFor(columns, createFindings(known))
  const { rows, geometry, found } = pass
  for await (const { records, fraction } of source.read(signal, pass)) {
    for (const record of records) {
      const hasGeometry =
        record.geometry !== null && record.geometry !== 'invalid' && writeGeometry(geometry, record.geometry)
      found.featureCount++
      encode(pass, record.values, hasGeometry)
      const chunk = takeChunk(rows)
      if (chunk) yield chunk
    }
    const chunk = takeChunk(rows)
    if (chunk) yield chunk
    onProgress?.(fraction)
  }
  const chunk = takeChunk(rows, true)
  if (chunk) yield chunk
}

async function* loadRecords(
  layer: string,
  source: RecordSource,
  pass: WritingPass,
  guessed: Findings,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer, Loaded> {
  const { rows, geometry, found } = pass
  for await (const { records, fraction } of source.read(signal, pass)) {
    for (const record of records) {
      const hasGeometry = observe(found, record, source, geometry)
      pass.isOver ||= !isStill(guessed, found)
      if (pass.isOver) continue
      encode(pass, record.values, hasGeometry)
      const chunk = takeChunk(rows)
      if (chunk) yield chunk
    }
    const chunk = takeChunk(rows)
    if (chunk) yield chunk
    onProgress?.(fraction)
  }
  const chunk = takeChunk(rows, true)
  if (chunk) yield chunk
  return { layer: layerOf(layer, source, found) ?? nothing(layer), isAsGuessed: !pass.isOver }
}

/** Whether rows for what was known before are right for what is known now. */
function isStill(before: Findings, now: Findings): boolean {
  if (!now.isNews) return true
  now.isNews = false
  if (now.types.size !== before.types.size || now.hasZ !== before.hasZ) return false
  return now.kinds.every((kinds, index) => fieldTypeOf(kinds) === fieldTypeOf(before.kinds[index] ?? 0))
}

function encode(
  { columns, rows, geometry, found }: WritingPass,
  values: readonly unknown[],
  hasGeometry: boolean,
): void {
  beginRow(rows, columns.length)
  for (const column of columns) {
    if (column.kind === 'field') writeValue(rows, column.type, values[column.field])
    else if (column.kind === 'fid') writeInt8(rows, found.featureCount)
    else if (!hasGeometry) writeNull(rows)
    else writePart(rows, geometry, 0, geometry.length)
  }
}
