import { createFlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { writeFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-write.ts'
import { createReader } from '../engine/create-reader.ts'
import { notedField } from '../engine/noted-values.ts'
import type { Reading } from '../engine/reading.ts'
import { kind } from '../engine/type-inference.ts'
import { layerNameOf, type Reader, type ReaderOptions } from '../reader.ts'
import { openParquetFile, type ParquetFile, pieces } from './file.ts'
import { readParquetGeometry } from './geometry.ts'
import { layoutOf, type ParquetColumn, type ParquetLayout } from './schema.ts'
import { isMisfit, writeParquetValue } from './values.ts'

/** A Parquet file: one layer, with a geometry when its metadata name one. */
export async function openGeoParquet(path: string, { fileName }: ReaderOptions): Promise<Reader> {
  const file = await openParquetFile(path)
  try {
    const layout = layoutOf(file.metadata)
    return createReader({
      format: 'parquet',
      layers: [layerNameOf(fileName)],
      open: () => readRows(file, layout),
      close: () => file.close(),
    })
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A piece of the file, column by column. */
type Piece = { readonly size: number; readonly columns: ArrayLike<unknown>[]; readonly geometries: ArrayLike<unknown> }

function readRows(file: ParquetFile, layout: ParquetLayout): Reading {
  const { columns, srid, wkt, warnings } = layout
  const ranges = pieces(file)[Symbol.iterator]()
  const total = file.ranges.at(-1)?.rowEnd || 1
  const geometry = createFlatGeometry()
  let piece: Piece = { size: 0, columns: [], geometries: [] }
  let [row, rowEnd] = [-1, 0]
  let cutsTimes = false
  const valueAt = (place: number): unknown => piece.columns[place]?.[row] ?? null
  return {
    places: [...columns.keys()],
    next(writer) {
      if (++row >= piece.size) return undefined
      const isThere = readParquetGeometry(piece.geometries[row], layout.geometry?.encoding ?? '', geometry)
      return isThere ? writeFlatGeometry(writer, geometry) : 'missing'
    },
    async fill() {
      const range = ranges.next()
      if (range.done) return false
      piece = await readPiece(file, layout, range.value)
      row = -1
      rowEnd = range.value.rowEnd
      return true
    },
    // All but text is as its column declares.
    kindsOf(place, known) {
      const value = valueAt(place)
      if (value === null || known & kind.text) return kind.none
      cutsTimes ||= isFiner(value, columns[place] as ParquetColumn)
      return isMisfit(value, columns[place] as ParquetColumn) ? kind.text : kind.none
    },
    write: (rows, place, type) => writeParquetValue(rows, columns[place] as ParquetColumn, type, valueAt(place)),
    fields: (kinds) =>
      columns.map(({ name, type, digits, noted }, place) =>
        noted
          ? notedField(noted, place, kinds[place] ?? 0)
          : kinds[place]
            ? { name, place, type: 'text' }
            : { name, place, type, digits },
      ),
    progress: () => rowEnd / total,
    facts: () => ({
      isSpatial: layout.geometry !== undefined,
      note: layout.note,
      srid,
      wkt,
      warnings: file.cutsTimes() || cutsTimes ? [...warnings, finerTimes] : warnings,
    }),
  }
}

const finerTimes = {
  code: 'cut_times',
  message: 'Some times are finer than microseconds; what is beyond them was cut off.',
}

/** Times of day in nanoseconds; those with a date are known to the file. */
const isFiner = (value: unknown, { type, microsPerUnit }: ParquetColumn): boolean =>
  type === 'time' && microsPerUnit < 1 && Number(value) % 1000 !== 0

async function readPiece(
  file: ParquetFile,
  { columns, geometry }: ParquetLayout,
  { rowStart, rowEnd }: { rowStart: number; rowEnd: number },
): Promise<Piece> {
  const values: ArrayLike<unknown>[] = []
  for (const { name } of columns) values.push(await file.readColumn(name, rowStart, rowEnd))
  const geometries = geometry ? await file.readColumn(geometry.name, rowStart, rowEnd) : []
  return { size: rowEnd - rowStart, columns: values, geometries }
}
