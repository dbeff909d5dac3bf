import { createGeometryWriter } from '../../../query/geometry/encoding/ewkb-writer.ts'
import { isGeoJson, writeGeometry } from '../../../query/geometry/encoding/geojson-ewkb.ts'
import { createWkbCursor, type WkbCursor } from '../../../query/geometry/encoding/wkb-reader.ts'
import { clipShape } from './clip.ts'
import { planColumns, type TileColumn } from './columns.ts'
import { featureValue } from './feature-values.ts'
import { addFeature, createLayer, type LayerBuffer, layerBytes, releaseLayer } from './layer.ts'
import { type Coordinates, type Tile, type TileProjection, tileProjection } from './projection.ts'
import { widestWindow } from './repair/make-valid.ts'
import { tidyShape } from './repair/tidy.ts'
import { idOf, rowId, rowValue } from './row-values.ts'
import { createShape, type TileShape, type Window } from './shape.ts'
import { readShape } from './shape-reader.ts'
import { makeVisible } from './visible-shape.ts'

export type EncoderOptions = {
  readonly tile: Tile
  readonly columns: readonly TileColumn[]
  readonly projection: Coordinates
  readonly layer?: string
  readonly extent?: number
  readonly buffer?: number
  /** No feature is taken that would make the tile larger. */
  readonly maxBytes?: number
  readonly maxFeatures?: number
}

export type EncodedTile = {
  /** Empty when there is no feature. */
  readonly bytes: Buffer
  /** Features in the tile. */
  readonly shown: number
  /** Rows offered. */
  readonly seen: number
  /** What the offered rows stand for, where a column says it. */
  readonly rows: number
  /** Rows whose geometry was null, empty or unreadable. */
  readonly invalid: number
  readonly bytesPerColumn: number[]
}

export type TileEncoder = {
  /**
   * A row as PostgreSQL's DataRow carries it: value i lies in bytes[at[2i] .. at[2i+1]), null when at[2i] < 0. Binary
   * format, except UTF-8 for text and decimal. False when the budget is used up and the row was not added.
   */
  addRow(bytes: Buffer, at: Int32Array): boolean
  /** The same from JavaScript values; the geometry is WKB bytes or a GeoJSON geometry. */
  addFeature(values: readonly unknown[]): boolean
  /** The tile; no row is taken afterwards. */
  finish(): EncodedTile
}

type Encoder = {
  readonly layer: LayerBuffer
  readonly projection: TileProjection
  readonly shape: TileShape
  readonly window: Window
  readonly extent: number
  readonly maxFeatures: number
  readonly cursor: WkbCursor
  /** Whose bytes the cursor is on. */
  source: Uint8Array | undefined
  isFull: boolean
  result: EncodedTile | undefined
  shown: number
  seen: number
  rows: number
  invalid: number
}

const drawn = createShape()
const geojson = createGeometryWriter()

/**
 * Makes one Mapbox vector tile (version 2.1) of rows. A bad row is counted, it never throws. With `converts` the bytes of
 * the rows are written to, and rows of other SRIDs than it has are bad.
 */
export function createTileEncoder(options: EncoderOptions, converts?: TileProjection['converts']): TileEncoder {
  const { tile, columns, layer = 'geometry', extent = 4096, buffer = 64 } = options
  const { maxBytes = Number.POSITIVE_INFINITY, maxFeatures = Number.POSITIVE_INFINITY } = options
  if (extent + 2 * buffer > widestWindow) throw new RangeError(`A tile has at most ${widestWindow} units`)
  const projection = { ...tileProjection(tile, options.projection, extent, buffer), ...(converts && { converts }) }
  const encoder: Encoder = {
    layer: createLayer(planColumns(columns), layer, extent, maxBytes),
    projection,
    shape: drawn,
    window: { least: -buffer, most: extent + buffer, world: projection.world },
    extent,
    maxFeatures,
    cursor: createWkbCursor(),
    source: undefined,
    isFull: false,
    result: undefined,
    shown: 0,
    seen: 0,
    rows: 0,
    invalid: 0,
  }
  return {
    addRow: (bytes, at) => addRow(encoder, bytes, at),
    addFeature: (values) => addValues(encoder, values),
    finish: () => finish(encoder),
  }
}

