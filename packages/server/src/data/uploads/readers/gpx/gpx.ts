import { createReadStream } from 'node:fs'
import { createReader } from '../engine/create-reader.ts'
import type { Reading } from '../engine/reading.ts'
import { readRecords, type SourceRecord } from '../engine/records.ts'
import { createFieldList, type FieldList, fieldIndex, kind, kindsOfText } from '../engine/type-inference.ts'
import { type Reader, ReadFault } from '../reader.ts'
import { readXml, type XmlVisitor } from '../xml/xml.ts'
import { createHeights, type Heights, heightFacts, noteHeights } from './heights.ts'

const layerElements = { waypoints: 'wpt', routes: 'rte', tracks: 'trk' } as const

type LayerName = keyof typeof layerElements

/** GPX: its waypoints, routes and tracks, each a layer where there are any. */
export async function openGpx(file: string, { signal }: { signal: AbortSignal }): Promise<Reader> {
  const present = await elementsIn(file, signal)
  const layers = (Object.keys(layerElements) as LayerName[]).filter((layer) => present.has(layerElements[layer]))
  if (layers.length === 0) throw new ReadFault('no_features', 'There are no waypoints, routes or tracks in the file.')
  return createReader({
    format: 'gpx',
    layers,
    open: (layer, options) => readGpx(file, layerElements[layer as LayerName], options.signal),
  })
}

async function elementsIn(file: string, signal: AbortSignal): Promise<Set<string>> {
  const names = new Set<string>()
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 256 * 1024, signal })) {
    // UTF-16 has a NUL in every character of these names.
    const text = (rest + chunk).replaceAll('\0', '')
    for (const match of text.matchAll(/<(?:\w+:)?(wpt|rte|trk)[\s>]/g)) names.add(match[1] ?? '')
    if (names.size === 3) break
    rest = text.slice(-40)
  }
  return names
}

const texts = new Set(['name', 'cmt', 'desc', 'src', 'sym', 'type', 'link'])

function readGpx(file: string, element: string, signal: AbortSignal): Reading {
  const fields = createFieldList()
  const heights = createHeights()
  return readRecords({
    fields,
    batches: readXml(file, createVisitor(fields, element, heights), signal),
    kindsOf: (value, field) => {
      if (typeof value !== 'string') return kind.none
      return texts.has(fields.names[field] ?? '') ? kind.text : kindsOfText(value)
    },
    facts: () => heightFacts(heights),
  })
}

type Position = { at: number[]; time: string }

type State = {
  fields: FieldList
  heights: Heights
  element: string
  path: string[]
  values: unknown[] | undefined
  /** The lines of a track, or the one of a route. */
  lines: number[][][]
  position: Position | undefined
  times: string[]
  text: string
  hasChild: boolean
  records: SourceRecord[]
}

const points = new Set(['wpt', 'rtept', 'trkpt'])

function createVisitor(fields: FieldList, element: string, heights: Heights): XmlVisitor<SourceRecord> {
  const state: State = {
    fields,
    heights,
    element,
    path: [],
    values: undefined,
    lines: [],
    position: undefined,
    times: [],
    text: '',
    hasChild: false,
    records: [],
  }
  return {
    onOpen(name, attributes) {
      state.path.push(name)
      state.hasChild = false
      openElement(state, name, attributes)
    },
    onClose(name, text) {
      state.path.pop()
      state.text = text
      if (state.values) closeElement(state, state.values, name)
      state.hasChild = true
    },
    take: () => state.records.splice(0),
    isInFeature: () => state.values !== undefined,
  }
}

function openElement(state: State, name: string, attributes: Readonly<Record<string, string>>): void {
  if (name === state.element && state.path.length === 2) {
    state.values = []
    state.lines = name === 'rte' ? [[]] : []
    state.times = []
  }
  if (!state.values) return
  if (name === 'trkseg') state.lines.push([])
  if (points.has(name)) state.position = { at: [ordinateOf(attributes.lon), ordinateOf(attributes.lat)], time: '' }
  if (name === 'link' && !isInPointOfLine(state)) setValue(state, state.values, 'link', attributes.href ?? '')
}

function ordinateOf(text: string | undefined): number {
  return text === undefined || text.trim() === '' ? Number.NaN : Number(text)
}

/** Inside a point of a route or track, whose own fields are not those of the line. */
function isInPointOfLine(state: State): boolean {
  return state.element !== 'wpt' && state.position !== undefined
}

function closeElement(state: State, values: unknown[], name: string): void {
  const { position } = state
  if (name === state.element && state.path.length === 1) closeRecord(state, values)
  else if (position && (name === 'rtept' || name === 'trkpt')) closePosition(state, position)
  else {
    if (position && name === 'ele') addHeight(position, state.text)
    if (position && name === 'time') position.time = state.text.trim()
    if (isField(state, name)) setValue(state, values, name, state.text)
  }
}

function isField(state: State, name: string): boolean {
  if (state.hasChild || isInPointOfLine(state)) return false
  return name !== 'link' && name !== 'trkseg' && !state.path.includes('link')
}

function addHeight(position: Position, text: string): void {
  const height = ordinateOf(text)
  if (Number.isFinite(height) && position.at.length === 2) position.at.push(height)
}

function closePosition(state: State, position: Position): void {
  state.lines.at(-1)?.push(position.at)
  if (position.time !== '') {
    if (state.times.length === 2) state.times[1] = position.time
    else state.times.push(position.time)
  }
  state.position = undefined
}

function setValue({ fields }: State, values: unknown[], field: string, text: string): void {
  const value = text.trim()
  if (value !== '') values[fieldIndex(fields, field)] = value
}

function closeRecord(state: State, values: unknown[]): void {
  if (state.element !== 'wpt') {
    setValue(state, values, 'start_time', state.times[0] ?? '')
    setValue(state, values, 'end_time', state.times.at(-1) ?? '')
  }
  state.records.push({ values, geometry: geometryOf(state) })
  state.values = undefined
  state.position = undefined
}

function geometryOf({ element, position, lines, heights }: State): SourceRecord['geometry'] {
  if (element === 'wpt') {
    if (!position) return 'invalid'
    noteHeights(heights, [[position.at]])
    return { type: 'Point', coordinates: position.at }
  }
  // A segment of one point is no line.
  const drawn = lines.filter((line) => line.length > 1)
  if (drawn.length === 0) return null
  noteHeights(heights, drawn)
  return element === 'rte'
    ? { type: 'LineString', coordinates: drawn[0] }
    : { type: 'MultiLineString', coordinates: drawn }
}
