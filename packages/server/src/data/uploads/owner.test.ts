import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formOf, type UploadApp, uploadApp } from '../../../testing/uploads.ts'

// One database is enough: the owner is a value like others; upload.test.ts and removals.test.ts store datasets in both.

let uploads: UploadApp
before(async () => {
  uploads = await uploadApp()
})
after(() => uploads.close())

const file = { name: 'a.csv', bytes: 'a,lon,lat\n1,2,3\n' }

test('an upload, and the dataset it makes, belong to the user whose token came with it', async () => {
  const { app, tenant } = uploads
  const user = await app.user(tenant.id)
  const { headers } = await app.login(user)
  const { status, body } = await uploads.call('POST', '/api/v1/uploads', { body: formOf(file), headers })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.ownerId, Number(user.id))
  const joined = await uploads.call('GET', `/api/v1/uploads/${body.id}?join=owner`)
  assert.equal(joined.body.owner.email, user.email)
  const { datasetId } = await uploads.ended(body.id)
  assert.equal((await uploads.call('GET', `/api/v1/datasets/${datasetId}`)).body.ownerId, Number(user.id))
  await uploads.call('DELETE', `/api/v1/auth/users/${user.id}`)
  assert.equal((await uploads.call('GET', `/api/v1/uploads/${body.id}`)).body.ownerId, null)
})

test('without a token an upload belongs to nobody', async () => {
  const { body } = await uploads.send(file)
  assert.equal(body.ownerId, null)
  assert.equal((await uploads.ended(body.id)).status, 'completed')
})

test('the dataset of a user who was deleted while the file was loaded belongs to nobody', async () => {
  const { app, tenant } = uploads
  const user = await app.user(tenant.id)
  const { headers } = await app.login(user)
  const { body } = await uploads.call('POST', '/api/v1/uploads', { body: formOf(file), headers })
  await uploads.call('DELETE', `/api/v1/auth/users/${user.id}`)
  const { status, datasetId, error } = await uploads.ended(body.id)
  assert.equal(status, 'completed', JSON.stringify(error))
  assert.equal((await uploads.call('GET', `/api/v1/datasets/${datasetId}`)).body.ownerId, null)
})

test('the name of a file is cut to its last segment; where nothing is left, the file is refused', async () => {
  const named = async (name: string) => uploads.call('POST', '/api/v1/uploads', rawForm(name))
  for (const name of ['C:\\\\data\\\\a.csv', '/tmp/a.csv', '../a.csv']) {
    assert.equal((await named(name)).body.fileName, 'a.csv', name)
  }
  for (const name of ['/', 'a/', '..', ' ']) assert.equal((await named(name)).status, 400, name)
})

/** As no browser sends it. */
function rawForm(name: string): RequestInit {
  const body = `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: text/csv\r\n\r\n${file.bytes}\r\n--x--\r\n`
  return { body, headers: { 'content-type': 'multipart/form-data; boundary=x' } }
}
