// One layer of a Shapefile while it is made: its records and values lie in files until all are known.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Cell } from '../../cell.ts'
import { fileTooLarge } from '../file-too-large.ts'
import type { ZipEntry } from '../zip-stream.ts'
import { type DbfExportField, dbfBytes, dbfValue } from './dbf.ts'
import {
  emptyBox,
  heightCode,
  type ShapeBox,
  type ShapefileShape,
  type ShapeKind,
  shapeCode,
  shapeRecord,
} from './shapefile-geometry.ts'

export type ShapefileLayer = {
  readonly kind: ShapeKind
  readonly hasZ: boolean
  readonly fields: readonly DbfExportField[]
  /** The bytes that it takes so far. */
  readonly size: number
  add(shape: ShapefileShape, cells: readonly Cell[]): void
  /** Writes what was added to the files. */
  flush(): Promise<void>
  close(): Promise<void>
  /** The files of the layer, with this name. */
  entries(name: string, wkt: string): ZipEntry[]
}

const headerBytes = 100
/** The header counts words of 16 bits in a signed integer. */
const maxShapeBytes = 2 ** 31 - 1

/** Its place in the row; -1 for the number of the row. */
type Indexed = { readonly field: DbfExportField; readonly index: number }

export async function openLayer(
  path: string,
  { kind, hasZ }: Pick<ShapefileShape, 'kind' | 'hasZ'>,
  fields: readonly Indexed[],
): Promise<ShapefileLayer> {
  const places = { shp: `${path}.shp`, shx: `${path}.shx`, values: `${path}.values` }
  const files = await Promise.all(Object.values(places).map((place) => open(place, 'wx', 0o600)))
  const [bounds, sizes] = [emptyBox(), { shp: headerBytes, values: 0 }]
  let count = 0
  let pending: { shp: Buffer[]; shx: Buffer[]; values: string } = { shp: [], shx: [], values: '' }

  function addRecord(content: Buffer): void {
    const words = content.length / 2
    const head = Buffer.alloc(8)
    head.writeInt32BE(count, 0)
    head.writeInt32BE(words, 4)
    const place = Buffer.alloc(8)
    place.writeInt32BE(sizes.shp / 2, 0)
    place.writeInt32BE(words, 4)
    pending.shp.push(head, content)
    pending.shx.push(place)
    sizes.shp += 8 + content.length
  }

  const header = (bytes: number): Buffer => headerOf(bytes, shapeCode[kind] + (hasZ ? heightCode : 0), bounds)
  return {
    kind,
    hasZ,
    fields: fields.map(({ field }) => field),
    get size() {
      return sizes.shp + sizes.values + count * 8
    },
    add(shape, cells) {
      count++
      if (kind !== 'none') addRecord(shapeRecord(shape, bounds))
      const line = `${JSON.stringify(fields.map(({ field, index }) => dbfValue(field, index < 0 ? String(count) : (cells[index] ?? null))))}\n`
      pending.values += line
      sizes.values += line.length
      if (sizes.shp > maxShapeBytes) throw fileTooLarge(maxShapeBytes)
    },
    async flush() {
      const { shp, shx, values } = pending
      pending = { shp: [], shx: [], values: '' }
      await Promise.all(
        [Buffer.concat(shp), Buffer.concat(shx), Buffer.from(values)].map((bytes, at) => files[at]?.appendFile(bytes)),
      )
    },
    close: async () => void (await Promise.all(files.map((file) => file.close()))),
    entries: (name, wkt) => [
      ...(kind === 'none'
        ? []
        : [
            { name: `${name}.shp`, pieces: () => afterHeader(header(sizes.shp), places.shp) },
            { name: `${name}.shx`, pieces: () => afterHeader(header(headerBytes + count * 8), places.shx) },
            { name: `${name}.prj`, pieces: () => [Buffer.from(wkt)] },
          ]),
      {
        name: `${name}.dbf`,
        pieces: () =>
          dbfBytes(
            fields.map(({ field }) => field),
            count,
            valuesIn(places.values),
          ),
      },
      { name: `${name}.cpg`, pieces: () => [Buffer.from('UTF-8')] },
    ],
  }
}

async function* afterHeader(header: Buffer, path: string): AsyncGenerator<Uint8Array> {
  yield header
  yield* createReadStream(path)
}

async function* valuesIn(path: string): AsyncGenerator<(string | null)[]> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
    yield JSON.parse(line)
}

function headerOf(bytes: number, code: number, bounds: ShapeBox): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeInt32BE(9994, 0)
  header.writeInt32BE(bytes / 2, 24)
  header.writeInt32LE(1000, 28)
  header.writeInt32LE(code, 32)
  const [west, south, east, north, low, high] = bounds.map((edge) => (Number.isFinite(edge) ? edge : 0)) as ShapeBox
  const hasHeights = code > heightCode
  const edges = [west, south, east, north, hasHeights ? low : 0, hasHeights ? high : 0]
  for (const [index, edge] of edges.entries()) header.writeDoubleLE(edge, 36 + index * 8)
  return header
}
