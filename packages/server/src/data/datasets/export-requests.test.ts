import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { type ExportApp, exportApp, gdalFeatures } from '../../../testing/exports/exports.ts'
import { until } from '../../../testing/until.ts'

/** Small, so that a few rows exceed it, and large enough for an empty GeoPackage. */
const maxBytes = 300_000

let app: ExportApp
let port: number
before(async () => {
  app = await exportApp({ EXPORT_MAX_BYTES: String(maxBytes), STREAMS_PER_APPLICATION: '2' })
  await app.app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.app.http.server.address() as AddressInfo).port
})
after(() => app.close())

const head = (url: string, headers = {}) =>
  app.app.http.inject({ method: 'HEAD', url, headers: { 'x-api-key': app.tenant.developer, ...headers } })

async function filesLeft(): Promise<string[]> {
  const names = await readdir(join(app.directory, 'exports'), { recursive: true }).catch(() => [])
  return names.filter((name) => name.includes('making-'))
}

const sqlDataset = (source: string): Promise<string> => app.dataset({ type: 'sql', name: 'q', source })

describe('a part of an export', () => {
  for (const format of ['gpkg', 'fgb', 'parquet', 'kml', 'shp', 'xlsx']) {
    test(`of ${format} is cut out of the same file, whose length HEAD tells`, async () => {
      const url = app.query(`format=${format}&sort=id`)
      const { headers, statusCode, rawPayload } = await head(url)
      assert.deepEqual([statusCode, rawPayload.length, headers['accept-ranges']], [200, 0, 'bytes'])
      const whole = await app.get(url)
      assert.equal(String(whole.rawPayload.length), headers['content-length'])
      assert.equal(whole.headers.etag, headers.etag)
      for (const [range, expected] of [
        ['bytes=0-9', whole.rawPayload.subarray(0, 10)],
        ['bytes=10-', whole.rawPayload.subarray(10)],
        ['bytes=-7', whole.rawPayload.subarray(-7)],
        ['bytes=5-99999999', whole.rawPayload.subarray(5)],
      ] as const) {
        const part = await app.get(url, { range })
        assert.equal(part.statusCode, 206, range)
        assert.deepEqual(part.rawPayload, expected, range)
        const first = whole.rawPayload.length - expected.length
        if (range !== 'bytes=0-9') assert.match(String(part.headers['content-range']), new RegExp(`^bytes ${first}-`))
      }
    })
  }

  test('is refused beyond the end, and whole where the range is none or of another file', async () => {
    const url = app.query('format=gpkg&sort=id')
    const { headers } = await head(url)
    const beyond = await app.get(url, { range: 'bytes=99999999-' })
    assert.deepEqual(
      [beyond.statusCode, beyond.headers['content-range']],
      [416, `bytes */${headers['content-length']}`],
    )
    const odd: Record<string, string>[] = [
      { range: 'bytes=5-2' },
      { range: 'rows=1-2' },
      { range: 'bytes=0-1,5-6' },
      { range: 'bytes=0-1', 'if-range': '"another"' },
    ]
    for (const asked of odd) {
      const reply = await app.get(url, asked)
      assert.deepEqual([reply.statusCode, reply.headers['content-length']], [200, headers['content-length']])
    }
    const held = await app.get(url, { range: 'bytes=0-1', 'if-range': String(headers.etag) })
    assert.equal(held.statusCode, 206)
    const unchanged = await app.get(url, { 'if-none-match': String(headers.etag) })
    assert.deepEqual([unchanged.statusCode, unchanged.rawPayload.length], [304, 0])
  })

  test('is read by GDAL over HTTP, without the rest of the file', async () => {
    for (const format of ['gpkg', 'fgb']) {
      const address = `http://127.0.0.1:${port}${app.query(`format=${format}`)}&api-key=${app.tenant.public}`
      const { stdout } = await promisify(execFile)('ogrinfo', ['-ro', '-so', '-al', `/vsicurl/${address}`])
      assert.match(stdout, /Feature Count: 7\n/, format)
    }
  })

  test('is of new rows as soon as the table has them, and of the old file until then', async () => {
    await app.script(
      'CREATE TABLE growing (id int4 PRIMARY KEY, geom geometry(Point, 4326)); INSERT INTO growing VALUES (1, NULL)',
    )
    const id = await app.dataset({ name: 'growing', source: 'growing' })
    const url = app.query('format=fgb', id)
    const first = await head(url)
    assert.equal((await head(url)).headers.etag, first.headers.etag)
    assert.equal((await head(app.query('format=fgb&limit=1', id))).headers.etag === first.headers.etag, false)
    await app.script('INSERT INTO growing VALUES (2, NULL)')
    const second = await head(url)
    assert.notEqual(second.headers.etag, first.headers.etag)
    assert.ok(Number(second.headers['content-length']) > Number(first.headers['content-length']))
  })

  test('is of one file also where changes are not noticed; the whole has the rows of now', async () => {
    const id = await sqlDataset('SELECT gen_random_uuid()::text AS drawn')
    const url = app.query('format=kml', id)
    const part = await app.get(url, { range: 'bytes=0-99999' })
    const again = await app.get(url, { range: 'bytes=0-99999' })
    const whole = await app.get(url)
    assert.deepEqual([part.statusCode, whole.statusCode], [206, 200])
    assert.equal(again.body, part.body)
    assert.notEqual(whole.body, part.body)
    assert.equal((await app.get(url, { range: 'bytes=0-99999' })).body, part.body)
  })

  test('is for keys that may read the dataset only, though the file is there', async () => {
    const url = app.query('format=gpkg&sort=id')
    await head(url)
    const stranger = await app.app.tenant('stranger')
    const own = await app.app.key(app.tenant.id, { datasets: { execute: ['00000000-0000-0000-0000-000000000000'] } })
    for (const [key, status] of [
      [stranger.developer, 404],
      [own, 401],
      [null, 401],
    ] as const) {
      for (const range of ['bytes=0-', 'bytes=0-9']) {
        const reply = await app.get(url, { range }, key)
        assert.equal(reply.statusCode, status)
        assert.equal(reply.headers.etag, undefined)
      }
    }
    await app.app.call('DELETE', `/api/v1/applications/${stranger.id}`)
  })
})

