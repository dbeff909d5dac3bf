import { readFile } from 'node:fs/promises'
import { beginRow, createRowWriter, type RowWriter, takeChunk, writeInt8, writeNull } from './copy-binary.ts'
import { type DbfText, dbfText } from './dbf.ts'
import { writeDbfValue } from './dbf-values.ts'
import {
  createFlatGeometry,
  type FlatGeometry,
  type GeometrySummary,
  geometryFindings,
  summarise,
} from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { writeGeometry } from './flat-geometry-write.ts'
import {
  type EncodedColumn,
  type Loaded,
  layerNameOf,
  type OpenOptions,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
  type Warning,
} from './reader.ts'
import { createFindings, fieldsOf, noteRow, type ShapefileFindings, stillnessOf } from './shapefile-findings.ts'
import { readShape } from './shapefile-geometry.ts'
import { advance, closeRecords, openRecords, type ShapefileParts, type ShapefileRecords } from './shapefile-records.ts'

/** A .shp file that came alone. */
export async function openShapefile(file: string, { fileName }: OpenOptions): Promise<Reader> {
  return openShapefiles([{ name: layerNameOf(fileName), shp: file }])
}

/** Shapefiles whose parts were found in an archive: one layer each. */
export async function openShapefiles(layers: readonly ShapefileParts[]): Promise<Reader> {
  const known = new Map<string, Known>()
  const knownOf = (name: string): Known => {
    const found = known.get(name)
    if (!found) throw new Error('The layer was not scanned.')
    return found
  }
  const partsOf = (name: string) => {
    const parts = layers.find((layer) => layer.name === name)
    if (!parts) throw new ReadFault('layer_not_found', `There is no layer "${name}".`)
    return parts
  }
  return {
    format: 'shapefile',
    layers: async () => layers.map(({ name }) => name),
    scan: async (name, options) => {
      const parts = partsOf(name)
      const found = await withRecords(parts, (records) => lookAt(parts, records, options))
      known.set(name, found)
      return found.layer
    },
    async *encode(name, columns, options) {
      const records = await openRecords(partsOf(name))
      try {
        yield* encodeRecords(records, columns, knownOf(name).text, options)
      } finally {
        await closeRecords(records)
      }
    },
    guess: async (name, options) => {
      const parts = partsOf(name)
      const found = await withRecords(parts, (records) => lookAt(parts, records, options, guessedRecords))
      known.set(name, found)
      return found.layer.featureCount === 0 ? undefined : found.layer
    },
    async *load(name, columns, options): AsyncGenerator<Buffer, Loaded> {
      const parts = partsOf(name)
      const records = await openRecords(parts)
      try {
        const guessed = knownOf(name)
        const { found, isAsGuessed } = yield* loadRecords(records, columns, guessed, options)
        const all = await knownBy(parts, records, found)
        known.set(name, all)
        return { layer: all.layer, isAsGuessed: isAsGuessed && all.text.encoding === guessed.text.encoding }
      } finally {
        await closeRecords(records)
      }
    },
    close: async () => {},
  }
}

/** A guess is made of so many records. */
const guessedRecords = 2_000

/** What a reading has found, and how the text of the table is to be read. */
type Known = { readonly found: ShapefileFindings; readonly layer: ScannedLayer; readonly text: DbfText }

async function withRecords<T>(parts: ShapefileParts, use: (records: ShapefileRecords) => Promise<T>): Promise<T> {
  const records = await openRecords(parts)
  try {
    return await use(records)
  } finally {
    await closeRecords(records)
  }
}

/** Looks at the records, all or so many. */
async function lookAt(
  parts: ShapefileParts,
  records: ShapefileRecords,
  options: PassOptions,
  enough = Number.POSITIVE_INFINITY,
): Promise<Known> {
  const found = createFindings(records.dbf)
  const geometry = createFlatGeometry()
  const tell = progressTeller(records, options)
  for (let more = advance(records); typeof more === 'boolean' ? more : await more; more = advance(records)) {
    observe(records, found, geometry)
    tell()
    if (found.featureCount >= enough) break
  }
  return knownBy(parts, records, found)
}

/** Answers the shape of the record, where there is one that can be loaded. */
function observe(
  records: ShapefileRecords,
  found: ShapefileFindings,
  geometry: FlatGeometry,
): FlatGeometry | undefined {
  found.featureCount++
  const sound = shapeOf(records, geometry, found.summary)
  if (sound) summarise(found.summary, sound)
  noteRow(records, found)
  return sound
}

async function knownBy(parts: ShapefileParts, records: ShapefileRecords, found: ShapefileFindings): Promise<Known> {
  const { dbf } = records
  const { summary, featureCount, missingRows } = found
  const cpg = parts.cpg === undefined ? undefined : await readFile(parts.cpg, 'latin1')
  const text = dbfText(cpg, dbf?.languageDriver ?? 0, found.isAllUtf8)
  const { warnings, ...geometries } = geometryFindings(summary, featureCount)
  const layer = {
    name: parts.name,
    fields: fieldsOf(dbf, found, text),
    featureCount,
    ...geometries,
    ...(await referenceOf(parts)),
    warnings: [...partWarnings(parts, dbf ? missingRows : 0), ...records.warnings, ...warnings],
  }
  return { found, layer, text }
}

