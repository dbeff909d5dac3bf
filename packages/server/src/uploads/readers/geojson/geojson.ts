import { createGeometryWriter, type GeometryWriter } from '../../../geometry/ewkb-writer.ts'
import { createReader } from '../engine/create-reader.ts'
import { featureIdName } from '../engine/feature-ids.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Field, Reading } from '../engine/reading.ts'
import { fieldsOf } from '../engine/records.ts'
import { fieldTypeOf, kind } from '../engine/type-inference.ts'
import { createItemState, readOn } from '../json/items.ts'
import { windowsOf } from '../json/windows.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { sridOfCrs } from './crs.ts'
import { createCursor } from './cursor.ts'
import { createFeature, idPlace } from './feature.ts'
import { featureFormat } from './file.ts'
import { kindsOfValue, writeToken } from './values.ts'

type GeoJsonOptions = {
  fileName: string
  warnings?: readonly Warning[]
  rules?: RowRules
  window?: number
  /** Features that are written like others before are read by that. */
  isFast?: boolean
}

const windowBytes = 512 * 1024

/** GeoJSON in UTF-8: a collection, a list, one feature or geometry after another, with record separators or none. */
export function openGeoJson(file: string, options: GeoJsonOptions): Reader {
  const { fileName, rules } = options
  return createReader({
    format: 'geojson',
    layers: [layerNameOf(fileName)],
    open: (_, { signal }) => readFeatures(file, options, signal),
    rules,
  })
}

function readFeatures(file: string, options: GeoJsonOptions, signal: AbortSignal): Reading {
  const { warnings = [], window = windowBytes, isFast = true } = options
  const cursor = createCursor(window)
  const feature = createFeature(createGeometryWriter(), isFast)
  const { names } = feature.fields
  let crs: unknown
  const noteCrs = (found: unknown): void => {
    crs = found
  }
  const state = createItemState(cursor, featureFormat(feature, noteCrs))
  const windows = windowsOf(file, cursor, signal)
  const places = [idPlace]
  let fraction = 0
  const next = (writer: GeometryWriter): boolean | Promise<boolean> => {
    feature.geometry = writer
    const step = readOn(state)
    if (step === 'more') return nextWindow(writer)
    while (places.length <= names.length) places.push(places.length - 1)
    return step === 'item'
  }
  const nextWindow = async (writer: GeometryWriter): Promise<boolean> => {
    const { value, done: isOver } = await windows.next()
    if (isOver) return false
    fraction = value
    return next(writer)
  }
  return {
    places,
    next,
    shape: () => feature.shape,
    kindsOf: (place, known) => kindsOfValue(cursor, feature, place, known),
    write: (rows, place, type) => writeToken(rows, cursor, feature, place, type),
    fields: (kinds) => [...fieldsOf(names, kinds), ...idFields(names, kinds)],
    progress: () => fraction,
    facts: () => ({ srid: sridOfCrs(crs), warnings }),
    close: async () => void (await windows.return(undefined)),
  }
}

/** The ids of the features are one more field, where there are any. */
function idFields(names: readonly string[], kinds: ArrayLike<number>): Field[] {
  const found = kinds[idPlace] ?? kind.none
  return found === kind.none ? [] : [{ name: featureIdName(names), place: idPlace, type: fieldTypeOf(found) }]
}
