import { readFile, stat } from 'node:fs/promises'
import { feature } from 'topojson-client'
import type { GeometryObject, Topology } from 'topojson-specification'
import type { LooseGeometry } from '../../../../query/geometry/encoding/geojson-ewkb.ts'
import { createReader } from '../engine/create-reader.ts'
import { featureIdKey } from '../engine/feature-ids.ts'
import type { Reading } from '../engine/reading.ts'
import { type RecordBatch, readRecords, type SourceRecord } from '../engine/records.ts'
import { createFieldList, type FieldList, fieldIndex, kindsOfValue } from '../engine/type-inference.ts'
import { parseExactJson } from '../json/exact-json.ts'
import { type Reader, ReadFault, type Warning } from '../reader.ts'

/** Arcs are shared by all features, so that the file must lie in memory as a whole. */
const maxTopologyBytes = 32 * 1024 * 1024
/** A few bytes of TopoJSON can stand for any number of positions. */
const maxPositions = { feature: 2_000_000, layer: 50_000_000 }

/** TopoJSON in UTF-8; each of its objects is a layer. */
export async function openTopoJson(
  file: string,
  { warnings = [] }: { warnings?: readonly Warning[] } = {},
): Promise<Reader> {
  const { size } = await stat(file)
  if (size > maxTopologyBytes) {
    throw new ReadFault(
      'feature_too_large',
      `TopoJSON larger than ${maxTopologyBytes} bytes is not supported. Export the data as GeoJSON.`,
    )
  }
  const topology = parseTopology(await readFile(file, 'utf8'))
  const layers = Object.keys(topology.objects)
  if (layers.length === 0) throw new ReadFault('no_features', 'There are no objects in the TopoJSON.')
  return createReader({
    format: 'topojson',
    layers,
    open: (layer, { signal }) => readObject(topology, layer, warnings, signal),
  })
}

function parseTopology(text: string): Topology {
  const value = parseJson(text.replace(/^\ufeff/, ''))
  const isTopology =
    isObject(value) &&
    value.type === 'Topology' &&
    isObject(value.objects) &&
    Array.isArray(value.arcs) &&
    value.arcs.every(Array.isArray)
  if (!isTopology) throw new ReadFault('invalid_file', 'The TopoJSON has no objects or no arcs.')
  return value as unknown as Topology
}

function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    const isCut = error instanceof SyntaxError && /end of JSON input|Unterminated/.test(error.message)
    throw isCut
      ? new ReadFault('truncated', 'The file ends in the middle of the JSON.', {}, error)
      : new ReadFault('invalid_json', 'The JSON is not valid.', {}, error)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readObject(topology: Topology, layer: string, warnings: readonly Warning[], signal: AbortSignal): Reading {
  const fields = createFieldList()
  return readRecords({
    fields,
    kindsOf: kindsOfValue,
    batches: batchesOf(topology, layer, fields, signal),
    facts: () => ({ warnings, isSpatial: true }),
  })
}

const batchSize = 500

async function* batchesOf(
  topology: Topology,
  layer: string,
  fields: FieldList,
  signal: AbortSignal,
): AsyncGenerator<RecordBatch> {
  const object: unknown = topology.objects[layer]
  const geometries: unknown[] = isObject(object) && Array.isArray(object.geometries) ? object.geometries : [object]
  let left = maxPositions.layer
  for (let index = 0; index < geometries.length; index += batchSize) {
    signal.throwIfAborted()
    const records = geometries.slice(index, index + batchSize).map((geometry, offset) => {
      const count = positionsOf(topology, geometry)
      left -= count
      if (count > maxPositions.feature || left < 0) {
        const message = 'The TopoJSON has too many positions. Export the data as GeoJSON.'
        throw new ReadFault('feature_too_large', message, { feature: index + offset + 1, layer })
      }
      return recordOf(topology, geometry, fields)
    })
    yield { records, fraction: (index + batchSize) / geometries.length }
  }
}

function recordOf(topology: Topology, geometry: unknown, fields: FieldList): SourceRecord {
  const values: unknown[] = []
  if (!isObject(geometry)) return { values, geometry: 'invalid' }
  if (isObject(geometry.properties)) {
    for (const [name, value] of Object.entries(geometry.properties)) values[fieldIndex(fields, name)] = value
  }
  if (geometry.id !== undefined) values[fieldIndex(fields, featureIdKey)] = geometry.id
  return { values, geometry: geometryOf(topology, geometry) }
}

function geometryOf(topology: Topology, geometry: Record<string, unknown>): SourceRecord['geometry'] {
  if (geometry.type === null || geometry.type === undefined) return null
  try {
    const made: unknown = feature(topology, { ...geometry, properties: {} } as unknown as GeometryObject)
    if (!isObject(made)) return 'invalid'
    if (made.type !== 'FeatureCollection') return made.geometry as LooseGeometry
    const parts = made.features as { geometry: LooseGeometry }[]
    return { type: 'GeometryCollection', geometries: parts.map((part) => part.geometry) }
  } catch (error) {
    // An arc that is not there, or nesting beyond all measure.
    if (error instanceof TypeError || error instanceof RangeError) return 'invalid'
    throw error
  }
}

/** How many positions a geometry has when its arcs are put in. */
function positionsOf({ arcs }: Topology, geometry: unknown): number {
  const waiting: unknown[] = [geometry]
  let count = 0
  while (waiting.length > 0 && count <= maxPositions.feature) {
    const inner = waiting.pop()
    if (typeof inner === 'number') count += arcs[inner < 0 ? ~inner : inner]?.length ?? 0
    else for (const part of partsOf(inner)) waiting.push(part)
  }
  return count
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? [value.arcs, value.geometries] : []
}
