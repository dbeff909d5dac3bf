import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { dbfOf } from '../../../testing/uploads/dbf-of.ts'
import { sourceLayers } from '../../../testing/uploads/layer-data.ts'
import { type SourceFormat, writeLayer } from '../../../testing/uploads/source-layers.ts'
import { zipOf } from '../../../testing/uploads/zip-of.ts'
import { type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: a hostile file is refused by its reader; crash.test.ts, removals.test.ts and upload.test.ts clean up
// in both.

const run = promisify(execFile)
let uploads: UploadApp
let directory: string
before(async () => {
  uploads = await uploadApp({ UPLOADS_PER_APPLICATION: '4' })
  directory = await mkdtemp(join(tmpdir(), 'graticule-hostile-'))
})
after(async () => {
  await uploads.close()
  await rm(directory, { recursive: true, force: true })
})

/** The file as the format has it. */
async function written(format: SourceFormat, name = 'points'): Promise<Buffer> {
  const layer = sourceLayers.find((one) => one.name === name)
  assert.ok(layer)
  const place = await mkdtemp(join(directory, 'f-'))
  return readFile(await writeLayer(layer, format, place))
}

/** A zip of what `fill` puts into an empty folder. */
async function zipped(fill: (folder: string) => Promise<unknown>, ...options: string[]): Promise<Buffer> {
  const folder = await mkdtemp(join(directory, 'z-'))
  const inside = join(folder, 'in')
  await mkdir(inside)
  await fill(inside)
  await run('zip', ['-q', '-r', ...options, join(folder, 'a.zip'), '.'], { cwd: inside })
  return readFile(join(folder, 'a.zip'))
}

const geojson = (count: number): string =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: Array.from({ length: count }, (_, n) => ({
      type: 'Feature',
      properties: { n },
      geometry: { type: 'Point', coordinates: [n % 90, 1] },
    })),
  })

const table = dbfOf(Array.from({ length: 50_000 }, (_, row) => ({ row, word: `word ${(row * 7919) % 50_000}` })))

/** Three times what any file may become, and packed 1 000 times smaller. */
const spaces = Buffer.alloc(30_000_000, 32)

/** Each of them fails, with one of these codes. */
const cases: Record<
  string,
  { bytes: () => Promise<string | Uint8Array> | string | Uint8Array; codes: RegExp; name?: string }
