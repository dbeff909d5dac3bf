import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A file to upload, and how many times faster than ogr2ogr it is to be loaded. */
export type UploadFile = {
  readonly path: string
  readonly name: string
  readonly features: number
  readonly wanted: number
}

type Kind = 'points' | 'areas'

export async function makeGeoJson(directory: string, kind: Kind, features: number): Promise<UploadFile> {
  const path = join(directory, `${kind}.geojson`)
  const texts = kind === 'points' ? pointFeatures(features) : areaFeatures(features)
  await pipeline(Readable.from(collection(texts)), createWriteStream(path))
  return { path, name: `${kind}.geojson`, features, wanted: kind === 'points' ? 4 : 5 }
}

/** With a key of its own, which becomes that of its table. */
export async function makePointsCsv(directory: string, features: number): Promise<UploadFile> {
  const path = join(directory, `points-${features}.csv`)
  await pipeline(
    Readable.from(inPieces('fid,lon,lat,name,kind,pop,height\n', pointLines(features))),
    createWriteStream(path),
  )
  return { path, name: `points-${features}.csv`, features, wanted: 1.5 }
}

function* pointLines(count: number): Generator<string> {
  let fid = 0
  for (const { properties, x, y } of pointRecords(count))
    yield `${++fid},${x},${y},${properties.name},${properties.kind},${properties.pop},${properties.height}\n`
}

/** The features of a GeoJSON file in each of the other formats. */
export async function convertFile(directory: string, kind: Kind, source: UploadFile): Promise<UploadFile[]> {
  const { features } = source
  const csv = join(directory, `${kind}.csv`)
  convert(source.path, csv, 'CSV', ['-lco', kind === 'points' ? 'GEOMETRY=AS_XY' : 'GEOMETRY=AS_WKT'])
  await zipShapefile(source.path, directory, kind)
  const geopackage = join(directory, `${kind}.gpkg`)
  convert(source.path, geopackage, 'GPKG')
  return [
    { path: csv, name: `${kind}.csv`, features, wanted: 1.5 },
    { path: join(directory, `${kind}.zip`), name: `${kind}.zip (Shapefile)`, features, wanted: 1.5 },
    { path: geopackage, name: `${kind}.gpkg`, features, wanted: 1 },
  ]
}

function convert(source: string, file: string, format: string, options: readonly string[] = []): void {
  execFileSync('ogr2ogr', ['-f', format, file, source, ...options], { stdio: 'ignore' })
}

async function zipShapefile(source: string, directory: string, name: string): Promise<void> {
  convert(source, join(directory, `${name}.shp`), 'ESRI Shapefile')
  const endings = new Set(['shp', 'shx', 'dbf', 'prj', 'cpg'].map((ending) => `${name}.${ending}`))
  const parts = (await readdir(directory)).filter((file) => endings.has(file))
  execFileSync('zip', ['-q', '-1', `${name}.zip`, ...parts], { cwd: directory })
  for (const part of parts) await rm(join(directory, part))
}

/** The same numbers each time. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function* collection(features: Iterable<string>): Generator<string> {
  yield* inPieces('{"type":"FeatureCollection","features":[\n', separated(features))
  yield '\n]}\n'
}

function* separated(features: Iterable<string>): Generator<string> {
  let isFirst = true
  for (const feature of features) {
    yield isFirst ? feature : `,\n${feature}`
    isFirst = false
  }
}

/** Of many texts each: one at a time would take longer to write than to load. */
function* inPieces(begin: string, texts: Iterable<string>): Generator<string> {
  let piece = begin
  for (const text of texts) {
    piece += text
    if (piece.length < 100_000) continue
    yield piece
    piece = ''
  }
  yield piece
}

export type PointRecord = { readonly properties: Record<string, unknown>; readonly x: string; readonly y: string }

/** Points with their properties, the same each time. */
export function* pointRecords(count: number): Generator<PointRecord> {
  const random = createRandom()
  for (let n = 0; n < count; n++) {
    const properties = {
      id: n,
      name: `Place ${n}`,
      kind: ['a', 'b', 'c'][n % 3],
      pop: Math.floor(random() * 1e6),
      height: Math.round(random() * 3e5) / 100,
      open: n % 2 === 0,
      since: `20${10 + (n % 15)}-0${1 + (n % 9)}-1${n % 10}`,
      note: `some words about it ${n % 1000}`,
    }
    yield { properties, x: ordinate(random() * 360 - 180), y: ordinate(random() * 170 - 85) }
  }
}

function* pointFeatures(count: number): Generator<string> {
  for (const { properties, x, y } of pointRecords(count)) yield feature(properties, 'Point', `[${x},${y}]`)
}

function* areaFeatures(count: number): Generator<string> {
  const random = createRandom()
  for (let n = 0; n < count; n++) {
    const [x, y, size] = [random() * 340 - 170, random() * 160 - 80, 40 + Math.floor(random() * 21)]
    const ring = Array.from({ length: size }, (_, corner) => {
      const angle = (corner / size) * 2 * Math.PI
      return position(x + Math.cos(angle) * 0.01, y + Math.sin(angle) * 0.01)
    })
    const properties = { id: n, name: `Area ${n}`, value: Math.round(random() * 1e5) / 1000 }
    yield feature(properties, 'Polygon', `[[${[...ring, ring[0]].join(',')}]]`)
  }
}

const ordinate = (degrees: number): string => degrees.toFixed(7)

const position = (x: number, y: number): string => `[${ordinate(x)},${ordinate(y)}]`

function feature(properties: object, type: string, coordinates: string): string {
  return `{"type":"Feature","properties":${JSON.stringify(properties)},"geometry":{"type":"${type}","coordinates":${coordinates}}}`
}
