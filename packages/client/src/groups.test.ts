import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConsoleLink } from '../../server/src/boot/start/console-link.ts'
import { shownBy } from '../../server/testing/authenticator.ts'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { type Client, createClient } from './client.ts'

// One walk through each group, against the server: the methods send what it takes and give what it answers.

let server: ClientServer
let client: Client
before(async () => {
  server = await clientServer()
  client = server.client()
})
after(() => server.close())

const uuid = /^[0-9a-f-]{36}$/

test('client.applications and client.apiKeys send the requests of their operations', async () => {
  const master = server.client({}, server.app.master)
  const application = await master.applications.create({ name: 'Harbour' })
  assert.match(application.keys.developer, uuid)
  const own = createClient(server.url, application.keys.developer)
  const key = await own.apiKeys.create({ type: 'app', permissions: { styles: { read: '*' } }, description: 'Reads' })
  assert.equal((await own.apiKeys.get(key.id)).description, 'Reads')
  assert.deepEqual(await own.apiKeys.list({ filter: { description: 'Reads' }, fields: ['description'] }), [
    { description: 'Reads' },
  ])
  await assert.rejects(createClient(server.url, key.id).datasets.list(), { status: 401 })
  await own.apiKeys.delete(key.id)
  assert.equal((await master.applications.update(application.id, { name: 'Port' })).name, 'Port')
  await master.applications.delete(application.id)
})

test('client.appconfig sends the requests of its operations', async () => {
  const { appconfig } = client
  await appconfig.set({ map: { zoom: 5 } })
  assert.equal((await appconfig.get<{ map: { zoom: number } }>()).map.zoom, 5)
  await appconfig.merge({ map: { center: [10, 51] } })
  assert.deepEqual(await appconfig.getKey('map'), { zoom: 5, center: [10, 51] })
  await appconfig.setKey('map.zoom', 7)
  await appconfig.deleteKey('map.center')
  assert.deepEqual((await appconfig.current()).map, { zoom: 7 })
  const [record] = await appconfig.records.list()
  assert.deepEqual(record?.config, { map: { zoom: 7 } })
  assert.deepEqual((await appconfig.records.get(server.tenant.id)).config, { map: { zoom: 7 } })
  await appconfig.records.patch(server.tenant.id, { config: { map: null, a: 1 } })
  await appconfig.records.update(server.tenant.id, { config: { b: 2 } })
  assert.deepEqual((await appconfig.records.get(server.tenant.id)).config, { b: 2 })
  await appconfig.records.delete(server.tenant.id)
  await appconfig.records.create({ config: { c: 3 } })
  assert.equal(await appconfig.getKey('c'), 3)
  await appconfig.delete(server.tenant.id)
  assert.deepEqual((await appconfig.create({ config: { map: { zoom: 5 } } })).config, { map: { zoom: 5 } })
  assert.equal(await appconfig.get('map.zoom'), 5)
  assert.deepEqual((await appconfig.get<{ map: unknown }>(undefined, {})).map, { zoom: 5 })
  await appconfig.update('map.zoom', 6)
  assert.deepEqual((await appconfig.list())[0]?.config, { map: { zoom: 6 } })
  await appconfig.update(server.tenant.id, { config: { map: { pitch: 1, zoom: 7 } } })
  await appconfig.delete('map.zoom')
  assert.deepEqual((await appconfig.get()).map, { pitch: 1 })
})

// The groups and methods that the interface promises of every client; keys and uploads are never changed.
const crud = ['create', 'list', 'get', 'update', 'delete']
const unchanged = crud.filter((name) => name !== 'update')
const promised: Readonly<Record<string, readonly string[]>> = {
  'auth.users': crud,
  apiKeys: unchanged,
  applications: crud,
  appconfig: crud,
  databases: crud,
  datasets: [...crud, 'query'],
  styles: crud,
  tileSources: crud,
  uploads: unchanged,
  tiles: ['get'],
  maps: ['style'],
  auth: ['login', 'refresh', 'logout'],
}

