import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import type { Source } from '../../data/datasets/dataset-type.ts'
import { ApiError } from '../../kernel/errors.ts'
import { operations } from '../../operations.ts'
import { formatNames, isExport } from '../../query/formats/answer-formats.ts'
import type { Authority } from '../access/authenticate.ts'
import { type Answer, operation } from './operation.ts'
import { createServer } from './server.ts'

// One database is enough: the answers fail before and behind it.

const codings = ['identity', 'gzip', 'br', 'zstd']

/** What an answer may be dressed in before it fails. */
const chosen = {
  'content-type': 'application/json',
  'content-disposition': 'attachment; filename="a.json"',
  'content-range': 'bytes 0-9/100',
  'content-length': '10',
  'content-language': 'de',
  'cache-control': 'public, max-age=600',
  'accept-ranges': 'bytes',
  etag: '"3"',
  link: '<https://example.org>; rel="next"',
  location: '/elsewhere',
  vary: 'accept',
  'x-tile-features': '1/2',
}

/** The headers of a refusal; others are the answer's that failed. */
const ofProblems = new Set([
  ...['access-control-allow-origin', 'access-control-expose-headers', 'content-security-policy'],
  ...['cross-origin-resource-policy', 'referrer-policy', 'x-content-type-options', 'x-frame-options'],
  ...['x-request-id', 'cache-control', 'content-type', 'content-length', 'date', 'connection', 'keep-alive'],
  'retry-after',
])

type Reply = Awaited<ReturnType<FastifyInstance['inject']>>

function checkProblem({ statusCode, headers, rawPayload }: Reply, status: number, what: string): void {
  assert.equal(statusCode, status, what)
  assert.deepEqual(
    Object.keys(headers).filter((name) => !ofProblems.has(name)),
    [],
    what,
  )
  assert.match(String(headers['content-type']), /^application\/problem\+json/, what)
  assert.equal(headers['cache-control'], 'no-store', what)
  assert.equal(Number(headers['content-length']), rawPayload.length, what)
  assert.equal(JSON.parse(rawPayload.toString()).status, status, what)
}

const options = { logger: pino({ level: 'silent' }), trustProxy: false, bodyLimit: 1_024, isStopping: () => false }

const failing = (): Readable =>
  Readable.from(
    (async function* () {
      yield* []
      throw new ApiError('upstream_failed', 'The database has gone.')
    })(),
    { objectMode: false },
  )

describe('a stream that fails before its first byte', () => {
  test('is a plain refusal without a header of the answer, whatever the operation and the coding', async () => {
    const failed = operations.map(({ id, method, path, summary, success, idPattern, isRestOfPath, isTile }) => ({
      id,
      method,
      path,
      summary,
      success,
      access: 'public' as const,
      ownParameters: true,
      ...(idPattern && { idPattern }),
      ...(isRestOfPath && { isRestOfPath }),
      ...(isTile && { isTile }),
      audit: { none: 'It always fails.' },
      handle: (): Answer => ({ status: 206, headers: chosen, body: failing() }),
    }))
    const http = await createServer(failed as never, {} as Authority, {}, options)
    for (const { id, method, path } of operations) {
      const url = path.replaceAll(/\{\w+\}/g, '0000a000-0000-4000-8000-000000000000')
      for (const coding of codings) {
        const reply = await http.inject({ method: method as 'GET', url, headers: { 'accept-encoding': coding } })
        // Where another operation has the same route the answer is its, and the same.
        checkProblem(reply, 502, `${id} ${coding}`)
      }
    }
    await http.close()
  })
})

