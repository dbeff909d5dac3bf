import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type CommandEnvironment, runCommandLine, type ServerProcess, startServer } from '../testing/command-line.ts'
import { makeDatabaseDirectory } from '../testing/database-directory.ts'
import { featuresOf } from '../testing/tiles.ts'
import { clientOf, pointsGeoJson, type UpgradeClient } from '../testing/upgrades/client.ts'
import { type RecordedVersion, unpackFirstVersion } from '../testing/upgrades/first-version.ts'
import { unpackLastRelease } from '../testing/upgrades/last-release.ts'

// One database is enough: the data directory holds an embedded one.

let directory: string
let env: CommandEnvironment
let first: RecordedVersion
let server: ServerProcess
let client: UpgradeClient
before(async () => {
  directory = await makeDatabaseDirectory('first-version')
  env = {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    DATA_DIR: join(directory, 'data'),
  }
  first = await unpackFirstVersion(env.DATA_DIR ?? '')
  server = await startServer(env)
  client = clientOf(server.url, first.keys.developer)
})
after(async () => {
  await server?.stop('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

test('records, rows and tiles of the first version are answered as it answered them', async () => {
  for (const [path, recorded] of Object.entries(first.answers)) {
    if (path.endsWith('.pbf'))
      assert.deepEqual(drawn(await client.bytes(path)), drawn(Buffer.from(String(recorded), 'base64')), path)
    else assert.deepEqual(known(await client.get(path), recorded), recorded, path)
  }
})

test('uploads that the first version had accepted are completed', async () => {
  for (const id of first.waiting) {
    const { status, featureCount } = await client.ended(id)
    assert.deepEqual([status, featureCount], ['completed', 10])
  }
})

test('keys and passwords of the first version are accepted, within the bounds that they had', async () => {
  await client.withKey(first.keys.master).get('/api/v1/applications')
  const { accessToken } = await client.make('auth/login', first.login)
  const me = await client.get('/api/v1/auth/users/me', { authorization: `Bearer ${accessToken}` })
  assert.equal(me.email, first.login.email)
  const visitor = client.withKey(first.keys.visitor)
  const list = async (origin: string) => (await visitor.send('GET', '/api/v1/agents', { headers: { origin } })).status
  assert.equal(await list('https://harbour.example.org'), 200)
  assert.equal(await list('https://elsewhere.example.org'), 401)
})

test('what the first version has made can be changed, and more can be added', async () => {
  for (const path of Object.keys(first.answers).filter((one) =>
    /^\/api\/v1\/(styles|datasets|agents)\/[0-9a-f-]{36}$/.test(one),
  )) {
    const { description } = (await client.call('PATCH', path, { body: { description: 'changed' } })).body
    assert.equal(description, 'changed', path)
  }
  const { status, datasetId, tileSourceId } = await client.upload('more.geojson', pointsGeoJson(30))
  assert.equal(status, 'completed')
  assert.equal((await client.get(`/api/v1/datasets/${datasetId}/query?limit=100`)).length, 30)
  assert.equal(featuresOf(await client.bytes(`/tiles/${tileSourceId}/0/0/0.pbf`)).length, 30)
})

test('a data directory that a newer server has opened is refused by the last release, with the reason', async () => {
  assert.equal(await server.stop('SIGTERM'), 0)
  const release = await unpackLastRelease(join(directory, 'release'))
  const { errors, code } = await runCommandLine(['serve'], env, release)
  assert.equal(code, 1)
  // The newer server applied 0010 as it was amended since, which the last release meets first.
  assert.match(
    errors,
    /^The (database is newer than this server: it has the migration 00\d\d-|migration 0010-closed-catalogs\.sql was changed)/,
  )
})

/** What a tile shows. Its bytes may be better packed by now. */
const drawn = (tile: Uint8Array): unknown[] =>
  featuresOf(tile).map((feature) => ({ ...feature.properties, geometry: feature.loadGeometry() }))

/** Of an answer what was there when it was recorded: later versions may say more. */
function known(answer: unknown, recorded: unknown): unknown {
  if (Array.isArray(answer) && Array.isArray(recorded)) return answer.map((item, index) => known(item, recorded[index]))
  if (!isRecord(answer) || !isRecord(recorded)) return answer
  const names = Object.keys(answer).filter((name) => name in recorded)
  return Object.fromEntries(names.map((name) => [name, known(answer[name], recorded[name])]))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