test('a client has every group of the interface, and each the methods of its resource', () => {
  const missing = Object.entries(promised).flatMap(([group, methods]) => {
    const found = group
      .split('.')
      .reduce<Record<string, unknown>>((inner, name) => inner[name] as never, client as never)
    return methods.filter((method) => typeof found[method] !== 'function').map((method) => `${group}.${method}`)
  })
  assert.deepEqual(missing, [])
})

test('client.databases sends the requests of its operations', async () => {
  const { databases } = client
  assert.ok((await databases.drivers()).includes('postgres'))
  const [own] = await databases.list()
  const id = own?.id ?? (await databases.create({ type: 'postgres', name: 'Own', default: true })).id
  assert.equal((await databases.test(id)).ok, true)
  assert.ok(Array.isArray(await databases.tables(id, { limit: 5 })))
  const { published } = await databases.publish(id)
  assert.deepEqual(published, [])
})

test('contactPoints, their deliveries and the outbox', async () => {
  const { contactPoints } = client
  assert.ok((await contactPoints.drivers()).length > 0)
  const { id } = await contactPoints.create({
    name: 'Harbour',
    type: 'email',
    settings: { addresses: ['a@example.org'] },
  })
  assert.equal((await contactPoints.send(id, { message: 'High water' })).status, 'accepted')
  assert.equal((await contactPoints.deliveries(id)).length, 1)
  assert.deepEqual(await contactPoints.bind(id, { bindings: [] }), await contactPoints.bindings(id))
  const { outbox } = server.client({}, server.app.master).server
  const [mail] = await outbox.list({ limit: 1 })
  assert.deepEqual(mail?.to, ['a@example.org'])
  assert.match((await outbox.get(String(mail?.id))).text ?? '', /High water/)
  await contactPoints.delete(id)
})

test('server.usage is what the application of the key uses', async () => {
  const [usage, ...others] = await client.server.usage({ interval: 'month' })
  assert.deepEqual([usage?.applicationId, others], [server.tenant.id, []])
})

test('client.audit lists, pages and exports the audit log', async () => {
  const { id } = await client.styles.create({ name: 'Chart', style: { version: 8, sources: {}, layers: [] } })
  await client.styles.delete(id)
  const filter = { targetId: id }
  const actions = (await client.audit.list({ filter })).map(({ action }) => action)
  assert.deepEqual(actions, ['styles.delete', 'styles.create'])
  const { entries, next } = await client.audit.page({ filter, limit: 1 })
  assert.equal(entries[0]?.action, 'styles.delete')
  const last = await client.audit.page({ filter, limit: 1, cursor: next ?? '' })
  assert.deepEqual([last.entries[0]?.action, last.next], ['styles.create', null])
  const file = await client.audit.export('csv', { filter, fields: ['action'] })
  assert.equal(await file.text(), 'action\r\nstyles.delete\r\nstyles.create\r\n')
})

test('client.tileSources, tiles, styles and maps send the requests of their operations', async () => {
  const source = "SELECT 1 AS id, 'Null' AS name, ST_SetSRID(ST_Point(1, 1), 4326) AS geom"
  const dataset = await client.datasets.create({ type: 'sql', name: 'Point', source })
  const { id } = await client.tileSources.create({ type: 'dataset', source: dataset.id, name: 'Point' })
  assert.ok((await client.tileSources.drivers()).length > 0)
  const tile = await client.tiles.get(id, { z: 0, x: 0, y: 0 }, { attributes: ['name'] })
  assert.ok(tile instanceof ArrayBuffer && tile.byteLength > 10)
  assert.equal(await client.tiles.get(id, { z: 3, x: 0, y: 0 }), null)
  assert.equal((await client.tiles.describe(id)).tilejson, '3.0.0')
  assert.equal((await client.tiles.style(id)).version, 8)
  const address = client.tiles.url(id, { apiKey: server.tenant.public, filter: { name: 'Null' } })
  assert.equal((await fetch(address)).status, 200)
  const inCql2 = (filter: string) => client.tiles.get(id, { z: 0, x: 0, y: 0 }, { filter, 'filter-lang': 'cql2-text' })
  assert.ok(await inCql2("name LIKE 'N%'"))
  assert.equal(await inCql2("name LIKE 'x%'"), null)
  const style = await client.styles.create({ name: 'Plain', style: { version: 8, sources: {}, layers: [] } })
  assert.equal((await client.maps.style(style.id)).version, 8)
  const { url, headers = {} } = client.transformRequest(client.maps.url(style.id), 'Style')
  assert.equal((await fetch(url, { headers })).status, 200)
  assert.ok((await client.maps.fonts()).length > 0)
  // A whole JPEG as far as the server looks: its frame.
  const picture = `data:image/jpeg;base64,${Buffer.from('ffd8ffc0000b08000200030101110000ffd9', 'hex').toString('base64')}`
  await client.styles.setPicture(style.id, picture)
  assert.equal(await client.styles.getPicture(style.id), picture)
  await client.styles.setPicture(style.id, null)
  assert.equal(await client.styles.getPicture(style.id), null)
})

