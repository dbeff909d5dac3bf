// FlatGeobuf without an index: header and features one after the other, so that it can be streamed where the header is known.
import { rm } from 'node:fs/promises'
import { Builder } from 'flatbuffers'
import type { Cell } from '../../cell.ts'
import { type ExportColumn, type ExportOrder, type ExportRows, geometryIndexOf, partsOf } from '../export-order.ts'
import { isLongDecimal } from '../export-values.ts'
import { geometryReader } from '../geometry-cell.ts'
import { noteText } from '../note-of-export.ts'
import { spoolRows } from '../row-spool.ts'
import { writeFlatGeometry } from './flatgeobuf-geometry.ts'
import { columnType, createProperties } from './flatgeobuf-properties.ts'
import { declaredShape, type FlatgeobufShape, fitShape, surveyShapes } from './flatgeobuf-shape.ts'

const magic = Uint8Array.of(0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 1)
const chunkBytes = 64 * 1024

/** Places of fields in the tables of the schema. */
const headerField = {
  ...({ name: 0, geometryType: 2, hasZ: 3, hasM: 4, columns: 7, indexNodeSize: 9, crs: 10 } as const),
  metadata: 13,
} as const
const columnField = { name: 0, type: 1 } as const
const crsField = { org: 0, code: 1 } as const
const featureField = { geometry: 0, properties: 1 } as const

/** Where the database does not say what the header must say of all geometries, the rows are read to their end first. */
export async function* writeFlatGeobuf(rows: ExportRows, order: ExportOrder): AsyncGenerator<Uint8Array> {
  const shape = declaredShape(order.columns)
  if (shape) yield* writeFeatures(rows, order, shape)
  else yield* writeSurveyed(rows, order)
}

async function* writeSurveyed(rows: ExportRows, order: ExportOrder): AsyncGenerator<Uint8Array> {
  if (order.path === undefined) throw new Error('FlatGeobuf of undeclared geometries is made as a file.')
  const hexIndex = geometryIndexOf(order.columns)
  const read = geometryReader()
  const survey = surveyShapes()
  const onRow = (cells: readonly Cell[]): void => {
    const geometry = read(cells[hexIndex])
    if (geometry) survey.add(geometry)
  }
  const { maxBytes } = order
  const spool = await spoolRows(rows, partsOf(order.path), { hexIndex, maxBytes, onRow })
  try {
    yield* writeFeatures(spool.rows, order, survey.shape())
  } finally {
    await spool.close()
    await rm(partsOf(order.path), { force: true })
  }
}

async function* writeFeatures(
  rows: ExportRows,
  order: ExportOrder,
  shape: FlatgeobufShape,
): AsyncGenerator<Uint8Array> {
  const geometryIndex = geometryIndexOf(order.columns)
  const fields = order.columns.flatMap((column, index) => (index === geometryIndex ? [] : [{ column, index }]))
  const write = featureWriter(geometryIndex, fields, shape)
  const chunks = createChunks()
  chunks.add(magic)
  chunks.add(headerOf(order, fields, geometryIndex, shape))
  for await (const batch of rows) {
    for (const cells of batch) {
      chunks.add(write(cells))
      if (chunks.size >= chunkBytes) yield chunks.take()
    }
  }
  yield chunks.take()
}

/** Joins small pieces to what is worth sending. */
function createChunks() {
  let pieces: Uint8Array[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add(piece: Uint8Array): void {
      pieces.push(piece)
      size += piece.byteLength
    },
    take(): Uint8Array {
      const whole = Buffer.concat(pieces)
      pieces = []
      size = 0
      return whole
    },
  }
}

type Field = { readonly column: ExportColumn; readonly index: number }

function headerOf(
  order: ExportOrder,
  fields: readonly Field[],
  geometryIndex: number,
  { type, hasZ, hasM }: FlatgeobufShape,
): Uint8Array {
  const builder = new Builder(1024)
  const columns = fields.map(({ column }) => columnOf(builder, column))
  builder.startVector(4, columns.length, 4)
  for (const column of columns.toReversed()) builder.addOffset(column)
  const vector = builder.endVector()
  const name = builder.createString(order.name)
  const crs = geometryIndex < 0 ? 0 : crsOf(builder, order.srid)
  const note = builder.createString(noteText(order))
  builder.startObject(14)
  builder.addFieldOffset(headerField.name, name, 0)
  builder.addFieldInt8(headerField.geometryType, type, 0)
  builder.addFieldInt8(headerField.hasZ, hasZ ? 1 : 0, 0)
  builder.addFieldInt8(headerField.hasM, hasM ? 1 : 0, 0)
  builder.addFieldOffset(headerField.columns, vector, 0)
  // No index, and by the missing count an unknown number of features.
  builder.addFieldInt16(headerField.indexNodeSize, 0, 16)
  if (crs !== 0) builder.addFieldOffset(headerField.crs, crs, 0)
  builder.addFieldOffset(headerField.metadata, note, 0)
  builder.finishSizePrefixed(builder.endObject())
  return builder.asUint8Array()
}

function columnOf(builder: Builder, column: ExportColumn): number {
  const name = builder.createString(column.name)
  builder.startObject(11)
  builder.addFieldOffset(columnField.name, name, 0)
  builder.addFieldInt8(columnField.type, isLongDecimal(column) ? columnType.string : columnType[column.type], 0)
  return builder.endObject()
}

function crsOf(builder: Builder, srid: number): number {
  const org = builder.createString('EPSG')
  builder.startObject(6)
  builder.addFieldOffset(crsField.org, org, 0)
  builder.addFieldInt32(crsField.code, srid, 0)
  return builder.endObject()
}

function featureWriter(geometryIndex: number, fields: readonly Field[], shape: FlatgeobufShape) {
  const builder = new Builder(4096)
  const read = geometryReader()
  const properties = createProperties(fields.map(({ column }) => column))
  return (cells: readonly Cell[]): Uint8Array => {
    builder.clear()
    const flat = read(cells[geometryIndex])
    const geometry = flat ? writeFlatGeometry(builder, fitShape(flat, shape), shape) : 0
    const values = builder.createByteVector(properties(fields.map(({ index }) => cells[index] ?? null)))
    builder.startObject(3)
    if (geometry !== 0) builder.addFieldOffset(featureField.geometry, geometry, 0)
    builder.addFieldOffset(featureField.properties, values, 0)
    builder.finishSizePrefixed(builder.endObject())
    // A copy: the builder's memory is used again.
    return builder.asUint8Array().slice()
  }
}
