import { createGeometryWriter, type GeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { release } from '../../reader-process/memory.ts'
import { asReadFault, type EncodedColumn, type FieldType, type PassOptions, type Reader, ReadFault } from '../reader.ts'
import { beginRow, createRowWriter, type RowWriter, takeChunk, writeInt8, writeNull, writePart } from './copy-binary.ts'
import {
  createFindings,
  type Findings,
  type GuessedLayer,
  guessLayer,
  isStill,
  noteRecord,
  noteSkipped,
} from './findings.ts'
import { demandFewSkipped, isInDegrees, outsideDegrees, type RowFault, type RowRules } from './impossible-rows.ts'
import type { LocalFormat } from './local-columns.ts'
import type { Reading, ReadingOptions, RecordField, RecordShape } from './reading.ts'

/** The layers of a file, each of which can be read any number of times. */
export type LayerSource = {
  readonly format: string
  readonly layers: readonly string[]
  /** Starts a reading of a layer. */
  open(layer: string, options: ReadingOptions): Reading | Promise<Reading>
  /** Which records may be skipped; without rules none is, however odd its coordinates are. */
  readonly rules?: RowRules | undefined
  close?(): Promise<void>
}

/** A guess is made of so many records, or of fewer whose geometries are large. */
const guessed = { records: 2_000, geometryBytes: 1024 * 1024 }

const worldDegrees = 4326

/** Scans, guesses, loads and encodes the layers of a file of whatever format. */
export function createReader(source: LayerSource): Reader {
  const { layers, rules } = source
  const states = new Map(layers.map((name) => [name, createState(name)]))
  const stateOf = (layer: string): LayerState => {
    const state = states.get(layer)
    if (!state) throw new ReadFault('layer_not_found', `There is no layer "${layer}".`, { layer })
    return state
  }
  const mayBeBounded = rules !== undefined && (rules.sourceSrid ?? worldDegrees) === worldDegrees
  const look = async (state: LayerState, isBounded: boolean, options: PassOptions, isGuess = false): Promise<Pass> => {
    const reading = await source.open(state.name, { signal: options.signal, before: state.guessedLayer?.facts })
    const pass = createPass(reading, createFindings(), isBounded)
    for await (const _ of chunksOf(pass, options, isGuess));
    return pass
  }
  /** Looks at the first records, and decides for all readings whether those outside degrees are skipped. */
  const lookFirst = async (state: LayerState, options: PassOptions): Promise<Pass> => {
    const pass = await look(state, mayBeBounded, options, true)
    state.isBounded = mayBeBounded && areDegrees(pass)
    return state.isBounded === mayBeBounded ? pass : look(state, false, options, true)
  }
  /** All of the layer was read: that its coordinates are degrees was believed of its beginning. */
  const complete = async (state: LayerState, pass: Pass, options: PassOptions): Promise<GuessedLayer> => {
    const { findings } = pass
    if (state.isBounded && findings.skipped.count > 0 && !areDegrees(pass)) {
      state.isBounded = false
      return complete(state, await look(state, false, options), options)
    }
    demandLoadable(state.name, findings, rules, layers.length > 1)
    return learn(state, pass)
  }
  async function* load(layer: string, columns: readonly EncodedColumn[], options: PassOptions) {
    const state = stateOf(layer)
    const { guessedLayer, isBounded = false } = state
    if (!guessedLayer) throw new Error('A layer is scanned or guessed before it is read')
    const reading = await source.open(layer, { signal: options.signal, before: guessedLayer.facts })
    const pass = createPass(reading, createFindings(guessedLayer.findings), isBounded, { columns, guessedLayer })
    yield* chunksOf(pass, options)
    return { state, pass }
  }
  return {
    format: source.format,
    layers: async () => [...layers],
    async scan(layer, options) {
      const state = stateOf(layer)
      if (mayBeBounded && state.isBounded === undefined) await lookFirst(state, { signal: options.signal })
      const guessedLayer = await complete(state, await look(state, state.isBounded === true, options), options)
      return guessedLayer.layer
    },
    async guess(layer, options) {
      const state = stateOf(layer)
      const pass = await lookFirst(state, options)
      return pass.findings.featureCount === 0 ? undefined : learn(state, pass).layer
    },
    encode: load,
    async *load(layer, columns, options) {
      const { state, pass } = yield* load(layer, columns, options)
      const before = state.guessedLayer?.facts.encoding
      const guessedLayer = await complete(state, pass, options)
      const isSame = state.isBounded === pass.isBounded && state.guessedLayer?.facts.encoding === before
      return { layer: guessedLayer.layer, isAsGuessed: isSame && pass.rows?.isOver === false }
    },
    close: async () => source.close?.(),
  }
}

/** What is known of a layer by the readings so far. */
type LayerState = {
  readonly name: string
  guessedLayer: GuessedLayer | undefined
  /** Whether records outside degrees are skipped; undefined until the first ones were seen. */
  isBounded: boolean | undefined
}

const createState = (name: string): LayerState => ({ name, guessedLayer: undefined, isBounded: undefined })

function learn(state: LayerState, pass: Pass): GuessedLayer {
  const { reading, findings, geometry } = pass
  const { closedRings, curvedCount } = geometry
  state.guessedLayer = guessLayer(state.name, reading, findings, { closedRings, curvedCount, isPart: pass.isPart })
  return state.guessedLayer
}

/** Most of the records can be in degrees, and the file does not say that they are not. */
function areDegrees({ reading, findings }: Pass): boolean {
  return (reading.facts().srid ?? worldDegrees) === worldDegrees && findings.featureCount > findings.skipped.count
}

function demandLoadable(layer: string, findings: Findings, rules: RowRules = {}, isOneOfMany: boolean): void {
  const { skipped, invalid, featureCount } = findings
  demandFewSkipped(skipped, featureCount, rules, isOneOfMany ? layer : undefined)
  if (rules.strict) demandFewSkipped(invalid, featureCount - invalid.count, rules)
}

/** One pass over a layer; `rows` where it also writes them. */
type Pass = {
  readonly reading: Reading
  readonly geometry: GeometryWriter
  readonly findings: Findings
  readonly isBounded: boolean
  readonly rows: Rows | undefined
  /** It ended before the layer did. */
  isPart: boolean
}

type Rows = {
  readonly writer: RowWriter
  readonly guessedLayer: GuessedLayer
  /** Negative places are those of the key and the geometry. */
  readonly columns: readonly { readonly place: number; readonly type: FieldType; readonly local?: LocalFormat }[]
  /** What was known has turned out wrong: nothing more is written. */
  isOver: boolean
}

const special = { fid: -1, geometry: -2, none: -3 } as const

function createPass(
  reading: Reading,
  findings: Findings,
  isBounded: boolean,
  wanted?: { columns: readonly EncodedColumn[]; guessedLayer: GuessedLayer },
): Pass {
  const geometry = createGeometryWriter(wanted?.columns.find((column) => column.kind === 'geometry'))
  const rows = wanted && createRows(wanted.columns, wanted.guessedLayer)
  return { reading, geometry, findings, isBounded, rows, isPart: false }
}

function createRows(wanted: readonly EncodedColumn[], guessedLayer: GuessedLayer): Rows {
  const columns = wanted.map((column) =>
    column.kind === 'field'
      ? { ...columnOf(guessedLayer.fields, column.field), type: column.type }
      : { place: special[column.kind], type: 'binary' as const },
  )
  return { writer: createRowWriter(), guessedLayer, columns, isOver: false }
}

function columnOf(fields: readonly RecordField[], index: number): Pick<RecordField, 'place' | 'local'> {
  const { place = special.none, local } = fields[index] ?? {}
  return local ? { place, local } : { place }
}

/** Reads the layer, or as much as a guess needs; yields the rows, where any are wanted. */
async function* chunksOf(pass: Pass, options: PassOptions, isGuess = false): AsyncGenerator<Buffer> {
  try {
    yield* readAll(pass, options, isGuess ? guessLimit(pass) : () => false)
    const rest = pass.rows && takeChunk(pass.rows.writer, true)
    if (rest) yield rest
  } catch (error) {
    if (!(error instanceof ReadFault)) throw asReadFault(error)
    // That an archive is damaged is told rather than what follows from it.
    await pass.reading.verify?.()
    throw error
  } finally {
    // A large geometry may have made it large.
    release(pass.geometry)
    await pass.reading.close?.()
  }
}

async function* readAll(pass: Pass, options: PassOptions, isEnough: () => boolean): AsyncGenerator<Buffer> {
  const { reading, geometry } = pass
  const writer = pass.rows?.writer
  for (let records = 1; ; records++) {
    const shape = reading.next(geometry)
    if (shape === undefined || (records & 4095) === 0) tellProgress(pass, options)
    if (shape === undefined) {
      if (await reading.fill()) continue
      await reading.verify?.()
      break
    }
    takeRecord(pass, shape)
    const chunk = writer && takeChunk(writer)
    if (chunk) yield chunk
    if (isEnough()) {
      pass.isPart = true
      break
    }
  }
}

function guessLimit({ findings, geometry }: Pass): () => boolean {
  let left = guessed.geometryBytes
  return () => {
    left -= geometry.length
    return left < 0 || findings.featureCount + findings.skipped.count >= guessed.records
  }
}

function tellProgress({ reading, findings }: Pass, { signal, onProgress }: PassOptions): void {
  signal.throwIfAborted()
  onProgress?.(Math.min(reading.progress(), 1), findings.featureCount)
}

/** Takes the record at hand into account, and writes it where what was known is right for it. */
function takeRecord({ reading, geometry, findings, isBounded, rows }: Pass, shape: RecordShape): void {
  const isOutside = isBounded && isGeometry(shape) && !isInDegrees(geometry.box)
  if (typeof shape === 'object' || isOutside) {
    noteSkipped(findings, typeof shape === 'object' ? shape : outsideFault(reading, geometry))
    return
  }
  noteRecord(findings, reading, shape, geometry)
  if (!rows || rows.isOver) return
  if (findings.isNews) {
    findings.isNews = false
    rows.isOver = !isStill(rows.guessedLayer, findings, reading)
  }
  if (!rows.isOver) writeRow(rows, reading, findings.featureCount, isGeometry(shape) ? geometry : undefined)
}

const isGeometry = (shape: RecordShape): boolean =>
  shape !== 'missing' && shape !== 'invalid' && typeof shape === 'string'

function outsideFault(reading: Reading, { box }: GeometryWriter): RowFault {
  const outside = outsideDegrees(box)
  if (!outside) throw new Error('The geometry is in degrees')
  const { axis, value, problem } = outside
  return { value: String(value), ...reading.whereIs?.(axis), problem }
}

function writeRow(
  { writer, columns }: Rows,
  reading: Reading,
  ordinal: number,
  geometry: GeometryWriter | undefined,
): void {
  beginRow(writer, columns.length)
  for (let index = 0; index < columns.length; index++) {
    const { place, type, local } = columns[index] as Rows['columns'][number]
    if (place >= 0) reading.write(writer, place, type, local)
    else if (place === special.fid) writeInt8(writer, ordinal)
    else if (place === special.geometry && geometry) writePart(writer, geometry, 0, geometry.length)
    else writeNull(writer)
  }
}
