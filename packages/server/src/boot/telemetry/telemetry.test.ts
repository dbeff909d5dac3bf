import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startServer } from '../../../testing/command-line.ts'
import { testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { httpSink } from '../../../testing/peers/http-sink.ts'
import { type CollectedSpan, otlpCollector } from '../../../testing/peers/otlp-collector.ts'
import { until } from '../../../testing/until.ts'

const master = '7d3a0a66-5a0f-4f4e-9d8e-0d1c7b6a5f10'
const secretKey = 'canary-secret-key-of-more-than-32-characters'
const canary = 'canary-of-the-tenant'
/** So long that no timestamp, size or id of the exported text holds it by chance. */
const secretNumber = '8731946205517734'

/** A server that exports to this address, and what calls it. */
async function tracedServer(endpoint: string, settings: Record<string, string> = {}) {
  const directory = await makeDatabaseDirectory('telemetry')
  const database = process.env.TEST_DATABASE_URL ? await testDatabase() : undefined
  const server = await startServer({
    PATH: process.env.PATH ?? '',
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    HOST: '127.0.0.1',
    MASTER_API_KEY: master,
    SECRET_KEY: secretKey,
    EGRESS_ALLOW: '127.0.0.1:*',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...(database?.url && { DATABASE_URL: database.url }),
    ...settings,
  })
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': master, ...(init.headers as Record<string, string>) }
    const reply = await fetch(`${server.url}${path}`, { ...init, headers })
    const bytes = await reply.arrayBuffer()
    const isJson = /json/.test(reply.headers.get('content-type') ?? '')
    return { status: reply.status, body: isJson ? JSON.parse(Buffer.from(bytes).toString()) : undefined }
  }
  const create = async (path: string, body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await call(path, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.id
  }
  const close = async () => {
    await server.stop('SIGKILL')
    await database?.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { ...server, call, create, close }
}

/** The trace of a client, and the header that carries it on. */
const traceOf = (digit: string) => ({
  traceId: digit.repeat(32),
  headers: { traceparent: `00-${digit.repeat(32)}-${'c'.repeat(16)}-01` },
})

describe('with a collector', () => {
  let collector: Awaited<ReturnType<typeof otlpCollector>>
  let foreign: Awaited<ReturnType<typeof httpSink>>
  let spans: CollectedSpan[]
  let uploaded: { id: string; tileSourceId: string }
  const [queried, sent, drawn] = ['1', '2', '3'].map(traceOf) as [TraceOf, TraceOf, TraceOf]

  before(async () => {
    collector = await otlpCollector()
    foreign = await httpSink(() => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: '[{"name":"a"}]',
    }))
    // Nothing is sent before the server stops, so all that arrives was flushed then.
    const server = await tracedServer(collector.url, {
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_METRIC_EXPORT_INTERVAL: '600000',
      OTEL_SERVICE_NAME: 'maps',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${canary}`,
    })
    try {
      const source = `${foreign.url}/${canary}/rows.json?token=${canary}`
      const rest = await server.create('/api/v1/datasets', { type: 'rest', name: 'Rows', source })
      const query = { ...queried, method: 'GET' }
      assert.equal((await server.call(`/api/v1/datasets/${rest}/query?api-key=${master}`, query)).status, 200)
      const secret = { type: 'sql', name: 'Secret', source: `SELECT '${canary}' AS name, ${secretNumber} AS n` }
      const sql = await server.create('/api/v1/datasets', secret)
      assert.equal((await server.call(`/api/v1/datasets/${sql}/query`, query)).status, 200)
      uploaded = await upload(server)
      const tile = `/tiles/${uploaded.tileSourceId}/0/0/0.pbf`
      for (let count = 0; count < 2; count++) assert.equal((await server.call(tile, drawn)).status, 200)
      assert.equal(await server.stop('SIGTERM'), 0)
      spans = collector.spans()
    } finally {
      await server.close()
    }
  })
  after(async () => {
    await collector.close()
    await foreign.close()
  })

  async function upload(server: Awaited<ReturnType<typeof tracedServer>>) {
    const body = new FormData()
    body.append('file', new Blob(['name,lon,lat\na,1,2\nb,3,4\n']), 'places.csv')
    const reply = await server.call('/api/v1/uploads', { method: 'POST', headers: sent.headers, body })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    const read = async () => (await server.call(`/api/v1/uploads/${reply.body.id}`)).body
    await until(async () => ['completed', 'failed'].includes((await read()).status))
    return read()
  }

  const inTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId)
  const one = (found: CollectedSpan[], name: string): CollectedSpan => {
    const [span] = found.filter((candidate) => candidate.name === name)
    assert.ok(span, `there is no "${name}" among ${found.map((candidate) => candidate.name).join(', ')}`)
    return span
  }

  test('a request continues the trace of its client, and its call to another server carries it on', () => {
    const request = one(inTrace(queried.traceId), 'GET /api/v1/datasets/{id}/query')
    assert.equal(request.parentSpanId, 'c'.repeat(16))
    assert.deepEqual(request.attributes, {
      'http.request.method': 'GET',
      'http.route': '/api/v1/datasets/{id}/query',
      'http.response.status_code': 200,
      'graticule.operation': 'datasets.query',
    })
    const outgoing = one(inTrace(queried.traceId), 'GET')
    assert.equal(outgoing.parentSpanId, request.spanId)
    const heard = foreign.requests.map(({ headers }) => headers.traceparent)
    assert.ok(heard.includes(`00-${queried.traceId}-${outgoing.spanId}-01`), heard.join())
  })

  test('statements of the platform and of tenants are spans with their shape', () => {
    const statements = inTrace(queried.traceId).filter(({ attributes }) => attributes['db.query.text'])
    const of = (database: string) =>
      statements.filter(({ attributes }) => attributes['graticule.database'] === database)
    assert.ok(of('tenant').length > 0)
    assert.ok(
      of('platform').some(({ name }) => name === 'SELECT svc.datasets'),
      statements.map((s) => s.name).join(),
    )
    assert.ok(
      of('tenant').some(({ attributes }) => String(attributes['db.query.text']).includes('SELECT ? AS name, ? AS n')),
    )
  })

  test('an upload is a trace of its own with its stages, linked to the request that sent it', () => {
    const request = one(inTrace(sent.traceId), 'POST /api/v1/uploads')
    const job = one(spans, 'upload')
    assert.notEqual(job.traceId, sent.traceId)
    assert.equal(job.attributes['graticule.upload.id'], uploaded.id)
    assert.deepEqual(
      job.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[sent.traceId, request.spanId]],
    )
    const children = inTrace(job.traceId).filter(({ parentSpanId }) => parentSpanId === job.spanId)
    for (const stage of ['unpacking', 'transforming', 'indexing', 'publishing']) one(children, `upload ${stage}`)
    // With its entry in the audit log, in one statement.
    one(children, 'WITH svc.uploads')
  })

  test('a tile that is made has its stages, and one from memory is a request without any', () => {
    const requests = inTrace(drawn.traceId).filter(({ name }) => name.startsWith('GET /'))
    assert.equal(requests.length, 2)
    const childrenOf = ({ spanId }: CollectedSpan) => spans.filter(({ parentSpanId }) => parentSpanId === spanId)
    const staged = requests.map((request) => childrenOf(request).filter(({ name }) => name === 'tile encode').length)
    assert.deepEqual(staged.toSorted(), [0, 1])
  })

  test('the process is described by the OTEL_ variables, and the headers for the collector reach only it', () => {
    const [resource] = collector.resources()
    assert.equal(resource?.['service.name'], 'maps')
    assert.equal(resource?.['deployment.environment.name'], 'test')
    assert.ok(resource?.['service.instance.id'])
    assert.ok(collector.requests.every(({ headers }) => headers.authorization === canary))
  })

  test('the figures of /metrics are exported by the same names and labels', () => {
    const metrics = new Map(collector.metrics().map((metric) => [metric.name, metric]))
    const requests = metrics.get('graticule_http_request_duration_seconds')?.histogram?.dataPoints ?? []
    const labels = requests.map(({ attributes }) => attributes.map(({ value }) => value.stringValue).join())
    assert.ok(labels.includes('datasets.query,200'), labels.join(' '))
    assert.ok(metrics.get('process_resident_memory_bytes')?.gauge)
    assert.ok(metrics.get('graticule_tiles_total')?.sum)
  })

  test('no credential, query string or literal of a tenant is in anything that is exported', () => {
    const text = collector.text()
    assert.ok(spans.length > 20)
    for (const secret of [master, secretKey, canary, secretNumber, '?token=']) assert.ok(!text.includes(secret), secret)
  })
})

type TraceOf = ReturnType<typeof traceOf>

test('a collector that fails, hangs or is away fails no request, is logged once, and delays no stop', async () => {
  let answer: () => number | Promise<number> = () => 500
  const collector = await otlpCollector(() => answer())
  const server = await tracedServer(collector.url, {
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '50',
    OTEL_EXPORTER_OTLP_PROTOCOL: '',
  })
  try {
    const complaints = () => server.output().split('traces or metrics were not exported').length - 1
    const ask = async () => assert.equal((await server.call('/api/v1/styles')).status, 200)
    await ask()
    await until(() => complaints() === 1)
    assert.equal(collector.requests[0]?.headers['content-type'], 'application/x-protobuf', 'the default')
    answer = () => new Promise(() => {})
    const asked = collector.requests.length
    await until(async () => ask().then(() => collector.requests.length > asked))
    await ask()
    await collector.close()
    await ask()
    const begun = performance.now()
    assert.equal(await server.stop('SIGTERM'), 0)
    assert.ok(performance.now() - begun < 25_000)
    assert.equal(complaints(), 1)
  } finally {
    await server.close()
  }
})
