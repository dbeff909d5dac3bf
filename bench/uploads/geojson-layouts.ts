import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pointRecords, type UploadFile } from './upload-files.ts'

type Properties = Readonly<Record<string, unknown>>
type Point = { readonly n: number; readonly properties: Properties; readonly x: string; readonly y: string }

/** How a program writes GeoJSON: what stands before the features, each of them, and what between and behind them. */
type Layout = { readonly name: string; readonly head: string; write(point: Point): string; readonly tail?: string }

const collection = '{"type":"FeatureCollection","features":[\n'

/** One record as each of these programs writes it; the values are the same. */
const layouts: readonly Layout[] = [
  { name: 'JSON.stringify', head: collection, write: (point) => compact(point.properties, point) },
  {
    name: 'ogr2ogr, QGIS',
    head: '{\n"type": "FeatureCollection",\n"name": "points",\n"crs": { "type": "name", "properties": { "name": "urn:ogc:def:crs:OGC:1.3:CRS84" } },\n"features": [\n',
    write: ({ properties, x, y }) =>
      `{ "type": "Feature", "properties": { ${spaced(properties)} }, "geometry": { "type": "Point", "coordinates": [ ${x}, ${y} ] } }`,
  },
  {
    name: 'GeoPandas',
    head: '{"type": "FeatureCollection", "features": [',
    write: ({ n, properties, x, y }) =>
      `{"id": "${n}", "type": "Feature", "properties": {${spaced(properties)}}, "geometry": {"type": "Point", "coordinates": [${x}, ${y}]}}`,
  },
  {
    name: 'PostGIS, ST_AsGeoJSON(record)',
    head: '{"type" : "FeatureCollection", "features" : [',
    write: ({ properties, x, y }) =>
      `{"type": "Feature", "geometry": {"type":"Point","coordinates":[${x},${y}]}, "properties": {${spaced(properties)}}}`,
  },
  {
    name: 'Mapshaper',
    head: '{"type":"FeatureCollection", "features": [\n',
    write: ({ properties, x, y }) =>
      `{"type":"Feature","geometry":{"type":"Point","coordinates":[${x},${y}]},"properties":${JSON.stringify(properties)}}`,
  },
  {
    name: 'jq',
    head: '{\n  "type": "FeatureCollection",\n  "features": [\n',
    write: (point) => indented(JSON.parse(compact(point.properties, point)), 2),
  },
  {
    name: 'Windows, CRLF and tabs',
    head: '{\r\n\t"type": "FeatureCollection",\r\n\t"features": [\r\n',
    write: (point) => indented(JSON.parse(compact(point.properties, point)), '\t').replaceAll('\n', '\r\n'),
  },
  {
    name: 'osmtogeojson, other tags each time',
    head: '{\n  "type": "FeatureCollection",\n  "generator": "overpass-ide",\n  "features": [\n',
    write: (point) => {
      const feature = JSON.parse(compact(tagged(point), point))
      return indented(
        {
          type: feature.type,
          properties: feature.properties,
          geometry: feature.geometry,
          id: `node/${point.n}`,
        },
        2,
      )
    },
  },
  {
    name: 'foreign members, type last',
    head: collection,
    write: ({ n, properties, x, y }) =>
      `{"bbox":[${x},${y},${x},${y}],"geometry":{"coordinates":[${x},${y}],"type":"Point"},"id":${n},"properties":${JSON.stringify(properties)},"tippecanoe":{"minzoom":${n % 9}},"type":"Feature"}`,
  },
  {
    name: 'Python, text escaped',
    head: '{"type": "FeatureCollection", "features": [',
    write: ({ properties, x, y }) =>
      `{"type": "Feature", "properties": {${spaced({ ...properties, name: `Zürich ${String(properties.name)}` }).replaceAll('ü', '\\u00fc')}}, "geometry": {"type": "Point", "coordinates": [${x}, ${y}]}}`,
  },
]

const compact = (properties: Properties, { x, y }: Point): string =>
  `{"type":"Feature","properties":${JSON.stringify(properties)},"geometry":{"type":"Point","coordinates":[${x},${y}]}}`

const spaced = (properties: Properties): string =>
  Object.entries(properties)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')

const indented = (feature: object, by: number | string): string => JSON.stringify(feature, null, by)

/** Not all have all: seven of eight properties, and none of the same three hundred kinds of them next to each other. */
function tagged({ n, properties }: Point): Properties {
  const kept = Object.entries(properties).filter((_, index) => (n * 2_654_435_761) & (1 << (index + 8)))
  return { '@id': `node/${n}`, ...Object.fromEntries(kept) }
}

/** The same points as each of these programs writes them. */
export async function makeLayoutFiles(directory: string, count: number): Promise<UploadFile[]> {
  const files: UploadFile[] = []
  for (const [index, layout] of layouts.entries()) {
    const path = join(directory, `layout-${index}.geojson`)
    await pipeline(Readable.from(textOf(layout, count)), createWriteStream(path))
    files.push({ path, name: `GeoJSON as of ${layout.name}`, features: count, wanted: 4 })
  }
  return files
}

function* textOf({ head, write }: Layout, count: number): Generator<string> {
  const between = head.endsWith('\n') ? ',\n' : ', '
  let text = head
  let n = 0
  for (const record of pointRecords(count)) {
    text += (n > 0 ? between : '') + write({ n: n++, ...record })
    if (text.length < 100_000) continue
    yield text
    text = ''
  }
  yield `${text}\n]}\n`
}
