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
import { demandFewSkipped, type RowFault, type RowRules, skippedWarnings, skipRow } from './impossible-rows.ts'
import {
  type EncodedColumn,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
  type Warning,
} from './reader.ts'
import { createFindings, type Findings, isStill, observe, shapeOf, warningsOf } from './record-findings.ts'
import { type FieldList, fieldTypeOf } from './type-inference.ts'
import { createGeometryWriter, type GeometryWriter } from './wkb.ts'
import type { LooseGeometry } from './wkb-geometry.ts'

/** One row of a file: its values by field; `geometry` is null where there is none, 'invalid' where it cannot be read. */
export type SourceRecord = {
  values: readonly unknown[]
  geometry: LooseGeometry | 'invalid' | null
  /** Of a row of a table. One whose geometry cannot be read is not loaded. */
  line?: number
  /** The text that the geometry was read from. */
  written?: string
  /** Why it cannot be loaded. */
  fault?: RowFault
}

/** One reading of a layer, from its start. The fields are complete once all is read, and the same in every reading. */
export type RecordSource = {
  fields: FieldList
  /** The records, but for those that the source has written by itself. */
  read(signal: AbortSignal, pass?: WritingPass): AsyncIterable<{ records: SourceRecord[]; fraction: number }>
  /** The kinds of a value of a field, as bits of `kind`. */
  kindsOf(value: unknown, field: number): number
  /** Known when all is read. `isFlat`: heights are left out. */
  facts(): { srid?: number; warnings: Warning[]; isFlat?: boolean }
  /** The columns that coordinates are read from, where there are any. */
  coordinateNames?: { x: string; y: string }
}

/** Where the rows of a reading go. A source may write some that tell nothing new: it counts them among what was found. */
export type WritingPass = {
  columns: readonly EncodedColumn[]
  rows: RowWriter
  geometry: GeometryWriter
  found: Findings
  /** Coordinates are degrees, and a row with others is skipped. */
  isBounded: boolean
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
  rules?: RowRules,
): Reader {
  const known = new Map<string, Findings>()
  const bounded = new Map<string, boolean>()
  const sourceOf = (layer: string): RecordSource => {
    if (!layers.includes(layer)) throw new ReadFault('layer_not_found', `There is no layer "${layer}".`, { layer })
    return openLayer(layer)
  }
  const mayBeBounded = rules !== undefined && (rules.sourceSrid ?? worldDegrees) === worldDegrees
  /** Looks at the first records, and decides for all readings whether rows outside degrees are skipped. */
  const lookFirst = async (layer: string, options: PassOptions): Promise<Look | undefined> => {
    const source = sourceOf(layer)
    const found = await lookAt(source, mayBeBounded, options, guessedRecords)
    const isBounded = mayBeBounded && looksLikeDegrees(source, found)
    bounded.set(layer, isBounded)
    return isBounded === mayBeBounded ? { source, found } : undefined
  }
  const isBounded = async (layer: string, { signal }: PassOptions): Promise<boolean> => {
    if (!bounded.has(layer)) await lookFirst(layer, { signal })
    return bounded.get(layer) ?? false
  }
  /** All of the layer was read: that its coordinates are degrees was believed of its beginning. */
  const complete = async (layer: string, look: Look, options: PassOptions): Promise<ScannedLayer> => {
    const { source, found } = look
    if (bounded.get(layer) && found.skipped.count > 0 && !looksLikeDegrees(source, found)) {
      bounded.set(layer, false)
      const again = sourceOf(layer)
      return complete(layer, { source: again, found: await lookAt(again, false, options) }, options)
    }
    known.set(layer, found)
    demandFewSkipped(found.skipped, found.featureCount, rules ?? {}, layers.length > 1 ? layer : undefined)
    return layerOf(layer, source, found) ?? nothing(layer)
  }
  return {
    format,
    layers: async () => [...layers],
    async scan(layer, options) {
      const source = sourceOf(layer)
      const found = await lookAt(source, await isBounded(layer, options), options)
      return complete(layer, { source, found }, options)
    },
    async *encode(layer, columns, options) {
      const pass = passFor(columns, createFindings(known.get(layer)), await isBounded(layer, options))
      yield* encodeRecords(sourceOf(layer), pass, options)
    },
    async guess(layer, options) {
      const { source, found } = (await lookFirst(layer, options)) ?? (await lookUnbounded(sourceOf(layer), options))
      known.set(layer, found)
      return layerOf(layer, source, found)
    },
    async *load(layer, columns, options) {
      const guessed = known.get(layer)
      if (!guessed) throw new Error('A layer is guessed before it is loaded')
      const found = createFindings(guessed)
      const source = sourceOf(layer)
      const pass = passFor(columns, found, await isBounded(layer, options))
      yield* loadRecords(source, pass, guessed, options)
      const loaded = await complete(layer, { source, found }, options)
      return { layer: loaded, isAsGuessed: !pass.isOver && bounded.get(layer) === pass.isBounded }
    },
    close: async () => {},
  }
}

