// A zipped Shapefile: a layer for each kind of shape, and a list of what its limits changed.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { noteFile } from '../../table-note.ts'
import { type ExportColumn, type ExportOrder, type ExportRows, geometryIndexOf, partsOf } from '../export-order.ts'
import { fileTooLarge } from '../file-too-large.ts'
import { geometryReader } from '../geometry-cell.ts'
import { tableNote } from '../note-of-export.ts'
import { type ZipEntry, zipStream } from '../zip-stream.ts'
import { dbfFields } from './dbf.ts'
import { shapesOf } from './shapefile-geometry.ts'
import { openLayer, type ShapefileLayer } from './shapefile-layer.ts'

export async function* writeShapefile(rows: ExportRows, order: ExportOrder): AsyncGenerator<Uint8Array> {
  const folder = partsOf(order.path ?? '')
  await mkdir(folder, { mode: 0o700 })
  const layers = new Map<string, ShapefileLayer>()
  try {
    await readRows(rows, order, folder, layers)
    yield* zipStream(entriesOf([...layers.values()], order))
  } finally {
    await Promise.all([...layers.values()].map((layer) => layer.close()))
    await rm(folder, { recursive: true, force: true })
  }
}

/** The table must have a field: the number of the row, where the rows have nothing but geometries. */
const numbered: ExportColumn = { name: 'fid', type: 'integer' }

async function readRows(
  rows: ExportRows,
  { columns, maxBytes }: ExportOrder,
  folder: string,
  layers: Map<string, ShapefileLayer>,
): Promise<void> {
  const geometryIndex = geometryIndexOf(columns)
  const layerOf = layerOpener(columns, geometryIndex, folder, layers)
  const read = geometryReader()
  const first = firstLayer(columns[geometryIndex])
  /** A row without a geometry joins the layer of the row before it, the first one that of its column's type. */
  let last = first.isSure ? await layerOf(first.kind, first.hasZ) : undefined
  for await (const batch of rows) {
    for (const cells of batch) {
      for (const shape of shapesOf(read(cells[geometryIndex]))) {
        last = shape.kind === 'none' && last ? last : await layerOf(shape.kind, shape.hasZ)
        last.add(shape, cells)
      }
    }
    await flushAll([...layers.values()], maxBytes)
  }
  if (layers.size === 0) await layerOf(first.kind, first.hasZ)
}

async function flushAll(layers: readonly ShapefileLayer[], maxBytes: number): Promise<void> {
  await Promise.all(layers.map((layer) => layer.flush()))
  const size = layers.reduce((sum, layer) => sum + layer.size, 0)
  if (size > maxBytes) throw fileTooLarge(maxBytes)
}

/** A function that gives the layer of a kind of shape, and makes it if it is the first of its kind. */
function layerOpener(
  columns: readonly ExportColumn[],
  geometryIndex: number,
  folder: string,
  layers: Map<string, ShapefileLayer>,
) {
  const places = columns.flatMap((_, index) => (index === geometryIndex ? [] : [index]))
  const named = places.map((index) => columns[index] as ExportColumn)
  const fieldsOf = () =>
    dbfFields(named.length > 0 ? named : [numbered]).map((field, at) => ({ field, index: places[at] ?? -1 }))
  return async (kind: ShapefileLayer['kind'], hasZ: boolean): Promise<ShapefileLayer> => {
    const key = suffixOf({ kind, hasZ })
    const layer = layers.get(key) ?? (await openLayer(join(folder, key), { kind, hasZ }, fieldsOf()))
    layers.set(key, layer)
    return layer
  }
}

/** The layer of the column's type, which is sure unless values of all types are let in. */
function firstLayer(column: ExportColumn | undefined): Pick<ShapefileLayer, 'kind' | 'hasZ'> & { isSure: boolean } {
  if (!column) return { kind: 'none', hasZ: false, isSure: true }
  const { geometryType = 'Geometry', hasZ = false } = column
  return { kind: emptyKind(geometryType.toLowerCase()), hasZ, isSure: geometryType !== 'Geometry' }
}

/** The layer of an answer without rows. */
const emptyKind = (type: string): ShapefileLayer['kind'] =>
  type === 'multipoint'
    ? 'multipoint'
    : type.endsWith('polygon')
      ? 'polygon'
      : type.endsWith('linestring')
        ? 'line'
        : 'point'

const suffixOf = ({ kind, hasZ }: Pick<ShapefileLayer, 'kind' | 'hasZ'>): string =>
  `${kind === 'none' ? 'table' : kind}${hasZ ? '_z' : ''}`

const wgs84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

function entriesOf(layers: readonly ShapefileLayer[], order: ExportOrder): ZipEntry[] {
  const { name, srid, wkt } = order
  const base = name.replaceAll(/[^\p{L}\p{N}_-]+/gu, '_').slice(0, 60) || 'rows'
  const prj = srid === 4326 ? wgs84 : (wkt ?? '')
  const files = layers.flatMap((layer) => layer.entries(layers.length === 1 ? base : `${base}_${suffixOf(layer)}`, prj))
  return [
    ...files,
    { name: 'fields.txt', pieces: () => [Buffer.from(changesOf(layers))] },
    { name: noteFile, pieces: () => [Buffer.from(noteOf(layers, order))] },
  ]
}

function noteOf(layers: readonly ShapefileLayer[], order: ExportOrder): string {
  const note = tableNote(order)
  const fields = new Map(layers[0]?.fields.map(({ name, column }) => [column.name, name]))
  const columns = note.columns.map((column) => ({ ...column, field: fields.get(column.name) ?? column.name }))
  return JSON.stringify({ ...note, columns })
}

/** Which field has which attribute, and how many of its texts were cut. */
function changesOf(layers: readonly ShapefileLayer[]): string {
  const [first] = layers
  const lines = (first?.fields ?? []).map(({ name, column }, index) => {
    const cut = layers.reduce((sum, layer) => sum + (layer.fields[index]?.cut ?? 0), 0)
    return `${name}\t${column.name.replaceAll(/\p{Cc}/gu, ' ')}${cut > 0 ? `\t${cut} texts cut to 254 bytes` : ''}`
  })
  return `field\tattribute\n${lines.join('\n')}\n`
}
