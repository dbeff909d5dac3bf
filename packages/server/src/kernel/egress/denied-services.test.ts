import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { testApp } from '../../../testing/harness.ts'
import { httpSink } from '../../../testing/peers/http-sink.ts'
import { readPlatformServer } from '../libpq/platform-server.ts'
import { loadConfig } from '../settings/config.ts'
import { databaseHosts, deniedServicesOf, isLaptop } from './denied-services.ts'

test('the database’s hosts are those that the driver connects to', () => {
  const cases: Record<string, [string, number][]> = {
    'postgres://u:p@db.internal:6543/x': [['db.internal', 6543]],
    'postgres://u:p%40@db.internal/x': [['db.internal', 5432]],
    'postgresql://[fd00::5]:5433/x': [['fd00::5', 5433]],
    'postgres://localhost/x?sslmode=disable': [['localhost', 5432]],
    'postgres:///x?host=/var/run/postgresql': [['/var/run/postgresql', 5432]],
    'postgres://%2Fvar%2Frun%2Fpostgresql/x': [['/var/run/postgresql', 5432]],
    'postgres://ignored:5433/x?host=real.internal': [['real.internal', 5433]],
    'postgres://u@a:5432,b:5433,[::1]/x': [
      ['a', 5432],
      ['b', 5433],
      ['::1', 5432],
    ],
  }
  for (const [url, expected] of Object.entries(cases)) {
    assert.deepEqual(
      databaseHosts(readPlatformServer(url)),
      expected.map(([host, port]) => ({ host, port })),
      url,
    )
  }
})

test('the broker, the mail server, functions, the collector, the file storage, figures and the server itself are the platform’s own', () => {
  const config = loadConfig({
    NATS_URL: 'nats://token@nats.internal',
    SMTP_URL: 'smtps://u:p@mail.internal',
    LAMBDA_ENDPOINT: 'http://[::1]:4566',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.internal:4318',
    S3_BUCKET: 'maps',
    S3_ENDPOINT: 'http://s3.internal:9000',
    METRICS_PORT: '9100',
    HOST: '0.0.0.0',
  })
  let listening: AddressInfo | null = null
  const { database, services } = deniedServicesOf(config, () => listening)
  assert.deepEqual(database, [])
  const named = [
    { host: 'nats.internal', port: 4222 },
    { host: 'mail.internal', port: 465 },
    { host: '[::1]', port: 4566 },
    { host: 'collector.internal', port: 4318 },
    { host: 's3.internal', port: 9000 },
    { host: 'maps.s3.internal', port: 9000 },
    { host: '0.0.0.0', port: 9100 },
  ]
  assert.deepEqual(services(), named)
  listening = { address: '::', port: 8080, family: 'IPv6' }
  assert.deepEqual(services(), [...named, { host: '::', port: 8080 }])
})

describe('a laptop', () => {
  const check = (settings: Record<string, string>, kind: 'embedded' | 'postgres' = 'embedded') =>
    isLaptop(loadConfig(settings), kind)

  test('is a server on loopback with the embedded database, whatever NODE_ENV says', async () => {
    for (const HOST of ['localhost', '127.0.0.1', '::1', '127.0.0.5']) {
      assert.equal(await check({ HOST }), true, HOST)
      assert.equal(await check({ HOST, NODE_ENV: 'production' }), true, HOST)
      assert.equal(await check({ HOST }, 'postgres'), false, HOST)
    }
    assert.equal(await check({ BASE_URL: 'http://localhost:8080' }), true)
  })

  test('is no server that others can reach, directly or through a proxy', async () => {
    for (const HOST of ['0.0.0.0', '::', '10.0.0.1', 'nowhere.invalid'])
      assert.equal(await check({ HOST }), false, HOST)
    assert.equal(await check({ TRUST_PROXY: '127.0.0.1' }), false)
    assert.equal(await check({ BASE_URL: 'https://192.0.2.1' }), false)
  })
})

describe('what tenants reach of the platform’s surroundings', () => {
  const dataset = (source: string) => ({ type: 'rest', name: 'a', source })

  test('loopback is closed where others can reach the server, and on PostgreSQL, with NODE_ENV or without', async () => {
    const sink = await httpSink(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '[]' }))
    const reachable = await testApp({ EGRESS_ALLOW: '', HOST: '0.0.0.0', NODE_ENV: 'development' })
    const refused = await reachable.call('POST', '/api/v1/datasets', { body: dataset(sink.url) })
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /EGRESS_ALLOW/)
    assert.equal(sink.requests.length, 0)
    await reachable.close()
    const app = await testApp({ EGRESS_ALLOW: '' })
    const reply = await app.call('POST', '/api/v1/datasets', { body: dataset(sink.url) })
    assert.equal(sink.requests.length > 0, app.db.kind === 'embedded', reply.text)
    await app.close()
    await sink.close()
  })

  // The server's address has nothing to do with the database, and each start of the embedded one takes seconds.
  const onPostgres = { skip: process.env.TEST_DATABASE_URL ? false : 'does not depend on the database' }

  test('the server itself is reached only where EGRESS_ALLOW names it', onPostgres, async () => {
    const first = await testApp()
    await first.http.listen({ port: 0, host: '127.0.0.1' })
    const { port } = first.http.server.address() as AddressInfo
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.2']) {
      const body = dataset(`http://${host}:${port}/openapi.json`)
      const reply = await first.call('POST', '/api/v1/datasets', { body })
      assert.equal(reply.status, 400)
      assert.match(reply.body.detail, /EGRESS_ALLOW/)
    }
    await first.close()
    const second = await testApp({ EGRESS_ALLOW: `127.0.0.1:${port}` })
    await second.http.listen({ port, host: '127.0.0.1' })
    const body = dataset(`http://127.0.0.1:${port}/api/v1/healthcheck`)
    const reply = await second.call('POST', '/api/v1/datasets', { body })
    await second.close()
    assert.doesNotMatch(reply.text, /EGRESS_ALLOW/)
  })
})