type Look = { source: RecordSource; found: Findings }

const worldDegrees = 4326

/** Unless the file says something else, coordinates are degrees when most of the first ones can be. */
function looksLikeDegrees(source: RecordSource, { featureCount, skipped }: Findings): boolean {
  return (source.facts().srid ?? worldDegrees) === worldDegrees && featureCount > skipped.count
}

const lookUnbounded = async (source: RecordSource, options: PassOptions): Promise<Look> => ({
  source,
  found: await lookAt(source, false, options, guessedRecords),
})

/** Looks at the records, all or so many and a few more. */
async function lookAt(
  source: RecordSource,
  isBounded: boolean,
  { signal, onProgress }: PassOptions,
  enough = Number.POSITIVE_INFINITY,
): Promise<Findings> {
  const found = createFindings()
  const writer = createGeometryWriter()
  for await (const { records, fraction } of source.read(signal)) {
    for (const record of records) {
      const shape = shapeOf(record, source, writer, isBounded)
      if (typeof shape === 'object') skip(found, shape)
      else observe(found, record, shape, source, writer)
    }
    onProgress?.(fraction)
    if (found.featureCount + found.skipped.count >= enough) break
  }
  return found
}

/** What has no line is known by its number among the records. */
function skip({ skipped, featureCount }: Findings, fault: RowFault): void {
  skipRow(skipped, fault.line === undefined ? { feature: featureCount + skipped.count + 1, ...fault } : fault)
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
    warnings: [...warnings, ...skippedWarnings(found.skipped), ...warningsOf(found)],
  }
}

function nothing(layer: string): never {
  throw new ReadFault('no_features', 'There are no features in the file.', { layer })
}

function passFor(columns: readonly EncodedColumn[], found: Findings, isBounded: boolean): WritingPass {
  const geometry = createGeometryWriter(columns.find((column) => column.kind === 'geometry'))
  return { columns, rows: createRowWriter(), geometry, found, isBounded, isOver: false }
}

async function* encodeRecords(
  source: RecordSource,
  pass: WritingPass,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const { rows, geometry, found, isBounded } = pass
  for await (const { records, fraction } of source.read(signal, pass)) {
    for (const record of records) {
      const shape = shapeOf(record, source, geometry, isBounded)
      if (typeof shape === 'object') continue
      found.featureCount++
      encode(pass, record.values, shape === 'written')
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
  source: RecordSource,
  pass: WritingPass,
  guessed: Findings,
  { signal, onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const { rows } = pass
  for await (const { records, fraction } of source.read(signal, pass)) {
    for (const record of records) {
      loadRecord(record, source, pass, guessed)
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

function loadRecord(record: SourceRecord, source: RecordSource, pass: WritingPass, guessed: Findings): void {
  const { found, geometry, isBounded } = pass
  const shape = shapeOf(record, source, geometry, isBounded)
  if (typeof shape === 'object') {
    skip(found, shape)
    return
  }
  observe(found, record, shape, source, geometry)
  pass.isOver ||= !isStill(guessed, found)
  if (!pass.isOver) encode(pass, record.values, shape === 'written')
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
