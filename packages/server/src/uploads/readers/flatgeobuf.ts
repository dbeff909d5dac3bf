import { type ByteWindow, holds, moveTo, openWindow } from './byte-window.ts'
import { beginRow, createRowWriter, takeChunk, writeInt8, writeNull } from './copy-binary.ts'
import {
  createFlatGeometry,
  createGeometrySummary,
  type FlatGeometry,
  type GeometrySummary,
  geometryFindings,
  summarise,
} from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { writeGeometry } from './flat-geometry-write.ts'
import { rootTable, type Table, tableField, vectorField } from './flatbuffer.ts'
import { readFlatGeometry } from './flatgeobuf-geometry.ts'
import { type FlatHeader, readFlatHeader } from './flatgeobuf-header.ts'
import { flatFieldType, locateValues, noteFlatValue, writeFlatValue } from './flatgeobuf-values.ts'
import {
  type EncodedColumn,
  layerNameOf,
  maxFeatureBytes,
  type OpenOptions,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
} from './reader.ts'

/** A FlatGeobuf file: one layer, read from the front to the back; its index is not used. */
export async function openFlatGeobuf(file: string, { fileName }: OpenOptions): Promise<Reader> {
  const window = await openWindow(file)
  try {
    const header = await readFlatHeader(window)
    const name = header.name || layerNameOf(fileName)
    return {
      format: 'flatgeobuf',
      layers: async () => [name],
      scan: (_, options) => scanFeatures(window, header, name, options),
      encode: (_, columns, options) => encodeFeatures(window, header, columns, options),
      close: () => window.source.close(),
    }
  } catch (error) {
    await window.source.close()
    throw error
  }
}

/** The features in turn. */
type Features = { readonly window: ByteWindow; next: number; ordinal: number; feature: Table | undefined }

/** Brings the next feature into memory; false at the end. Only rarely is there something to wait for. */
function advance(features: Features): boolean | Promise<boolean> {
  const { window, next } = features
  if (next === window.fileSize) return false
  if (!holds(window, next, 4)) return moveTo(window, next, 4).then(() => advance(features))
  const size = window.view.getUint32(next - window.start, true)
  const place = { feature: features.ordinal + 1 }
  if (size > maxFeatureBytes)
    throw new ReadFault('feature_too_large', `A feature is larger than ${maxFeatureBytes} bytes, the limit.`, place)
  if (next + 4 + size > window.fileSize) throw new ReadFault('truncated', 'The file ends within a feature.', place)
  if (!holds(window, next, 4 + size)) return moveTo(window, next, 4 + size).then(() => advance(features))
  const start = next + 4 - window.start
  features.next = next + 4 + size
  features.ordinal++
  features.feature = rootTable(window.view, start, start + size)
  return true
}

function startOf(window: ByteWindow, { featuresAt }: FlatHeader): Features {
  return { window, next: featuresAt, ordinal: 0, feature: undefined }
}

function tell(features: Features, { signal, onProgress }: PassOptions): void {
  if ((features.ordinal & 4095) !== 0) return
  signal.throwIfAborted()
  onProgress?.(features.next / features.window.fileSize)
}

async function scanFeatures(
  window: ByteWindow,
  header: FlatHeader,
  name: string,
  options: PassOptions,
): Promise<ScannedLayer> {
  const fields = header.columns.map((column) => ({ column, findings: { count: 0, kinds: 0, isMisfit: false } }))
  const places = new Int32Array(fields.length)
  const summary = createGeometrySummary()
  const geometry = createFlatGeometry()
  const features = startOf(window, header)
  for (let more = advance(features); typeof more === 'boolean' ? more : await more; more = advance(features)) {
    const table = features.feature as Table
    const sound = geometryOf(table, header, geometry, summary)
    if (sound) summarise(summary, sound)
    locateValues(table, vectorField(table, 1, 1), header.columns, places)
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index]
      const at = places[index] as number
      if (field && at >= 0) noteFlatValue(table.view, at, field.column, field.findings)
    }
    tell(features, options)
  }
  const { ordinal } = features
  if (header.featureCount > ordinal)
    throw new ReadFault('truncated', 'The file has fewer features than its header says.')
  const { srid, wkt } = header
  return {
    name,
    fields: fields.map(({ column, findings }) => ({
      name: column.name,
      type: flatFieldType(column, findings),
      nullable: findings.count < ordinal || findings.kinds !== 0 || column.type === 13,
    })),
    featureCount: ordinal,
    ...geometryFindings(summary, ordinal),
    ...(srid === undefined ? {} : { srid }),
    ...(wkt === undefined ? {} : { wkt }),
  }
}

/** The feature's geometry, mended; undefined when there is none that can be loaded. */
function geometryOf(
  feature: Table,
  { geometryType }: FlatHeader,
  geometry: FlatGeometry,
  counts: Pick<GeometrySummary, 'dropped' | 'closed'>,
): FlatGeometry | undefined {
  const table = tableField(feature, 0)
  if (!table) return undefined
  if (readFlatGeometry(table, geometryType, geometry)) return mended(geometry, counts)
  counts.dropped++
  return undefined
}

async function* encodeFeatures(
  window: ByteWindow,
  header: FlatHeader,
  columns: readonly EncodedColumn[],
  options: PassOptions,
): AsyncIterable<Buffer> {
  const writer = createRowWriter()
  const places = new Int32Array(header.columns.length)
  const geometry = createFlatGeometry()
  const counts = { dropped: 0, closed: 0 }
  const features = startOf(window, header)
  const writeColumn = (column: EncodedColumn, table: Table) => {
    if (column.kind === 'fid') return writeInt8(writer, features.ordinal)
    if (column.kind === 'field') {
      const source = header.columns[column.field]
      if (source) return writeFlatValue(writer, table.view, places[column.field] ?? -1, source, column.type)
      return writeNull(writer)
    }
    const sound = geometryOf(table, header, geometry, counts)
    if (sound) writeGeometry(writer, sound, column)
    else writeNull(writer)
  }
  for (let more = advance(features); typeof more === 'boolean' ? more : await more; more = advance(features)) {
    const table = features.feature as Table
    locateValues(table, vectorField(table, 1, 1), header.columns, places)
    beginRow(writer, columns.length)
    for (const column of columns) writeColumn(column, table)
    tell(features, options)
    const chunk = takeChunk(writer)
    if (chunk) yield chunk
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
}
