import { createRowWriter, type RowWriter, takeChunk } from './copy-binary.ts'
import { sridOfCrs } from './geojson-crs.ts'
import type { Cursor } from './geojson-cursor.ts'
import { encodeFeature, rowForm } from './geojson-encode.ts'
import { createFeature, type Feature } from './geojson-feature.ts'
import { type FileFacts, readFile } from './geojson-file.ts'
import { quickPoints, type TakeFeatures } from './geojson-quick.ts'
import { createFindings, type Findings, foundFields, foundWarnings, observe } from './geojson-scan.ts'
import {
  type EncodedColumn,
  type Loaded,
  layerNameOf,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedField,
  type ScannedLayer,
  type Warning,
} from './reader.ts'
import type { FieldList } from './type-inference.ts'
import { createGeometryWriter } from './wkb.ts'

type GeoJsonOptions = { fileName: string; warnings?: readonly Warning[]; window?: number }

/** A guess is made of so many windows of the file. */
const guessedWindows = 2

/** What was read so far. */
type Reading = { findings: Findings; names: FieldList; facts: FileFacts }

/** What a reading has found of the table: its fields, and where in a feature the value of each lies. */
type Known = { names: FieldList; fields: ScannedField[]; places: number[]; findings: Findings }

/** Reads the file through, `visit` called for each feature. */
type Read = (
  feature: Feature,
  visit: (window: Cursor) => void,
  facts: FileFacts,
  takeFeatures?: TakeFeatures,
) => AsyncGenerator<number, void>

/** GeoJSON in UTF-8: a collection, a list, one feature or geometry after another, with record separators or none. */
export function openGeoJson(file: string, { fileName, warnings = [], window }: GeoJsonOptions): Reader {
  const name = layerNameOf(fileName)
  const windowed = window === undefined ? {} : { window }
  let known: Known | undefined

  const readWith =
    ({ signal }: PassOptions): Read =>
    (feature, visit, facts, takeFeatures) =>
      readFile(file, feature, visit, { signal, facts, takeFeatures, ...windowed })

  const learn = ({ findings, names, facts }: Reading): ScannedLayer => {
    known = { names, findings, ...foundFields(findings, names.names) }
    const layer = layerOf(name, known, facts)
    return { ...layer, warnings: [...warnings, ...layer.warnings] }
  }
  const knownBefore = (): Known => {
    if (!known) throw new Error('A layer is scanned or guessed before it is read')
    return known
  }

  return {
    format: 'geojson',
    layers: async () => [name],
    async scan(_layer, options) {
      const reading = await look(readWith(options), options)
      return reading.facts.count === 0 ? nothing() : learn(reading)
    },
    async guess(_layer, options) {
      const reading = await look(readWith(options), options, guessedWindows)
      return reading.facts.count === 0 ? undefined : learn(reading)
    },
    encode: (_layer, columns, options) => encode(readWith(options), columns, knownBefore(), options),
    async *load(_layer, columns, options): AsyncGenerator<Buffer, Loaded> {
      const { isAsGuessed, ...reading } = yield* load(readWith(options), columns, knownBefore(), options)
      return { layer: learn(reading), isAsGuessed }
    },
    close: async () => {},
  }
}

function nothing(): never {
  throw new ReadFault('no_features', 'There are no features in the file.')
}

function layerOf(name: string, { fields, findings }: Known, { crs }: FileFacts): ScannedLayer {
  const srid = sridOfCrs(crs)
  const { featureCount, geometryTypes, hasZ, extent } = findings
  return {
    name,
    fields,
    featureCount,
    geometryTypes,
    hasZ,
    ...(srid === undefined ? {} : { srid }),
    ...(extent ? { extent } : {}),
    warnings: foundWarnings(findings),
  }
}

/** Looks at the features, all or those in so many windows. */
async function look(read: Read, { onProgress }: PassOptions, windows = Number.POSITIVE_INFINITY): Promise<Reading> {
  const feature = createFeature(createGeometryWriter())
  const findings = createFindings()
  const facts: FileFacts = { count: 0, crs: undefined }
  let left = windows
  for await (const fraction of read(feature, ({ bytes }) => observe(findings, feature, bytes), facts)) {
    onProgress?.(fraction)
    if (--left === 0) break
  }
  return { findings, names: feature.fields, facts }
}

async function* encode(
  read: Read,
  columns: readonly EncodedColumn[],
  { names, places }: Known,
  { onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const feature = featureFor(columns, names)
  const writer = createRowWriter()
  const row = rowForm(columns, places)
  let fid = 0
  const visit = (window: Cursor) => encodeFeature(writer, row, feature, window, ++fid)
  yield* chunksOf(writer, read(feature, visit, { count: 0, crs: undefined }), onProgress)
}

async function* load(
  read: Read,
  columns: readonly EncodedColumn[],
  guessed: Known,
  { onProgress }: PassOptions,
): AsyncGenerator<Buffer, Reading & { isAsGuessed: boolean }> {
  const feature = featureFor(columns, guessed.names)
  const findings = createFindings(guessed.findings)
  const facts: FileFacts = { count: 0, crs: undefined }
  const writer = createRowWriter()
  const row = rowForm(columns, guessed.places)
  let isAsGuessed = true
  const visit = (window: Cursor) => {
    observe(findings, feature, window.bytes)
    isAsGuessed &&= isStill(guessed, findings, feature.fields.names)
    if (isAsGuessed) encodeFeature(writer, row, feature, window, findings.featureCount)
  }
  const takePoints = quickPoints({ feature, findings, writer, row })
  const takeFeatures: TakeFeatures = (cursor, hasComma) => (isAsGuessed ? takePoints(cursor, hasComma) : 0)
  yield* chunksOf(writer, read(feature, visit, facts, takeFeatures), onProgress)
  return { findings, names: feature.fields, facts, isAsGuessed }
}

const featureFor = (columns: readonly EncodedColumn[], names: FieldList): Feature =>
  createFeature(createGeometryWriter(columns.find((column) => column.kind === 'geometry')), names)

async function* chunksOf(
  writer: RowWriter,
  steps: AsyncIterable<number>,
  onProgress: PassOptions['onProgress'],
): AsyncGenerator<Buffer> {
  for await (const fraction of steps) {
    onProgress?.(fraction)
    const chunk = takeChunk(writer)
    if (chunk) yield chunk
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
}

/** Whether rows for what was known before are right for what is known now. */
function isStill({ fields, findings: before }: Known, now: Findings, names: readonly string[]): boolean {
  if (!now.isNews) return true
  now.isNews = false
  if (now.geometryTypes.size !== before.geometryTypes.size || now.hasZ !== before.hasZ) return false
  const found = foundFields(now, names).fields
  return found.length === fields.length && found.every(({ type }, index) => type === fields[index]?.type)
}
