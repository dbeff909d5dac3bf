import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type CommandEnvironment, runCommandLine, type ServerProcess, startServer } from '../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { featuresOf } from '../testing/tiles.ts'
import { until } from '../testing/until.ts'
import { clientOf, pointsGeoJson, type UpgradeClient } from '../testing/upgrades/client.ts'
import { unpackLastRelease } from '../testing/upgrades/last-release.ts'
import { type LoadLayer, startLoad, type UpgradeLoad } from '../testing/upgrades/load.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

/** The steps of a rolling upgrade, in their order, under load from the first to the last. */
describe('a rolling upgrade from the last release', { skip }, () => {
  const master = randomUUID()
  const loads: UpgradeLoad[] = []
  let directory: string
  let database: TestDatabase
  let env: CommandEnvironment
  let oldProgram: string
  let oldServer: ServerProcess
  let newServer: ServerProcess
  let oldClient: UpgradeClient
  let newClient: UpgradeClient
  let applicationId: string
  let key: string
  let layer: LoadLayer

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'graticule-upgrade-'))
    database = await testDatabase()
    env = {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      DATABASE_URL: database.url ?? '',
      DATA_DIR: join(directory, 'data'),
      MASTER_API_KEY: master,
    }
    oldProgram = await unpackLastRelease(join(directory, 'release'))
    oldServer = await startServer(env, oldProgram)
    const operator = clientOf(oldServer.url, master)
    applicationId = (await operator.make('applications', { name: 'Harbour' })).id
    key = (await operator.make('apikeys', { applicationId, type: 'app', permissions: { '*': { '*': '*' } } })).id
    oldClient = operator.withKey(key)
    const { datasetId, tileSourceId } = await oldClient.upload('berths.geojson', pointsGeoJson(300))
    layer = { dataset: datasetId, tiles: tileSourceId }
    loads.push(startLoad(oldClient, layer))
  })
  after(async () => {
    await Promise.allSettled(loads.map((load) => load.stop()))
    await oldServer?.stop('SIGKILL')
    await newServer?.stop('SIGKILL')
    await database?.close()
    await rm(directory, { recursive: true, force: true })
  })

  /** Both servers go on serving, without a failed request. */
  const allGoOn = () => Promise.all(loads.map((load) => load.goOn()))

  test('the new migrations run while the last release serves, and no request fails', async () => {
    await allGoOn()
    const { output, errors, code } = await runCommandLine(['migrate'], env)
    assert.equal(code, 0, errors)
    assert.match(output, /Applied migrations \d/)
    await allGoOn()
  })

  test('servers of both releases serve one database, and no request fails', async () => {
    newServer = await startServer(env)
    newClient = clientOf(newServer.url, key)
    loads.push(startLoad(newClient, layer))
    await allGoOn()
  })

  for (const [writing, reading] of [
    ['the last release', 'the new one'],
    ['the new one', 'the last release'],
  ]) {
    const pair = () =>
      (writing === 'the new one' ? [newClient, oldClient] : [oldClient, newClient]) as [UpgradeClient, UpgradeClient]

    test(`what ${writing} writes, ${reading} reads and changes`, async () => {
      const [writer, reader] = pair()
      const { id } = await writer.make('styles', { name: writing, style: { version: 8, sources: {}, layers: [] } })
      assert.equal((await reader.get(`/api/v1/styles/${id}`)).name, writing)
      await reader.call('PATCH', `/api/v1/styles/${id}`, { body: { name: reading } })
      await until(async () => (await writer.get(`/api/v1/styles/${id}`)).name === reading)
    })

    test(`files that ${writing} accepts are rows and tiles of ${reading}`, async () => {
      const [writer, reader] = pair()
      const { status, datasetId, tileSourceId } = await writer.upload('berths.geojson', pointsGeoJson(30))
      assert.equal(status, 'completed')
      const rows = await reader.get(
        `/api/v1/datasets/${datasetId}/query?filter[depth][$gte]=7&sort=name&attributes=name`,
      )
      assert.deepEqual(rows, [{ name: 'berth 28' }, { name: 'berth 29' }])
      assert.equal(featuresOf(await reader.bytes(`/tiles/${tileSourceId}/0/0/0.pbf`)).length, 30)
    })

    test(`keys and users of ${writing} are those of ${reading}, until they are deleted`, async () => {
      const [writer, reader] = pair()
      const { id } = await writer.make('apikeys', { type: 'app', permissions: { styles: { read: '*' } } })
      await reader.withKey(id).get('/api/v1/styles')
      await writer.call('DELETE', `/api/v1/apikeys/${id}`)
      await until(async () => (await reader.withKey(id).send('GET', '/api/v1/styles')).status === 401)
      const login = { email: `${randomUUID()}@example.org`, password: `pass ${randomUUID()}` }
      await writer.make('auth/users', { ...login, emailVerified: true })
      const { accessToken } = await reader.make('auth/login', { ...login, applicationId })
      const me = await writer.get('/api/v1/auth/users/me', { authorization: `Bearer ${accessToken}` })
      assert.equal(me.email, login.email)
    })
  }

  test('the last release stops and the new one goes on, and no request fails', async () => {
    const [oldLoad, newLoad] = loads
    await oldLoad?.stop()
    assert.equal(await oldServer.stop('SIGTERM'), 0)
    await newLoad?.goOn()
    await newLoad?.stop()
  })

  test('a server of the last release is not started again on the newer schema, and says why', async () => {
    const { errors, code } = await runCommandLine(['serve'], env, oldProgram)
    assert.equal(code, 1)
    assert.match(
      errors,
      /^The database is newer than this server: it has the migration 00\d\d-.*\. Start a newer version/,
    )
  })
})