/** The head of an answer on a connection of its own. */
const open = (url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get(
      { port, host: '127.0.0.1', path: url, headers: { 'x-api-key': app.tenant.developer }, agent: false },
      resolve,
    ).on('error', reject)
  })

/** Whether the answer came to its end, and how many bytes did. */
async function readAll(answer: IncomingMessage): Promise<{ isWhole: boolean; bytes: number }> {
  let bytes = 0
  try {
    for await (const piece of answer) bytes += (piece as Buffer).length
    return { isWhole: answer.complete, bytes }
  } catch {
    return { isWhole: false, bytes }
  }
}

describe('an export that fails', () => {
  /** The last row divides by zero. */
  const failing = (rows: number): Promise<string> =>
    sqlDataset(`SELECT g AS id, repeat('x', 100) AS t, 1 / (${rows} - g) AS n FROM generate_series(1, ${rows}) g`)

  for (const format of ['fgb', 'parquet', 'kml', 'ndjson']) {
    test(`in the middle breaks the connection: ${format}`, async () => {
      const answer = await open(app.query(`format=${format}`, await failing(30_000)))
      // Embedded, and in a format with large pieces, the failure comes before the first one.
      if (answer.statusCode === 200) assert.equal((await readAll(answer)).isWhole, false)
      else assert.equal(answer.statusCode, 400)
    })
  }

  for (const format of ['gpkg', 'shp', 'xlsx']) {
    test(`as a file has the status of its failure, and leaves nothing behind: ${format}`, async () => {
      const failed = await app.get(app.query(`format=${format}`, await failing(1_500)))
      assert.equal(failed.statusCode, 400, failed.body)
      assert.match(failed.body, /division by zero/)
      const many = await sqlDataset(
        `SELECT g AS id, gen_random_uuid()::text AS t, ST_Point(g % 90, 1, 4326) AS geom FROM generate_series(1, 9000) g`,
      )
      const large = await app.get(app.query(`format=${format}`, many))
      assert.equal(large.statusCode, 413, large.body)
      assert.match(large.body, new RegExp(`larger than ${maxBytes} bytes, the limit`))
      const { limit, limitName } = large.json()
      assert.deepEqual({ limit, limitName }, { limit: maxBytes, limitName: 'exportBytes' })
      assert.deepEqual(await filesLeft(), [])
    })
  }

  test('because its reader leaves gives back its slot and its place, many times over', async () => {
    const endless = await sqlDataset(`SELECT g AS id, repeat('x', 1000) AS t FROM generate_series(1, 10000) g`)
    for (let round = 0; round < 2; round++) {
      for (const format of ['fgb', 'kml']) {
        const answer = await open(app.query(`format=${format}`, endless))
        assert.equal(answer.statusCode, 200)
        await new Promise((resolve) => answer.once('data', resolve))
        answer.destroy()
      }
    }
    await until(() => app.app.services.slots.taken === 0)
    assert.equal((await app.get(app.query('format=fgb'))).statusCode, 200)
    assert.deepEqual(await filesLeft(), [])
  })
})

