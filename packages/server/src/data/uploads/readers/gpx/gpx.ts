import { createReadStream } from 'node:fs'
import { createReader } from '../engine/create-reader.ts'
import type { Reading } from '../engine/reading.ts'
import { readRecords, type SourceRecord } from '../engine/records.ts'
import { createFieldList, type FieldList, fieldIndex, kind, kindsOfText } from '../engine/type-inference.ts'
import type { Reader } from '../reader.ts'
import { readXml, type XmlVisitor } from '../xml/xml.ts'
import { createHeights, type Heights, heightFacts, noteHeights } from './heights.ts'
import { addPointValue, createPointValues, leftOutWarnings, type PointValues, pointFields } from './point-values.ts'

const layerElements = { waypoints: 'wpt', routes: 'rte', tracks: 'trk' } as const

type LayerName = keyof typeof layerElements

/** GPX: its waypoints, routes and tracks, each a layer where there are any; without all of them it has no waypoints. */
export async function openGpx(file: string, { signal }: { signal: AbortSignal }): Promise<Reader> {
  const present = await elementsIn(file, signal)
  const layers = (Object.keys(layerElements) as LayerName[]).filter((layer) => present.has(layerElements[layer]))
  return createReader({
    format: 'gpx',
    layers: layers.length > 0 ? layers : ['waypoints'],
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
  const leftOut = { count: 0 }
  return readRecords({
    fields,
    batches: readXml(file, createVisitor(fields, element, heights, leftOut), signal),
    kindsOf: (value, field) => {
      if (typeof value !== 'string') return Array.isArray(value) ? kind.json : kind.none
      return texts.has(fields.names[field] ?? '') ? kind.text : kindsOfText(value)
    },
    facts: () => {
      const { isFlat, warnings } = heightFacts(heights)
      return { isFlat, isSpatial: true, warnings: [...warnings, ...leftOutWarnings(leftOut.count)] }
    },
  })
}

type LeftOut = { count: number }
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
  pointValues: PointValues
  leftOut: LeftOut
  text: string
  hasChild: boolean
  records: SourceRecord[]
}

const points = new Set(['wpt', 'rtept', 'trkpt'])

function createVisitor(
  fields: FieldList,
  element: string,
  heights: Heights,
  leftOut: LeftOut,
): XmlVisitor<SourceRecord> {
  const state: State = {
    fields,
    heights,
    element,
    path: [],
    values: undefined,
    lines: [],
    position: undefined,
    times: [],
    pointValues: createPointValues(),
    leftOut,
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
    state.pointValues = createPointValues()
    if (name === 'rte') state.pointValues.lines.push(new Map())
  }
  if (!state.values) return
  if (name === 'trkseg') {
    state.lines.push([])
    state.pointValues.lines.push(new Map())
  }
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
    if (position) setOfPoint(state, position, name)
    if (isField(state, name)) setValue(state, values, name, state.text)
  }
}

function setOfPoint(state: State, position: Position, name: string): void {
  const text = state.text.trim()
  if (name === 'ele') addHeight(position, text)
  else if (name === 'time') position.time = text
  if (isInPointOfLine(state) && !state.hasChild && name !== 'ele')
    addPointValue(state.pointValues, state.lines.at(-1)?.length ?? 0, name, text)
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
    keepPointValues(state, values)
  }
  state.records.push({ values, geometry: geometryOf(state) })
  state.values = undefined
  state.position = undefined
}

/** Of the lines that are drawn, or of all where none is. */
function keepPointValues({ lines, pointValues, fields, leftOut }: State, values: unknown[]): void {
  const drawn = lines.flatMap((line, index) => (line.length > 1 ? [index] : []))
  const chosen = drawn.length > 0 ? drawn : [...lines.keys()]
  const kept = { ...pointValues, lines: chosen.map((index) => pointValues.lines[index] ?? new Map()) }
  for (const [name, list] of pointFields(
    kept,
    chosen.map((index) => lines[index]?.length ?? 0),
  ))
    values[fieldIndex(fields, name)] = list
  leftOut.count += pointValues.leftOut
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
