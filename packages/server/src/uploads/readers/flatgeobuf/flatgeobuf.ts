import type { GeometryWriter } from '../../../geometry/ewkb-writer.ts'
import { createFlatGeometry } from '../../../geometry/flat-geometry.ts'
import { writeFlatGeometry } from '../../../geometry/flat-geometry-write.ts'
import { type ByteWindow, holds, moveTo, openWindow } from '../engine/byte-window.ts'
import { createReader } from '../engine/create-reader.ts'
import type { Reading, Shape } from '../engine/reading.ts'
import { kind } from '../engine/type-inference.ts'
import { layerNameOf, maxFeatureBytes, type OpenOptions, type Reader, ReadFault } from '../reader.ts'
import { rootTable, type Table, tableField, vectorField } from './flatbuffer.ts'
import { readFlatGeometry } from './geometry.ts'
import { type FlatColumn, type FlatHeader, readFlatHeader } from './header.ts'
import { flatFieldType, kindsOfFlatValue, locateValues, writeFlatValue } from './values.ts'

/** A FlatGeobuf file: one layer, read from the front to the back; its index is not used. */
export async function openFlatGeobuf(file: string, { fileName }: OpenOptions): Promise<Reader> {
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
  const counts = { closed: 0 }
  let [offset, ordinal] = [header.featuresAt, 0]
  let feature: Table | undefined
  let shape: Shape = 'missing'
  const next = (writer: GeometryWriter): boolean | Promise<boolean> => {
    if (offset === window.fileSize) return demandAll(header, ordinal)
    const size = featureSize(window, offset, ordinal + 1)
    if (size === undefined || !holds(window, offset, 4 + size))
      return moveTo(window, offset, 4 + (size ?? 0)).then(() => next(writer))
    const start = offset + 4 - window.start
    offset += 4 + size
    ordinal++
    feature = rootTable(window.view, start, start + size)
    const table = tableField(feature, 0)
    if (!table) shape = 'missing'
    else if (!readFlatGeometry(table, header.geometryType, geometry)) shape = 'invalid'
    else shape = writeFlatGeometry(writer, geometry, counts)
    locateValues(feature, vectorField(feature, 1, 1), columns, places)
    return true
  }
  const placeOf = (place: number): number => places[place] ?? -1
  return {
    places: [...columns.keys()],
    next,
    shape: () => shape,
    kindsOf(place) {
      const at = placeOf(place)
      return at < 0 || !feature ? kind.none : kindsOfFlatValue(feature.view, at, columns[place] as FlatColumn)
    },
    write(rows, place, type) {
      if (feature) writeFlatValue(rows, feature.view, placeOf(place), columns[place] as FlatColumn, type)
    },
    fields: (kinds) =>
      columns.map((column, place) => ({ name: column.name, place, type: flatFieldType(column, kinds[place] ?? 0) })),
    progress: () => offset / window.fileSize,
    facts: () => ({ srid: header.srid, wkt: header.wkt, warnings: [], closedRings: counts.closed }),
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

function demandAll({ featureCount }: FlatHeader, found: number): false {
  if (featureCount > found) throw new ReadFault('truncated', 'The file has fewer features than its header says.')
  return false
}