> = {
  'an empty file': { bytes: () => '', codes: /empty_file/ },
  'white space': { bytes: () => ' \n\t\n', codes: /empty_file|unsupported_format|no_features|invalid/ },
  rubbish: {
    bytes: () => Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 7919 + (n >> 3)) % 251)),
    codes: /unsupported|invalid|wrong/,
  },
  'a truncated GeoJSON': { bytes: () => geojson(100).slice(0, 3_000), codes: /truncated|invalid_json/ },
  'a page of HTML called .geojson': {
    bytes: () => '<!doctype html><html><body>404</body></html>',
    codes: /unsupported|wrong|invalid/,
    name: 'a.geojson',
  },
  'JSON that is no map': { bytes: () => '{"hello":"world"}', codes: /unsupported|wrong|invalid/ },
  'JSON nested without end': {
    bytes: () => `{"type":"FeatureCollection","features":${'['.repeat(200_000)}`,
    codes: /invalid|truncated/,
  },
  'a truncated GeoPackage': {
    bytes: async () => (await written('geopackage')).subarray(0, 60_000),
    codes: /truncated|invalid_file/,
  },
  'a truncated Shapefile archive': {
    bytes: async () => (await written('shapefile')).subarray(0, 600),
    codes: /invalid_zip|truncated/,
  },
  'a truncated FlatGeobuf': {
    bytes: async () => (await written('flatgeobuf')).subarray(0, 700),
    codes: /truncated|invalid/,
  },
  'a zipped table that is damaged behind its first rows': {
    bytes: () => zipOf([{ name: 'a.dbf', content: table, damageAt: Math.floor(deflateRawSync(table).length * 0.8) }]),
    codes: /invalid_zip/,
  },
  'a zipped table of which only the checksum is wrong': {
    bytes: () => zipOf([{ name: 'a.dbf', content: table, crc: 1 }]),
    codes: /invalid_zip/,
  },
  'a zip of a zip': {
    bytes: () =>
      zipped(async (folder) =>
        writeFile(join(folder, 'b.zip'), await zipped((inner) => writeFile(join(inner, 'a.geojson'), geojson(2)))),
      ),
    codes: /unsupported|zip/,
  },
  'a gzip of a zip': {
    bytes: async () => gzipSync(await zipped((folder) => writeFile(join(folder, 'a.geojson'), geojson(2)))),
    codes: /unsupported|zip/,
  },
  'a zip bomb': {
    bytes: () => zipOf([{ name: 'a.geojson', content: spaces }]),
    codes: /zip_limit/,
  },
  'a gzip bomb': {
    bytes: () => gzipSync(spaces),
    codes: /zip_limit|unsupported|too_large|empty/,
  },
  'a zip with too many entries': {
    bytes: () => zipOf(Array.from({ length: 2_100 }, (_, n) => ({ name: `${n}.txt` }))),
    codes: /zip_limit/,
  },
  'a zip with a link': {
    bytes: () =>
      zipped(async (folder) => {
        await symlink('/etc/passwd', join(folder, 'a.csv'))
      }, '-y'),
    codes: /invalid_zip|unsupported|zip/,
  },
  'a zip with a path that leads out': {
    bytes: async () => {
      const bytes = await zipped((folder) => writeFile(join(folder, '___evil.csv'), 'a,b\n1,2\n'))
      return Buffer.from(bytes.toString('latin1').replaceAll('___evil', '../evil'), 'latin1')
    },
    codes: /invalid_zip/,
  },
  'a spreadsheet that is a bomb': {
    bytes: () =>
      zipOf([
        { name: 'mimetype', content: Buffer.from('application/vnd.oasis.opendocument.spreadsheet') },
        { name: 'content.xml', content: spaces },
      ]),
    codes: /zip_limit/,
  },
  'an encrypted zip': {
    bytes: () => zipped((folder) => writeFile(join(folder, 'a.geojson'), geojson(2)), '-P', 'secret'),
    codes: /zip_encrypted/,
  },
  'a projected Shapefile without its .prj': {
    bytes: async () => {
      const projected = sourceLayers.find(({ srid }) => srid !== 4326)
      const folder = await mkdtemp(join(directory, 's-'))
      await writeFile(join(folder, 'a.zip'), await written('shapefile', projected?.name))
      await run('zip', ['-q', '-d', 'a.zip', '*.prj'], { cwd: folder })
      return readFile(join(folder, 'a.zip'))
    },
    codes: /srid_required/,
  },
  'a VRT that reads other files': {
    bytes: () =>
      '<OGRVRTDataSource><OGRVRTLayer name="passwd"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>',
    codes: /unsupported|invalid/,
    name: 'a.csv',
  },
  'a KML with entities': {
    bytes: () =>
      '<?xml version="1.0"?><!DOCTYPE kml [<!ENTITY x SYSTEM "file:///etc/passwd">]><kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>&x;</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>',
    codes: /invalid_xml|unsupported/,
  },
  'a GML with entities': {
    bytes: () =>
      '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><a>&x;</a></gml:featureMember></gml:FeatureCollection>',
    codes: /invalid|unsupported|no_features/,
  },
  'a KML with entities behind a long comment': {
    bytes: () =>
      `<?xml version="1.0"?><!-- <kml> ${'x'.repeat(100_000)} --><!DOCTYPE kml [<!ENTITY x SYSTEM "file:///etc/passwd">]><kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>&x;</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>`,
    codes: /invalid_xml|unsupported/,
  },
  'a GPX of entities that grow': {
    bytes: () => {
      const grow = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`)
      return `<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY e0 "x">${grow.join('')}]><gpx version="1.1"><wpt lat="1" lon="2"><name>&e20;</name></wpt></gpx>`
    },
    codes: /invalid_xml|unsupported/,
  },
  'a zipped VRT called .gml': {
    bytes: () =>
      zipped((folder) =>
        writeFile(
          join(folder, 'a.gml'),
          '<OGRVRTDataSource><OGRVRTLayer name="passwd"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>',
        ),
      ),
    codes: /unsupported|invalid/,
  },
  'a VRT that says it is GML': {
    bytes: () =>
      '<OGRVRTDataSource xmlns:gml="http://www.opengis.net/gml"><OGRVRTLayer name="passwd"><SrcDataSource>/etc/passwd</SrcDataSource></OGRVRTLayer></OGRVRTDataSource>',
    codes: /unsupported|invalid|no_features/,
  },
  'a polygon of three million vertices': {
    bytes: () =>
      `{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[${'[1,2],[3,4],'.repeat(1_500_000)}[1,2]]]}}`,
    codes: /feature_too_large/,
  },
  'a feature that is too large': {
    bytes: () =>
      `{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[${'[1.23456,2.34567],'.repeat(1_000_000)}[1,2]]}}`,
    codes: /feature_too_large/,
  },
  'a row that is larger than PostgreSQL takes': {
    bytes: () => {
      const row = (cell: (n: number) => string) => Array.from({ length: 900 }, (_, n) => cell(n)).join(',')
      return `${row((n) => `column_${n}`)}\n${row(() => 'short')}\n${row((n) => `some text that takes its place ${n}`)}\n`
    },
    codes: /row_too_large/,
  },
  'a GeoPackage whose list of tables is an endless view': {
    bytes: async () => {
      const file = join(await mkdtemp(join(directory, 'g-')), 'a.gpkg')
      {
        using database = new DatabaseSync(file)
        database.exec(`PRAGMA application_id = 0x47504B47;
          CREATE VIEW gpkg_contents AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)
            SELECT x AS table_name, 'none' AS data_type FROM r`)
      }
      return readFile(file)
    },
    codes: /invalid_file/,
  },
  'a KML whose placemarks repeat long names of folders': {
    bytes: () =>
      `<kml xmlns="http://www.opengis.net/kml/2.2"><Folder><name>${'x'.repeat(1_000_000)}</name>${'<Placemark/>'.repeat(200_000)}`,
    codes: /truncated|invalid_xml/,
  },
  'an MBTiles that is none': {
    bytes: () => Buffer.concat([Buffer.from('PMTiles\u0003'), Buffer.alloc(200)]),
    codes: /invalid_file|unsupported|truncated/,
  },
}

describe('a file that cannot be loaded fails with a code and a message:', { concurrency: 3 }, () => {
  for (const [what, { bytes, codes, name = 'a' }] of Object.entries(cases)) {
    test(what, async () => {
      const { status, body } = await uploads.send({ name, bytes: await bytes() })
      assert.equal(status, 200, JSON.stringify(body))
      const done = await uploads.ended(body.id)
      assert.equal(done.status, 'failed', JSON.stringify(done))
      assert.match(done.error.code, codes, JSON.stringify(done.error))
      assert.ok(done.error.message.length > 10)
      assert.doesNotMatch(done.error.message, /\/tmp\/|node:|at file|undefined/)
      assert.equal(done.datasetId, null)
    })
  }
})

test('a Shapefile without its .dbf or its .shx loads, with a warning', async () => {
  for (const part of ['dbf', 'shx']) {
    const folder = await mkdtemp(join(directory, 's-'))
    await writeFile(join(folder, 'a.zip'), await written('shapefile'))
    await run('zip', ['-q', '-d', 'a.zip', `*.${part}`], { cwd: folder })
    const done = await uploads.upload({ name: 'a.zip', bytes: await readFile(join(folder, 'a.zip')) })
    assert.equal(done.status, 'completed', JSON.stringify(done.error))
    assert.ok(part === 'shx' || done.warnings.some(({ code }: { code: string }) => code === 'missing_dbf'))
    await uploads.call('DELETE', `/api/v1/tilesources/${done.tileSourceId}`)
    await uploads.call('DELETE', `/api/v1/datasets/${done.datasetId}`)
  }
})

test('nothing is left of them, on disk or in the database', async () => {
  assert.deepEqual(await uploads.leftovers(), [])
  assert.equal((await uploads.call('GET', '/api/v1/datasets')).body.length, 0)
  assert.equal((await uploads.call('GET', '/api/v1/tilesources')).body.length, 0)
})
