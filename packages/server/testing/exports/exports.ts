// What the tests of exports share: a table of every type, its rows as JSON, and what GDAL reads in a file.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type TileApp, tileApp } from '../tiles.ts'

export type Properties = Record<string, unknown>
export type ExportedFeature = { readonly geometry: ExportedGeometry | null; readonly properties: Properties }
export type ExportedGeometry = {
  readonly type: string
  readonly coordinates?: unknown
  readonly geometries?: readonly ExportedGeometry[]
}

/** Every type, nulls, extremes, and characters that some format must escape. */
const everything = `
  CREATE TABLE everything (
    id int4 PRIMARY KEY, big int8, "real" float8, small float4, exact numeric(10,2), long numeric(30,5), free numeric, flag bool,
    "day" date, at timestamptz, local timestamp, "time" time, zoned timetz, uid uuid, doc jsonb, list int4[], raw bytea,
    "a ""quoted"", <name> & more" text, geom geometry(Geometry, 4326));
  INSERT INTO everything VALUES
    (1, 9223372036854775807, 0.1, 1.5, 12345678.91, 1234567890123456789012345.12345, 1.25, true, '2026-01-31',
     '2026-01-31T10:20:30.5Z', '2026-01-31T10:20:30', '23:59:58.25', '10:00:00+02', '0b0e1c9e-5f5c-4a52-9d0e-0a4c5b1f6a01',
     '{"a": [1, "ü"], "b": null}', '{1,2,NULL}', '\\x00ff10', 'plain', ST_Point(7.5, 46.25, 4326)),
    (2, -9223372036854775808, 'NaN', 'Infinity', -0.01, -0.00001, -3, false, '1899-12-31', '1969-12-31T23:59:59.999Z',
     '0001-01-01T00:00:00', '00:00:00', '23:59:59-08', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '"x"', '{}', '',
     E'tab\\tline\\nend\\r ]]> <b>&amp;</b> "q" ''s'' =1+1', ST_GeomFromText('LINESTRING(0 0,1 1,2 0)', 4326)),
    (3, 0, '-Infinity', 0, 0, 0, 0, NULL, '9999-12-31', '2000-02-29T00:00:00Z', '2000-02-29T12:00:00.123', '12:00:00', '00:00:00+00',
     '00000000-0000-0000-0000-000000000000', '[]', '{-2147483648}', '\\xdeadbeef', '',
     ST_GeomFromText('POLYGON((0 0,0 10,10 10,10 0,0 0),(2 2,4 2,4 4,2 4,2 2))', 4326)),
    (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 1, 1e300, 1, 1, 1, 1e-7, true, '2024-02-29', '2024-02-29T23:59:59.123456Z', '2024-02-29T01:02:03', '01:02:03', '01:02:03+05:30',
     '11111111-1111-4111-8111-111111111111', '{"deep": {"deeper": [[]]}}', '{7}', '\\x01', 'Ærøskøbing 東京 🌍',
     ST_GeomFromText('MULTIPOLYGON(((20 0,30 0,30 10,20 10,20 0)),((170 -10,180 -10,180 10,170 10,170 -10),(172 -2,174 -2,174 2,172 2,172 -2)))', 4326)),
    (6, 2, 2, 2, 2, 2, 2, true, '2024-01-01', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00', '00:00:01', '00:00:01+00',
     '22222222-2222-4222-8222-222222222222', '1', '{1,1}', '\\x02', 'many', ST_GeomFromText('MULTILINESTRING((0 0,1 1),(5 5,6 6,7 5))', 4326)),
    (7, 3, 3, 3, 3, 3, 3, false, '2024-01-01', '2024-01-01T00:00:00Z', '2024-01-01T00:00:00', '00:00:01', '00:00:01+00',
     '33333333-3333-4333-8333-333333333333', 'null', '{3}', '\\x03', 'points', ST_GeomFromText('MULTIPOINT((1 2),(3 4))', 4326))`

export type ExportApp = Awaited<ReturnType<typeof exportApp>>

export async function exportApp(settings: Record<string, string> = {}) {
  const world: TileApp = await tileApp(settings)
  const folder = await mkdtemp(join(tmpdir(), 'graticule-exports-'))
  await world.script(everything)
  const id = await world.dataset({ name: 'every/thing', source: 'everything' })
  const query = (text: string, dataset = id): string => `/api/v1/datasets/${dataset}/query?${text}`
  return {
    ...world,
    id,
    query,
    folder,
    async rows(text = 'sort=id', dataset = id): Promise<Properties[]> {
      return JSON.parse((await world.get(query(text, dataset))).body)
    },
    /** The answer as a file. */
    async save(name: string, text: string, dataset = id): Promise<string> {
      const reply = await world.get(query(text, dataset))
      if (reply.statusCode !== 200) throw new Error(reply.body)
      const path = join(folder, name)
      await writeFile(path, reply.rawPayload)
      return path
    },
    async close(): Promise<void> {
      await world.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const run = promisify(execFile)

/** That GeoJSON, which it writes for us, has neither these types nor these numbers. */
const harmless = /does not natively support|NaN of Infinity|No SRS set on layer/

function refuseComplaints(stderr: string): void {
  const complaints = stderr.split('\n').filter((line) => line !== '' && !harmless.test(line))
  if (complaints.length > 0) throw new Error(complaints.join('\n'))
}

/** What GDAL reads, a layer after the other. It must not complain of the file. */
export async function gdalFeatures(path: string, ...options: string[]): Promise<ExportedFeature[]> {
  const to = ['-f', 'GeoJSONSeq', '/vsistdout/', path, '-lco', 'COORDINATE_PRECISION=15']
  const { stdout, stderr } = await run('ogr2ogr', [...options, ...to], { maxBuffer: 1e9 })
  refuseComplaints(stderr)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.replace('\u001e', '').replace(/(?<=: ?)-?\d{16,}(?=[,} ])/g, '"$&"')))
}

/** The summary of a file: layers, geometry types, reference systems, fields. */
export async function gdalInfo(path: string): Promise<string> {
  const { stdout, stderr } = await run('ogrinfo', ['-ro', '-so', '-al', '-wkt_format', 'WKT1', path], {
    maxBuffer: 1e8,
  })
  refuseComplaints(stderr)
  return stdout
}
