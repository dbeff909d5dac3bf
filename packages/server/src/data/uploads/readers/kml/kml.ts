import { type NotedColumn, noteName, parseNote, type TableNote } from '../../../../query/formats/table-note.ts'
import { createReader } from '../engine/create-reader.ts'
import { featureIdKey } from '../engine/feature-ids.ts'
import type { RowRules } from '../engine/impossible-rows.ts'
import type { Reading } from '../engine/reading.ts'
import { readRecords, type SourceRecord } from '../engine/records.ts'
import {
  createFieldList,
  type FieldList,
  fieldIndex,
  kind,
  kindsOfString,
  kindsOfText,
} from '../engine/type-inference.ts'
import { layerNameOf, type Reader } from '../reader.ts'
import { readXml, type XmlVisitor } from '../xml/xml.ts'
import { closedGeometry, isGeometryElement, type OpenGeometry, positionsOf } from './geometry.ts'

/** KML: all placemarks are one layer, the folders that they lie in are a field. Nothing that it links to is fetched. */
export function openKml(file: string, options: { fileName: string } & RowRules): Reader {
  return createReader({
    format: 'kml',
    layers: [layerNameOf(options.fileName)],
    open: (_, { signal }) => readKml(file, signal),
    rules: options,
  })
}

/** Every placemark repeats the names of its folders. */
const maxFolderLength = 1_000

const alwaysText = new Set(['name', 'description', 'folder'])

function readKml(file: string, signal: AbortSignal): Reading {
  const fields = createFieldList()
  /** Fields that a schema declares as text: numbers in them are text, dates are dates. */
  const texts = new Set<string>()
  const noted: Noted = { note: undefined, columns: [] }
  return readRecords({
    fields,
    batches: readXml(file, createVisitor(fields, texts, noted), signal),
    noted: (place) => noted.columns[place],
    kindsOf: (value, field) => {
      if (Array.isArray(value)) return kind.json
      if (typeof value !== 'string') return kind.none
      const name = fields.names[field] ?? ''
      if (alwaysText.has(name)) return kind.text
      return texts.has(name) ? kindsOfString(value) : kindsOfText(value)
    },
    facts: () => ({
      warnings: [],
      isSpatial: noted.note === undefined || noted.note.geometry !== undefined,
      note: noted.note,
    }),
  })
}

/** What one of our own exports says of its columns, and by the places of their fields. */
type Noted = { note: TableNote | undefined; columns: NotedColumn[] }

type Placemark = {
  values: unknown[]
  geometry: SourceRecord['geometry']
  /** Of the positions of its tracks. */
  times: string[][]
}

type State = {
  fields: FieldList
  texts: Set<string>
  noted: Noted
  path: string[]
  folders: string[]
  placemark: Placemark | undefined
  open: OpenGeometry[]
  dataName: string
  text: string
  records: SourceRecord[]
}

function createVisitor(fields: FieldList, texts: Set<string>, noted: Noted): XmlVisitor<SourceRecord> {
  const state: State = {
    fields,
    texts,
    noted,
    path: [],
    folders: [],
    placemark: undefined,
    open: [],
    dataName: '',
    text: '',
    records: [],
  }
  return {
    onOpen(name, attributes) {
      state.path.push(name)
      openElement(state, name, attributes)
    },
    onClose(name, text) {
      state.path.pop()
      state.text = text
      if (state.placemark) closeInPlacemark(state, state.placemark, name)
      else closeOutside(state, name)
    },
    take: () => state.records.splice(0),
    isInFeature: () => state.placemark !== undefined,
  }
}

function openElement(state: State, name: string, attributes: Readonly<Record<string, string>>): void {
  if (name === 'Folder') state.folders.push('')
  else if (name === 'Placemark') openPlacemark(state, attributes.id?.trim() ?? '')
  else if (name === 'SimpleField') declareField(state, attributes)
  else if (name === 'Data' || name === 'SimpleData' || name === 'SimpleArrayData')
    state.dataName = attributes.name ?? ''
  else if (name === 'Track') state.placemark?.times.push([])
  if (state.placemark && isGeometryElement(name)) state.open.push({ element: name, parts: [], positions: [] })
}

function openPlacemark(state: State, id: string): void {
  state.placemark = { values: [], geometry: null, times: [] }
  if (id !== '' && !state.noted.note) state.placemark.values[fieldIndex(state.fields, featureIdKey)] = id
}

