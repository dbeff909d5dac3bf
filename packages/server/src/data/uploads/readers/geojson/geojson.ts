import { type NotedColumn, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import { createGeometryWriter } from '../../../../query/geometry/encoding/ewkb-writer.ts'
import { createReader } from '../engine/create-reader.ts'
import { featureIdName } from '../engine/feature-ids.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import { kindsOfNoted, notedField, writeNoted } from '../engine/noted-values.ts'
import type { Reading, RecordField } from '../engine/reading.ts'
import { fieldsOf } from '../engine/records.ts'
import { closeTextWindow, fillTextWindow, openTextWindow, shareRead } from '../engine/text-window.ts'
import { fieldIndex, fieldTypeOf, kind } from '../engine/type-inference.ts'
import { createItemState, readOn } from '../json/items.ts'
import { layerNameOf, type Reader, type Warning } from '../reader.ts'
import { sridOfCrs } from './crs.ts'
import { createFeature, idSlot } from './feature.ts'
import { featureFormat } from './file.ts'
import { createIdKinds } from './id-twins.ts'
import { kindsOfValue, notedText, writeToken } from './values.ts'

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
    open: () => readFeatures(file, options),
    rules,
  })
}

function readFeatures(
  file: string,
  { warnings = [], window: size = windowBytes, isFast = true }: GeoJsonOptions,
): Reading {
  const window = openTextWindow(file, size)
  const feature = createFeature(createGeometryWriter(), isFast)
  const { names } = feature.fields
  let crs: unknown
  let note: TableNote | undefined
  const noted: NotedColumn[] = []
  const takeMember = (member: string, value: unknown): void => {
    if (member === 'crs') crs = value
    else if (names.length === 0) {
      note = parseNote(JSON.stringify(value))
      for (const column of note?.columns ?? []) noted[fieldIndex(feature.fields, column.name)] = column
    }
  }
  const state = createItemState(window, featureFormat(feature, takeMember))
  const kindsOfId = createIdKinds(window, feature)
  const places = [idSlot]
  return {
    places,
    next(writer) {
      feature.geometry = writer
      if (!readOn(state)) return undefined
      while (places.length <= names.length) places.push(places.length - 1)
      return feature.shape
    },
    fill: async () => fillTextWindow(window),
    kindsOf(place, seen) {
      if (place === idSlot) return kindsOfId(seen)
      const column = noted[place]
      if (!column) return kindsOfValue(window, feature, place, seen)
      return seen & kind.text ? kind.text : kindsOfNoted(notedText(window, feature, place, column), column)
    },
    write(rows, place, type) {
      const column = noted[place]
      if (column) writeNoted(rows, type, notedText(window, feature, place, column), column)
      else writeToken(rows, window, feature, place, type)
    },
    fields: (kinds) => [
      ...fieldsOf(names, kinds).map((field) => {
        const column = noted[field.place]
        return column ? notedField(column, field.place, kinds[field.place] ?? 0) : field
      }),
      ...idFields(names, kinds),
    ],
    progress: () => shareRead(window),
    facts: () => ({ srid: sridOfCrs(crs), warnings, note, isSpatial: !note || note.geometry !== undefined }),
    close: async () => closeTextWindow(window),
  }
}

/** The ids of the features are one more field, where there are any. */
function idFields(names: readonly string[], kinds: ArrayLike<number>): RecordField[] {
  const idKinds = kinds[idSlot] ?? kind.none
  return idKinds === kind.none ? [] : [{ name: featureIdName(names), place: idSlot, type: fieldTypeOf(idKinds) }]
}
