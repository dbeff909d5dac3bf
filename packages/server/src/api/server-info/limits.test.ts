import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { about, type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'

let app: TestApp
let own: Tenant
before(async () => {
  app = await testApp({ BODY_LIMIT: '2048', STREAMS_PER_APPLICATION: '3', STORAGE_PER_APPLICATION: '5000' })
  own = await app.tenant('own')
})
after(() => app.close())

const path = '/api/v1/config'

test('the server says its version and its limits to every key, as they are set', async () => {
  const { status, body } = await app.call('GET', path, { key: own.public })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    ...about,
    limits: {
      bodyBytes: 2048,
      uploadBytes: 1_073_741_824,
      unfinishedUploads: 100,
      uploadsPerHour: null,
      messagesPerMinute: null,
      sessionsPerUser: 20,
      storageBytes: 5000,
      queryTimeoutMs: app.url ? 300_000 : 10_000,
      queriesAtOnce: 3,
      applicationConnections: 5000,
      requestsPerSecond: null,
      tileFeatures: 50_000,
      tileBytes: 500_000,
      agentInputBytes: 262_144,
      agentOutputBytes: 4_194_304,
    },
  })
})

test('a body of the size that the server says is taken, and one byte more is not', async () => {
  const { bodyBytes } = (await app.call('GET', path)).body.limits
  const send = (length: number) => {
    const bare = JSON.stringify({ type: 'sql', name: 'a', source: 'SELECT 1 AS one', description: '' })
    const body = bare.replace('""', `"${'x'.repeat(length - bare.length)}"`)
    return app.call('POST', '/api/v1/datasets', { key: own.developer, raw: body, headers: json })
  }
  const json = { 'content-type': 'application/json' }
  assert.deepEqual([(await send(bodyBytes)).status, (await send(bodyBytes + 1)).status], [201, 413])
})