describe('a query whose first rows fail', () => {
  let app: TestApp
  let tenant: Tenant
  let dataset: string
  before(async () => {
    app = await testApp()
    tenant = await app.tenant('failing')
    const schema = `app_${tenant.id.replaceAll('-', '')}`
    await app.db.script(`
      CREATE TABLE ${schema}.places (id int PRIMARY KEY, name text, geom geometry(Point, 4326));
      INSERT INTO ${schema}.places SELECT i, 'place ' || i, ST_Point(i % 90, 1, 4326) FROM generate_series(1, 5000) i;
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};`)
    const body = { type: 'table', name: 'places', source: 'places' }
    const made = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
    dataset = made.body.id
    const { sources } = app.services
    const open: typeof sources.open = async (...asked) => brokenSource(await sources.open(...asked))
    Object.assign(app.services, { sources: { ...sources, open } })
  })
  after(() => app.close())

  function brokenSource(source: Source): Source {
    const { compileRow: _, inSql: __, ...rest } = source
    return {
      ...rest,
      async rows(...asked) {
        const { columns } = await source.rows(...asked)
        return { columns, batches: brokenBatches() }
      },
    }
  }
  // biome-ignore lint/correctness/useYield: it fails before the first rows.
  async function* brokenBatches(): AsyncGenerator<never> {
    throw new ApiError('upstream_failed', 'The database has gone.')
  }

  const query = '/api/v1/datasets/{id}/query'
  const items = '/ogc/collections/{id}/items'
  const texts = formatNames.filter((format) => !isExport(format)).map((format) => `${query}?format=${format}`)
  const requests = [
    ...texts.flatMap((path) => [`GET ${path}`, `POST ${path}`, `GET ${path}&filename=a`]),
    ...formatNames.filter(isExport).map((format) => `GET ${query}?format=${format}`),
    ...[`GET ${items}`, `GET ${items}?f=html`, `GET ${items}/1`],
  ]
  const isText = (path: string): boolean => path.startsWith('/ogc') || texts.some((one) => path.startsWith(one))
  for (const request of requests)
    test(`is a plain refusal: ${request}`, async () => {
      const [method, path = ''] = request.split(' ')
      // An export takes a thread, and nobody compresses it.
      const asked = isText(path) ? codings : ['gzip']
      for (const coding of asked) {
        const headers = { 'x-api-key': tenant.developer, 'accept-encoding': coding, range: 'bytes=0-9' }
        const sent = { method: method as 'GET', url: path.replace('{id}', dataset), headers }
        const reply = await app.http.inject(method === 'POST' ? { ...sent, payload: {} } : sent)
        checkProblem(reply, 502, coding)
      }
    })
})

describe('a stream that fails after its first byte', () => {
  async function* cut(): AsyncGenerator<string> {
    yield 'x'.repeat(100_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    throw new Error('It broke.')
  }
  const half = operation({
    id: 'half',
    method: 'GET',
    path: '/half',
    summary: 'half',
    access: 'public',
    success: { status: 200, description: 'half' },
    handle: () => ({
      headers: { 'content-type': 'text/plain' },
      body: Readable.from(cut(), { objectMode: false }),
    }),
  })

  for (const version of ['1.1', '1.0'])
    for (const coding of codings)
      test(`does not look complete in HTTP/${version}, ${coding}`, async () => {
        const http = await createServer([half], {} as Authority, {}, options)
        await http.listen({ port: 0, host: '127.0.0.1' })
        try {
          const socket = connect((http.server.address() as AddressInfo).port, '127.0.0.1')
          let text = ''
          let fault: Error | undefined
          socket.on('data', (data) => (text += data.toString('latin1'))).on('error', (error) => (fault = error))
          socket.write(
            `GET /half HTTP/${version}\r\nHost: a\r\nConnection: close\r\nAccept-Encoding: ${coding}\r\n\r\n`,
          )
          await new Promise((resolve) => socket.once('close', resolve))
          assert.match(text, /^HTTP\/1\.1 (200|500)/)
          // What is still in the encoder has not been sent, so that such an answer can be a refusal.
          if (text.startsWith('HTTP/1.1 500')) return assert.match(text, /problem\+json[\s\S]*"status":500/)
          if (version === '1.0') assert.equal((fault as NodeJS.ErrnoException)?.code, 'ECONNRESET')
          else assert.doesNotMatch(text, /\r\n0\r\n\r\n$/)
        } finally {
          await http.close()
        }
      })
})