test('auth.users and the password of a user', async () => {
  const { auth } = client
  const email = 'ada@example.org'
  const password = 'nine Bernoulli numbers'
  const metadata = { auth: { defaultApiKey: server.tenant.developer } }
  const { id, applicationId } = await auth.users.create({ email, password, metadata })
  assert.equal((await auth.users.patch(id, { firstName: 'Ada' })).firstName, 'Ada')
  assert.equal((await auth.users.metadata.set(id, { n: 1 })).n, 1)
  const visitor = server.client({}, null)
  await visitor.auth.login({ email, password, applicationId })
  assert.equal((await visitor.auth.users.me()).firstName, 'Ada')
  assert.equal((await auth.access()).user, null)
  assert.equal((await visitor.auth.access()).user?.email, email)
  const newPassword = 'ten Bernoulli numbers'
  await visitor.auth.changePassword({ password, newPassword })
  await assert.rejects(visitor.auth.login({ email, password, applicationId }), { status: 401 })
  await visitor.auth.login({ email, password: newPassword, applicationId })
  await assert.rejects(auth.resetPassword({ email, password, applicationId, token: 'none' }), { status: 401 })
  assert.ok((await auth.jwks()).keys.length > 0)
  const [session] = await visitor.auth.sessions.list()
  assert.equal(session?.isCurrent, true)
  await visitor.auth.sessions.end(session.id)
  await assert.rejects(visitor.auth.users.me(), { status: 401 })
  await auth.users.delete(id)
})

test('auth.secondFactor sets a second factor up, and logs in with a recovery code', async () => {
  const { auth } = client
  const [email, password] = ['mary@example.org', 'the mechanism of the heavens']
  const metadata = { auth: { defaultApiKey: server.tenant.developer } }
  const { id, applicationId } = await auth.users.create({ email, password, metadata })
  const who = { email, password, applicationId }
  const { secret, uri } = await auth.secondFactor.start(who)
  assert.match(uri, /^otpauth:/)
  const { recoveryCodes } = await auth.secondFactor.confirm({ ...who, code: shownBy(secret) })
  const visitor = server.client({}, null)
  await assert.rejects(visitor.auth.login(who), { status: 401, code: 'second_factor_required' })
  await visitor.auth.login({ ...who, code: recoveryCodes[0] ?? '' })
  await auth.secondFactor.remove({ ...who, code: recoveryCodes[1] ?? '' })
  await visitor.auth.login(who)
  await auth.users.delete(id)
})

test('auth.exchange gives a client the key of a sign-in link', async () => {
  const { id, developer } = server.tenant
  const link = await createConsoleLink(server.app.db, server.url, { applicationId: id, endsAtRestart: false })
  const visitor = server.client({}, null)
  const token = new URL(link ?? '').hash.replace('#token=', '')
  assert.equal((await visitor.auth.exchange({ token })).applicationId, id)
  assert.equal((await visitor.auth.access()).application?.id, id)
  assert.match(visitor.apiKey ?? '', uuid)
  await assert.rejects(server.client({}, developer).auth.exchange({ token }), { status: 401, code: 'unauthorized' })
})

test('client.server sends the requests of its operations', async () => {
  assert.equal((await client.server.health()).status, 'ok')
  assert.ok((await client.server.config()).version.tag)
  assert.equal((await client.server.openapi()).openapi, '3.1.0')
  const master = server.client({}, server.app.master)
  assert.match(await master.server.metrics(), /^# HELP /m)
})