describe('a limit of a format', () => {
  test('is told of before anything is sent', async () => {
    const wide = await sqlDataset(`SELECT ${Array.from({ length: 256 }, (_, n) => `${n} AS c${n}`)}`)
    const fields = await app.get(app.query('format=shp', wide))
    assert.equal(fields.statusCode, 400)
    assert.match(fields.body, /query\/attributes: must select at most 255 attributes/)
    const texts = await sqlDataset(`SELECT repeat('x', 32768) AS text`)
    const cell = await app.get(app.query('format=xlsx', texts))
    assert.equal(cell.statusCode, 413)
    assert.match(cell.body, /A value of \\"text\\" has 32768 characters; a cell of Excel has at most 32767/)
  })

  test('of a Shapefile shortens names and texts, which a list in the zip says', async () => {
    const id = await sqlDataset(
      `SELECT repeat('ü', 200) AS "a very long name", 'b' AS "a very long one", 'c' AS "A VERY LON_1"`,
    )
    const [feature] = await gdalFeatures(`/vsizip/${await app.save('names.zip', 'format=shp', id)}`)
    assert.deepEqual(feature?.properties, { 'a very lon': 'ü'.repeat(127), 'a very l_1': 'b', 'A VERY L_2': 'c' })
    const { stdout } = await promisify(execFile)('unzip', ['-p', join(app.folder, 'names.zip'), 'fields.txt'])
    assert.match(stdout, /a very lon\ta very long name\t1 texts cut to 254 bytes\na very l_1\ta very long one\n/)
  })

  test('of XML leaves out the characters that it cannot have, and keeps all others', async () => {
    const id = await sqlDataset(
      `SELECT E'\\x01a\\x0b<&>"\\ufffe]]>\\r\\n\\t' || chr(128512) AS t, ST_Point(1, 2, 4326) AS geom`,
    )
    for (const [format, extension] of [
      ['kml', 'kml'],
      ['xlsx', 'xlsx'],
    ]) {
      // Of a sheet of texts GDAL takes the headings for a row.
      const feature = (await gdalFeatures(await app.save(`x.${extension}`, `format=${format}`, id))).at(-1)
      assert.equal(feature?.properties.t ?? feature?.properties.Field1, 'a<&>"]]>\r\n\t😀', format)
    }
  })

  test('of a sheet gives way to a remark where a geometry is too long for a cell', async () => {
    const id = await sqlDataset(`SELECT 1 AS id, ST_Buffer(ST_Point(7, 46, 4326), 1, 1000) AS geom`)
    const [feature] = await gdalFeatures(await app.save('remark.xlsx', 'format=xlsx', id))
    assert.match(String(feature?.properties.geom), /^POLYGON of \d+ characters, too long for a cell$/)
  })
})
