import { createFlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { writeFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-write.ts'
import { type ByteWindow, holds, moveTo, openWindow } from '../engine/byte-window.ts'
import { createReader } from '../engine/create-reader.ts'
import { notedField } from '../engine/noted-values.ts'
import type { Reading } from '../engine/reading.ts'
import { kind } from '../engine/type-inference.ts'
import { layerNameOf, maxFeatureBytes, type Reader, type ReaderOptions, ReadFault } from '../reader.ts'
import { type FlatbufferTable, rootTable, tableField, vectorField } from './flatbuffer.ts'
import { readFlatGeometry } from './geometry.ts'
import { type FlatColumn, type FlatHeader, readFlatHeader } from './header.ts'
import { flatFieldType, kindsOfFlatValue, locateValues, writeFlatValue } from './values.ts'

/** A FlatGeobuf file: one layer, read from the front to the back; its index is not used. */
export async function openFlatGeobuf(file: string, { fileName }: ReaderOptions): Promise<Reader> {
  const window = await openWindow(file)
  try {
    const header = await readFlatHeader(window)
    return createReader({
      format: 'flatgeobuf',
      layers: [header.name || layerNameOf(fileName)],
      open: () => readFeatures(window, header),
      close: () => window.source.close(),
    })
  } catch (error) {
    await window.source.close()
    throw error
  }
}

function readFeatures(window: ByteWindow, header: FlatHeader): Reading {
  const { columns } = header
  const places = new Int32Array(columns.length)
  const geometry = createFlatGeometry()
  let [offset, ordinal] = [header.featuresAt, 0]
  let feature: FlatbufferTable | undefined
  const placeOf = (place: number): number => places[place] ?? -1
  return {
    places: [...columns.keys()],
    next(writer) {
      const size = featureSize(window, offset, ordinal + 1)
      if (size === undefined || !holds(window, offset, 4 + size)) return undefined
      const start = offset + 4 - window.start
      offset += 4 + size
      ordinal++
      feature = rootTable(window.view, start, start + size)
      locateValues(feature, vectorField(feature, 1, 1), columns, places)
      const table = tableField(feature, 0)
      if (!table) return 'missing'
      return readFlatGeometry(table, header.geometryType, geometry) ? writeFlatGeometry(writer, geometry) : 'invalid'
    },
    async fill() {
      if (offset === window.fileSize) return demandAll(header, ordinal)
      await moveTo(window, offset, 4 + (featureSize(window, offset, ordinal + 1) ?? 0))
      return true
    },
    kindsOf(place) {
      const at = placeOf(place)
      return at < 0 || !feature ? kind.none : kindsOfFlatValue(feature.view, at, columns[place] as FlatColumn)
    },
    write(rows, place, type) {
      if (feature) writeFlatValue(rows, feature.view, placeOf(place), columns[place] as FlatColumn, type)
    },
    fields: (kinds) =>
      columns.map((column, place) =>
        column.noted
          ? notedField(column.noted, place, kinds[place] ?? 0)
          : { name: column.name, place, type: flatFieldType(column, kinds[place] ?? 0) },
      ),
    progress: () => offset / window.fileSize,
    facts: () => ({
      srid: header.srid,
      wkt: header.wkt,
      warnings: [],
      note: header.note,
      isSpatial: !header.note || header.note.geometry !== undefined,
    }),
  }
}

/** Of the feature there; undefined when that is not in memory. */
function featureSize(window: ByteWindow, offset: number, feature: number): number | undefined {
  if (!holds(window, offset, 4)) return undefined
  const size = window.view.getUint32(offset - window.start, true)
  if (size > maxFeatureBytes)
    throw new ReadFault('feature_too_large', `A feature is larger than ${maxFeatureBytes} bytes, the limit.`, {
      feature,
    })
  if (offset + 4 + size > window.fileSize)
    throw new ReadFault('truncated', 'The file ends within a feature.', { feature })
  return size
}

function demandAll({ featureCount }: FlatHeader, count: number): false {
  if (featureCount > count) throw new ReadFault('truncated', 'The file has fewer features than its header says.')
  return false
}