/** The shape in memory, mended; undefined when there is none that can be loaded. */
function shapeOf(
  { shp, shapeStart, shapeEnd, index }: ShapefileRecords,
  geometry: FlatGeometry,
  counts: Pick<GeometrySummary, 'dropped' | 'closed'>,
): FlatGeometry | undefined {
  if (!shp) return undefined
  try {
    return readShape(shp.view, shapeStart, shapeEnd, geometry) ? mended(geometry, counts) : undefined
  } catch (error) {
    if (error instanceof ReadFault) throw new ReadFault(error.code, error.message, { feature: index + 1 })
    throw error
  }
}

async function referenceOf({ prj }: ShapefileParts): Promise<{ wkt?: string }> {
  const wkt = prj === undefined ? '' : (await readFile(prj, 'utf8')).replaceAll('\0', '').trim()
  return wkt === '' || wkt.length > 100_000 ? {} : { wkt }
}

function partWarnings({ shp, shx, dbf, prj }: ShapefileParts, missingRows: number): Warning[] {
  const missing = (part: string, effect: string): Warning => ({
    code: `missing_${part}`,
    message: `There is no .${part} file; ${effect}.`,
  })
  const warnings: Warning[] = []
  if (!shp) warnings.push(missing('shp', 'the table is loaded without geometries'))
  if (shp && !dbf) warnings.push(missing('dbf', 'the shapes are loaded without attributes'))
  if (shp && !shx) warnings.push(missing('shx', 'the shapes were read in the order they lie in'))
  if (shp && !prj) warnings.push(missing('prj', 'its reference system is not known'))
  if (missingRows)
    warnings.push({
      code: 'missing_rows',
      message: 'Shapes without a row in the .dbf file have no attributes.',
      count: missingRows,
    })
  return warnings
}

/** To be called for every record: tells the progress now and then, and stops when told to. */
function progressTeller(records: ShapefileRecords, { signal, onProgress }: PassOptions): () => void {
  let count = 0
  return () => {
    if ((++count & 4095) !== 0) return
    signal.throwIfAborted()
    const { shp, dbf } = records
    const done = shp ? records.nextOffset / records.shpEnd : records.index / (dbf?.presentCount || 1)
    onProgress?.(Math.min(done, 1))
  }
}

async function* encodeRecords(
  records: ShapefileRecords,
  columns: readonly EncodedColumn[],
  text: DbfText,
  options: PassOptions,
): AsyncIterable<Buffer> {
  const writer = createRowWriter()
  const geometry = createFlatGeometry()
  const counts = { dropped: 0, closed: 0 }
  const tell = progressTeller(records, options)
  let ordinal = 0
  for (let more = advance(records); typeof more === 'boolean' ? more : await more; more = advance(records)) {
    writeRow(writer, records, columns, { ordinal: ++ordinal, text, sound: shapeOf(records, geometry, counts) })
    tell()
    const chunk = takeChunk(writer)
    if (chunk) yield chunk
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
}

async function* loadRecords(
  records: ShapefileRecords,
  columns: readonly EncodedColumn[],
  guessed: Known,
  options: PassOptions,
): AsyncGenerator<Buffer, { found: ShapefileFindings; isAsGuessed: boolean }> {
  const { text } = guessed
  const writer = createRowWriter()
  const found = createFindings(records.dbf, guessed.found)
  const geometry = createFlatGeometry()
  const tell = progressTeller(records, options)
  const isStill = stillnessOf(guessed.found, found, records.dbf)
  let isAsGuessed = true
  for (let more = advance(records); typeof more === 'boolean' ? more : await more; more = advance(records)) {
    const sound = observe(records, found, geometry)
    tell()
    isAsGuessed &&= isStill()
    if (!isAsGuessed) continue
    writeRow(writer, records, columns, { ordinal: found.featureCount, text, sound })
    const chunk = takeChunk(writer)
    if (chunk) yield chunk
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
  return { found, isAsGuessed }
}

function writeRow(
  writer: RowWriter,
  { dbf, rowAt }: ShapefileRecords,
  columns: readonly EncodedColumn[],
  { ordinal, text, sound }: { ordinal: number; text: DbfText; sound: FlatGeometry | undefined },
): void {
  beginRow(writer, columns.length)
  for (const column of columns) {
    if (column.kind === 'fid') writeInt8(writer, ordinal)
    else if (column.kind === 'geometry') {
      if (sound) writeGeometry(writer, sound, column)
      else writeNull(writer)
    } else {
      const source = dbf?.fields[column.field]
      if (dbf && source && rowAt >= 0) writeDbfValue(writer, dbf, source, column.type, rowAt, text)
      else writeNull(writer)
    }
  }
}
