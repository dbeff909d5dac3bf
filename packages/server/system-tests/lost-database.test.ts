import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { createSecrets } from '../src/api/access/secrets/secrets.ts'
import { type App, createApp } from '../src/boot/app.ts'
import { setUp } from '../src/boot/start/first-start.ts'
import { openPostgres } from '../src/kernel/db/postgres/postgres.ts'
import { readPlatformServer } from '../src/kernel/libpq/platform-server.ts'
import { loadConfig } from '../src/kernel/settings/config.ts'
import { migratedDatabase, type TestDatabase } from '../testing/database.ts'
import { about } from '../testing/harness.ts'
import { until } from '../testing/until.ts'

const master = '0b6f0f44-6c3c-4c8e-9d43-1f2f6a5f7a10'

/** A door to the database that can be shut. */
function createDoor(target: URL) {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  let port = 0
  return {
    async open() {
      server = createServer((client) => {
        const upstream = connect(Number(target.port), target.hostname)
        for (const socket of [client, upstream]) {
          sockets.add(socket)
          socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
        }
        client.pipe(upstream).pipe(client)
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
      return port
    },
    async shut() {
      const closed = server && once(server, 'close')
      server?.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

let database: TestDatabase
let door: ReturnType<typeof createDoor>
let app: App
let closeDb: () => Promise<void>

before(async () => {
  database = await migratedDatabase()
  if (!database.url) return
  const url = new URL(database.url)
  door = createDoor(new URL(database.url))
  url.port = String(await door.open())
  const db = openPostgres({ platform: readPlatformServer(url.href), poolSize: 5, onError: () => {} })
  closeDb = () => db.close()
  const secrets = createSecrets('a secret for tests, long enough to be one')
  await setUp(db, secrets, master)
  const config = loadConfig({ DATABASE_URL: url.href })
  app = await createApp({ db, secrets, logger: pino({ level: 'silent' }), config, about })
})
after(async () => {
  if (database.url) {
    await app.close()
    await closeDb()
    await door.shut()
  }
  await database.close()
})

test('a lost database is 503 with Retry-After; the process lives and works again at once', async (t) => {
  if (!database.url) return t.skip('an embedded database cannot be unplugged')
  const get = (url: string) => app.http.inject({ url, headers: { 'x-api-key': master } })
  assert.equal((await get('/api/v1/applications')).statusCode, 200)

  await door.shut()
  // The healthcheck does not wait for the database: until that has failed it says what it knew before.
  await until(async () => (await get('/api/v1/healthcheck')).statusCode === 503)
  for (const url of ['/api/v1/applications', '/api/v1/healthcheck', '/api/v1/appconfig']) {
    const reply = await get(url)
    assert.equal(reply.statusCode, 503, url)
    assert.ok(Number(reply.headers['retry-after']) > 0)
    assert.equal(reply.json().code, 'unavailable')
    assert.doesNotMatch(reply.body, /127\.0\.0\.1|ECONN/)
  }

  await door.open()
  await until(async () => (await get('/api/v1/applications')).statusCode === 200, 60_000)
})

test('connections that broke while idle cost a reader nothing', async (t) => {
  if (!database.url) return t.skip('an embedded database cannot be unplugged')
  const get = () => app.http.inject({ url: '/api/v1/applications', headers: { 'x-api-key': master } })
  await Promise.all([get(), get(), get(), get()])
  await door.shut()
  await door.open()
  for (const reply of await Promise.all([get(), get(), get()])) assert.equal(reply.statusCode, 200)
})
