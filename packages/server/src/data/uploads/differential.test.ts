import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  gdal,
  layersFor,
  type SourceFormat,
  virtualDataset,
  writeApart,
  writeLayers,
} from '../../../testing/uploads/source-layers.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'
import { ident, sql } from '../../kernel/db/sql.ts'

// One database is enough: ogr2ogr loads into PostgreSQL only.

const run = promisify(execFile)
const hasPostgres = process.env.TEST_DATABASE_URL !== undefined
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp({ UPLOADS_PER_APPLICATION: '3' })
  directory = await mkdtemp(join(tmpdir(), 'graticule-differential-'))
  if (hasPostgres) await uploads.app.db.script('CREATE SCHEMA ogr')
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

const compared: SourceFormat[] = ['geojson', 'geojsonseq', 'shapefile', 'geopackage', 'flatgeobuf', 'csv']
/** These have no place for the reference system. */
const isBare = new Set<SourceFormat>(['geojsonseq', 'csv'])
const isOneFile = new Set<SourceFormat>(['shapefile', 'geopackage'])
const layersInFile = 10

describe('what is uploaded equals what ogr2ogr loads', { skip: !hasPostgres, concurrency: 3 }, () => {
  for (const format of compared) {
    for (const layers of groupsFor(format)) {
      test(`${format}: ${layers.map(({ name }) => name).join(', ')}`, async () => {
        assert.deepEqual(await compare(format, layers), [])
      })
    }
  }
})

type Layer = ReturnType<typeof layersFor>[number]

/** Layers that go into one file, of one reference system where the client has to say it. */
function groupsFor(format: SourceFormat): Layer[][] {
  const alike = Map.groupBy(layersFor(format), ({ srid }) => (isBare.has(format) ? srid : 0))
  return [...alike.values()].flatMap((layers) =>
    Array.from({ length: Math.ceil(layers.length / layersInFile) }, (_, n) =>
      layers.slice(n * layersInFile, (n + 1) * layersInFile),
    ),
  )
}

type Written = { readonly place: string; readonly upload: string; fileOf(layer: Layer): string }

async function write(format: SourceFormat, layers: readonly Layer[]): Promise<Written> {
  const place = await mkdtemp(join(directory, `${format}-`))
  if (isOneFile.has(format)) {
    const file = await writeLayers(layers, format, place, 'all')
    return { place, upload: file, fileOf: () => file }
  }
  const files = await writeApart(layers, format, place)
  const upload = join(place, 'all.zip')
  await run('zip', ['-q', '-j', upload, ...files])
  return { place, upload, fileOf: (layer) => files[layers.indexOf(layer)] ?? '' }
}

/** In what the two differ. */
async function compare(format: SourceFormat, layers: readonly Layer[]): Promise<string[]> {
  const written = await write(format, layers)
  const srid = isBare.has(format) ? layers[0]?.srid : undefined
  const fields: Record<string, string> = srid === undefined ? {} : { sourceSrid: String(srid) }
  const done = await uploads.upload({ name: 'all', bytes: await readFile(written.upload) }, fields)
  if (done.status !== 'completed') return [JSON.stringify(done.error)]
  const theirs = await byOgr(format, layers, written, srid)
  const differences: string[] = []
  for (const layer of layers) {
    const { name } = layer
    const result = done.results.find((one: Result) => one.layer === name) ?? (layers.length === 1 && done.results[0])
    const table = theirs.get(layer)
    // Some layers are beyond ogr2ogr.
    if (table === undefined) continue
    if (result) differences.push(...(await differencesOf(`${format} ${name}:`, result, table)))
    else differences.push(`${format} ${name}: is missing`)
  }
  return differences
}

type Result = { layer: string; datasetId: string; tileSourceId: string | null }

