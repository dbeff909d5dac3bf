import { createRowWriter, type RowWriter, takeChunk } from './copy-binary.ts'
import { sridOfCrs } from './geojson-crs.ts'
import type { Cursor } from './geojson-cursor.ts'
import { encodeFeature, rowForm } from './geojson-encode.ts'
import { createFeature, type Feature } from './geojson-feature.ts'
import { type FileFacts, readFile } from './geojson-file.ts'
import { quickPoints, type TakeFeatures } from './geojson-quick.ts'
import {
  createFindings,
  type Findings,
  foundFields,
  foundWarnings,
  isOutside,
  observe,
  skipOutside,
} from './geojson-scan.ts'
import { demandFewSkipped, type RowRules } from './impossible-rows.ts'
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

type GeoJsonOptions = { fileName: string; warnings?: readonly Warning[]; window?: number; rules?: RowRules }

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
export function openGeoJson(file: string, { fileName, warnings = [], window, rules }: GeoJsonOptions): Reader {
  const name = layerNameOf(fileName)
  const windowed = window === undefined ? {} : { window }
  let known: Known | undefined
  /** Whether features outside degrees are skipped; undefined until the first ones were seen. */
  let isBounded: boolean | undefined

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
  const lookFirst = async (options: PassOptions): Promise<Reading> => {
    const mayBeBounded = rules !== undefined && (rules.sourceSrid ?? worldDegrees) === worldDegrees
    const reading = await look(readWith(options), mayBeBounded, options, guessedWindows)
    isBounded = mayBeBounded && looksLikeDegrees(reading)
    return isBounded === mayBeBounded ? reading : look(readWith(options), isBounded, options, guessedWindows)
  }
  /** All of the file was read: that its coordinates are degrees was believed of its beginning. */
  const complete = async (reading: Reading, options: PassOptions): Promise<ScannedLayer> => {
    const { findings, facts } = reading
    if (isBounded && findings.skipped.count > 0 && !looksLikeDegrees(reading)) {
      isBounded = false
      return complete(await look(readWith(options), false, options), options)
    }
    if (facts.count === 0) return nothing()
    demandFewSkipped(findings.skipped, findings.featureCount, rules ?? {})
    if (rules?.strict) demandFewSkipped(findings.invalid, findings.featureCount - findings.invalid.count, rules)
    return learn(reading)
  }

  return {
    format: 'geojson',
    layers: async () => [name],
    async scan(_layer, options) {
      if (isBounded === undefined) await lookFirst({ signal: options.signal })
      return complete(await look(readWith(options), isBounded === true, options), options)
    },
    async guess(_layer, options) {
      const reading = await lookFirst(options)
      return reading.findings.featureCount === 0 ? undefined : learn(reading)
    },
    encode: (_layer, columns, options) =>
      encode(readWith(options), columns, { ...knownBefore(), isBounded: isBounded === true }, options),
    async *load(_layer, columns, options): AsyncGenerator<Buffer, Loaded> {
      const before = isBounded
      const guessed = { ...knownBefore(), isBounded: isBounded === true }
      const { isAsGuessed, ...reading } = yield* load(readWith(options), columns, guessed, options)
      const layer = await complete(reading, options)
      return { layer, isAsGuessed: isAsGuessed && isBounded === before }
    },
    close: async () => {},
  }
}

const worldDegrees = 4326

const isWorldDegrees = ({ crs }: FileFacts): boolean => (sridOfCrs(crs) ?? worldDegrees) === worldDegrees

/** Most of the features can be in degrees, and the file does not say that they are not. */
function looksLikeDegrees({ findings, facts }: Reading): boolean {
  return isWorldDegrees(facts) && findings.featureCount > findings.skipped.count
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
async function look(
  read: Read,
  isBounded: boolean,
  { onProgress }: PassOptions,
  windows = Number.POSITIVE_INFINITY,
): Promise<Reading> {
  const feature = createFeature(createGeometryWriter())
  const findings = createFindings()
  const facts: FileFacts = { count: 0, crs: undefined }
  const visit = ({ bytes }: Cursor) => {
    if (isBounded && isOutside(feature)) skipOutside(findings, feature, facts.count)
    else observe(findings, feature, bytes, facts.count)
  }
  let left = windows
  for await (const fraction of read(feature, visit, facts)) {
    onProgress?.(fraction)
    if (--left === 0) break
  }
  return { findings, names: feature.fields, facts }
}

type Bounded = Known & { isBounded: boolean }

async function* encode(
  read: Read,
  columns: readonly EncodedColumn[],
  { names, places, isBounded }: Bounded,
  { onProgress }: PassOptions,
): AsyncGenerator<Buffer> {
  const feature = featureFor(columns, names)
  const writer = createRowWriter()
  const row = rowForm(columns, places)
  let fid = 0
  const visit = (window: Cursor) => {
    if (!(isBounded && isOutside(feature))) encodeFeature(writer, row, feature, window, ++fid)
  }
  yield* chunksOf(writer, read(feature, visit, { count: 0, crs: undefined }), onProgress)
}

async function* load(
  read: Read,
  columns: readonly EncodedColumn[],
  guessed: Bounded,
  { onProgress }: PassOptions,
): AsyncGenerator<Buffer, Reading & { isAsGuessed: boolean }> {
  const { isBounded } = guessed
  const feature = featureFor(columns, guessed.names)
  const findings = createFindings(guessed.findings)
  const facts: FileFacts = { count: 0, crs: undefined }
  const writer = createRowWriter()
  const row = rowForm(columns, guessed.places)
  let isAsGuessed = true
  const visit = (window: Cursor) => {
    if (isBounded && isOutside(feature)) return skipOutside(findings, feature, facts.count)
    observe(findings, feature, window.bytes, facts.count)
    isAsGuessed &&= isStill(guessed, findings, feature.fields.names)
    if (isAsGuessed) encodeFeature(writer, row, feature, window, findings.featureCount)
  }
  const takePoints = quickPoints({ feature, findings, writer, row, isBounded })
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