function declareField({ texts }: State, { name, type }: Readonly<Record<string, string>>): void {
  if (name !== undefined && /^(xsd:)?string$/i.test(type ?? '')) texts.add(name)
}

function closeOutside(state: State, name: string): void {
  if (name === 'Folder') state.folders.pop()
  else if (name === 'value' && state.dataName === noteName && state.fields.names.length === 0) takeNote(state)
  else if (name === 'name' && state.path.at(-1) === 'Folder')
    state.folders[state.folders.length - 1] = state.text.trim().slice(0, maxFolderLength)
}

function takeNote({ fields, noted, text }: State): void {
  noted.note = parseNote(text)
  for (const column of noted.note?.columns ?? []) noted.columns[fieldIndex(fields, column.name)] = column
}

/** Direct children of a placemark that become fields. */
const plainFields = new Set(['name', 'description', 'address', 'phoneNumber', 'Snippet'])
const timeFields = new Map([
  ['when', 'time'],
  ['begin', 'begin'],
  ['end', 'end'],
])

function closeInPlacemark(state: State, placemark: Placemark, name: string): void {
  const parent = state.path.at(-1) ?? ''
  if (name === 'Placemark') closePlacemark(state, placemark)
  else if (name === 'coordinates' || name === 'coord') addPositions(state, placemark, name)
  else if (isGeometryElement(name)) closeGeometry(state, placemark)
  else if (state.noted.note) setNoted(state, placemark, name)
  else if (name === 'value' || name === 'SimpleData') closeData(state, placemark, name, parent)
  else if (name === 'when' && parent === 'Track') placemark.times.at(-1)?.push(state.text.trim())
  else if (parent === 'Placemark' && plainFields.has(name)) setValue(state, placemark, name)
  else if (parent === 'TimeStamp' || parent === 'TimeSpan') setValue(state, placemark, timeFields.get(name) ?? '')
}

function setValue({ fields, text }: State, placemark: Placemark, field: string): void {
  const value = text.trim()
  if (field !== '' && value !== '') placemark.values[fieldIndex(fields, field)] = value
}

/** All values are in SimpleData, as they are; other elements repeat them. */
function setNoted({ fields, text, dataName }: State, placemark: Placemark, name: string): void {
  if (name === 'SimpleData') placemark.values[fieldIndex(fields, dataName)] = text
}

function closeData(state: State, placemark: Placemark, name: string, parent: string): void {
  if (parent === 'SimpleArrayData') addToArray(state, placemark)
  else if (parent === 'Data' || name === 'SimpleData') setValue(state, placemark, state.dataName)
}

/** Values that were measured along a track. */
function addToArray({ fields, text, dataName }: State, placemark: Placemark): void {
  if (dataName === '') return
  const place = fieldIndex(fields, dataName)
  const values = placemark.values[place]
  if (Array.isArray(values)) values.push(text.trim())
  else placemark.values[place] = [text.trim()]
}

/** All times of tracks, one for each position, and the first and the last as fields that can be filtered. */
function keepTimes({ fields }: State, { values, times }: Placemark): void {
  const all = times.flat().filter((time) => time !== '')
  if (all.length === 0) return
  values[fieldIndex(fields, 'begin')] ??= all[0]
  values[fieldIndex(fields, 'end')] ??= all.at(-1)
  values[fieldIndex(fields, 'times')] ??= times.length === 1 ? times[0] : times
}

function addPositions(state: State, placemark: Placemark, name: string): void {
  const open = state.open.at(-1)
  const positions = positionsOf(name === 'coord' ? state.text.trim().split(/\s+/).join(',') : state.text)
  if (!open) return
  if (positions === undefined) placemark.geometry = 'invalid'
  else for (const position of positions) open.positions.push(position)
}

function closeGeometry(state: State, placemark: Placemark): void {
  const open = state.open.pop()
  if (!open) return
  const geometry = closedGeometry(open)
  const parent = state.open.at(-1)
  if (parent) parent.parts.push(geometry)
  // Broken coordinates spoil all of it.
  else if (placemark.geometry === null) placemark.geometry = geometry
}

function closePlacemark(state: State, placemark: Placemark): void {
  if (!state.noted.note) keepTimes(state, placemark)
  const folder = state.folders
    .filter((name) => name !== '')
    .join('/')
    .slice(0, maxFolderLength)
  if (folder !== '' && !state.noted.note) placemark.values[fieldIndex(state.fields, 'folder')] = folder
  state.records.push({ values: placemark.values, geometry: placemark.geometry })
  state.placemark = undefined
  state.open = []
}