async function differencesOf(prefix: string, { datasetId, tileSourceId }: Result, theirs: string): Promise<string[]> {
  const { body: dataset } = await uploads.call('GET', `/api/v1/datasets/${datasetId}`)
  const [counts] = await uploads.app.db.query<{ ours: number; theirs: number }>(sql`
    SELECT (SELECT count(*)::int4 FROM ${ident(uploads.schema, dataset.source)}) AS ours,
      (SELECT count(*)::int4 FROM ${ident('ogr', theirs)}) AS theirs`)
  if (counts?.ours !== counts?.theirs) return [`${prefix} ${counts?.ours} rows, not ${counts?.theirs}`]
  return tileSourceId === null ? [] : differentGeometries(prefix, dataset.source, theirs)
}

/** Singles and multis of one, and nothing and emptiness, are the same here. */
async function differentGeometries(prefix: string, ours: string, theirs: string): Promise<string[]> {
  const found = await uploads.app.db.query<{ fid: number; a: string; b: string }>(sql`
    WITH a AS (SELECT row_number() OVER (ORDER BY fid) AS n, ${shape('geom')} AS shape FROM ${ident(uploads.schema, ours)}),
      b AS (SELECT row_number() OVER (ORDER BY ogc_fid) AS n, ${shape('wkb_geometry')} AS shape FROM ${ident('ogr', theirs)})
    SELECT a.n AS fid, ST_AsText(a.shape) AS a, ST_AsText(b.shape) AS b FROM a JOIN b USING (n)
    WHERE ST_AsText(ST_SnapToGrid(a.shape, 0, 0, 1e-6, 1e-6)) IS DISTINCT FROM ST_AsText(ST_SnapToGrid(b.shape, 0, 0, 1e-6, 1e-6))
      AND coalesce(ST_HausdorffDistance(a.shape, b.shape), 1) > 1e-6`)
  return found.map(({ fid, a, b }) => `${prefix} feature ${fid} is ${a?.slice(0, 150)}, not ${b?.slice(0, 150)}`)
}

const shape = (column: string) =>
  sql`CASE WHEN NOT ST_IsEmpty(${ident(column)}) THEN ST_Multi(ST_Force2D(${ident(column)})) END`

/** The tables that ogr2ogr makes of the layers: of all in one call, or of each that it can load. */
async function byOgr(
  format: SourceFormat,
  layers: readonly Layer[],
  { place, fileOf }: Written,
  srid: number | undefined,
): Promise<Map<Layer, string>> {
  const tableOf = ({ name }: Layer): string => `${format}_${name}`
  const load = async (some: readonly Layer[], name: string): Promise<boolean> => {
    const virtual = join(place, `${name}.vrt`)
    const members = some.map((layer) => ({
      name: tableOf(layer),
      file: sourceOf(fileOf(layer)),
      layer: layer.name,
      srid,
    }))
    await writeFile(virtual, virtualDataset(members))
    return loadByOgr(virtual)
  }
  if (await load(layers, 'all')) return new Map(layers.map((layer) => [layer, tableOf(layer)]))
  const loaded = new Map<Layer, string>()
  for (const layer of layers) if (await load([layer], layer.name)) loaded.set(layer, tableOf(layer))
  return loaded
}

const sourceOf = (file: string): string => (file.endsWith('.zip') ? `/vsizip/${file}` : file)

function loadByOgr(source: string): Promise<boolean> {
  const url = new URL(uploads.app.url ?? '')
  const target = `PG:host=${url.hostname} port=${url.port} user=${url.username} dbname=${url.pathname.slice(1)}`
  return gdal('ogr2ogr', [
    ...['-f', 'PostgreSQL', target, '-overwrite', '-lco', 'SCHEMA=ogr', '-lco', 'FID=ogc_fid'],
    ...['-lco', 'GEOMETRY_NAME=wkb_geometry', '-lco', 'LAUNDER=NO', '-nlt', 'GEOMETRY', '-t_srs', 'EPSG:4326', source],
  ]).then(
    () => true,
    () => false,
  )
}