/** Its buffers go to another encoder, so this one takes nothing any more and remembers its answer. */
function finish(encoder: Encoder): EncodedTile {
  if (encoder.result) return encoder.result
  const { layer, shown, seen, rows, invalid } = encoder
  const bytes = shown === 0 ? Buffer.alloc(0) : layerBytes(layer)
  releaseLayer(layer)
  encoder.isFull = true
  encoder.result = { bytes, shown, seen, rows, invalid, bytesPerColumn: [...layer.bytesPerColumn] }
  return encoder.result
}

function addRow(encoder: Encoder, bytes: Buffer, at: Int32Array): boolean {
  const { rows } = encoder.layer.plan
  if (rows >= 0 && at[2 * rows] >= 0) encoder.rows += bytes.readInt32BE(at[2 * rows])
  if (!isOpen(encoder)) return false
  const { layer, cursor } = encoder
  const { plan, values, row, added } = layer
  pointAt(encoder, bytes)
  const shape = drawBytes(encoder, bytes, at[2 * plan.geometry] ?? -1, at[2 * plan.geometry + 1] ?? -1)
  if (!shape) return true
  layer.valuesBefore = values.writer.length
  for (let index = 0; index < plan.attributes.length; index++) {
    const { column, kind } = plan.attributes[index]
    const start = at[2 * column]
    const before = values.writer.length
    values.column = column
    row[index] = start < 0 ? -1 : rowValue(values, kind, bytes, cursor, start, at[2 * column + 1])
    added[index] = values.writer.length - before
  }
  const start = plan.id < 0 ? -1 : at[2 * plan.id]
  const id = start < 0 ? -1 : rowId(plan.idKind, bytes, cursor, start, at[2 * plan.id + 1])
  return add(encoder, shape, id)
}

function addValues(encoder: Encoder, source: readonly unknown[]): boolean {
  const { rows } = encoder.layer.plan
  if (rows >= 0) encoder.rows += Number(source[rows])
  if (!isOpen(encoder)) return false
  const { layer } = encoder
  const { plan, values, row, added } = layer
  const shape = drawValue(encoder, source[plan.geometry])
  if (!shape) return true
  layer.valuesBefore = values.writer.length
  for (let index = 0; index < plan.attributes.length; index++) {
    const { column, kind } = plan.attributes[index]
    const before = values.writer.length
    values.column = column
    row[index] = featureValue(values, kind, source[column])
    added[index] = values.writer.length - before
  }
  return add(encoder, shape, idOf(source[plan.id]))
}

function isOpen(encoder: Encoder): boolean {
  encoder.seen++
  return !encoder.isFull && encoder.shown < encoder.maxFeatures
}

function add(encoder: Encoder, shape: TileShape, id: number): boolean {
  encoder.isFull = !addFeature(encoder.layer, shape, id)
  if (encoder.isFull) return false
  encoder.shown++
  return true
}

function drawValue(encoder: Encoder, value: unknown): TileShape | undefined {
  if (value instanceof Uint8Array) {
    pointAt(encoder, value)
    return drawBytes(encoder, value, 0, value.length)
  }
  const isWritten = isGeoJson(value) && writeGeometry(geojson, value)
  pointAt(encoder, geojson.bytes)
  return drawBytes(encoder, geojson.bytes, 0, isWritten ? geojson.length : -1)
}

/** The geometry in these bytes as it is drawn in the tile, or undefined when nothing of it is to be seen. */
function drawBytes(encoder: Encoder, bytes: Uint8Array, start: number, end: number): TileShape | undefined {
  const { cursor, window } = encoder
  cursor.at = bytes.byteOffset + start
  cursor.end = bytes.byteOffset + Math.min(end, bytes.length)
  if (start < 0 || !readShape(cursor, encoder)) {
    encoder.invalid++
    return undefined
  }
  // Where rows stand for others.
  if (encoder.layer.plan.rows >= 0) makeVisible(encoder.shape, encoder.extent)
  const shape = clipShape(encoder.shape, window)
  return shape && tidyShape(shape, window)
}

function pointAt(encoder: Encoder, bytes: Uint8Array): void {
  if (encoder.source === bytes) return
  encoder.source = bytes
  if (encoder.cursor.view.buffer !== bytes.buffer) encoder.cursor.view = new DataView(bytes.buffer)
}
