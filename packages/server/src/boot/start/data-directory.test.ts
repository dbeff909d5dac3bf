import assert from 'node:assert/strict'
import { chmod, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { startReplica } from '../../../testing/processes/replica-process.ts'
import { closeToOthers } from './data-directory.ts'

let parent: string
before(async () => {
  parent = await makeDatabaseDirectory('modes')
})
after(() => rm(parent, { recursive: true, force: true }))

const openToOthers = async (directory: string): Promise<string[]> => {
  const names = ['', ...(await readdir(directory, { recursive: true }))]
  const found = await Promise.all(names.map(async (name) => ({ name, ...(await lstat(join(directory, name))) })))
  return found.filter(({ mode }) => mode & 0o077 && (mode & 0o170000) !== 0o120000).map(({ name }) => name)
}

test('what an earlier version left open to other users is closed, and links are not followed', async () => {
  const directory = join(parent, 'old')
  const outside = join(parent, 'outside')
  await mkdir(join(directory, 'uploads', 'one'), { recursive: true })
  await writeFile(join(directory, 'uploads', 'one', 'file'), 'x')
  await writeFile(outside, 'x')
  await symlink(outside, join(directory, 'link'))
  await chmod(outside, 0o644)
  await chmod(join(directory, 'uploads'), 0o755)
  await chmod(join(directory, 'uploads', 'one', 'file'), 0o664)
  await chmod(directory, 0o755)
  const errors: unknown[] = []
  await closeToOthers(directory, (error) => errors.push(error))
  assert.deepEqual(await openToOthers(directory), [])
  assert.equal((await lstat(join(directory, 'uploads', 'one', 'file'))).mode & 0o777, 0o600)
  assert.equal((await lstat(outside)).mode & 0o777, 0o644)
  assert.deepEqual(errors, [])
})

test('nothing that a server makes in DATA_DIR can be read by other users of the machine', async () => {
  const database = process.env.TEST_DATABASE_URL ? await testDatabase() : undefined
  const directory = join(parent, 'new')
  const master = '6f0c1b2a-3d4e-4f5a-8b6c-7d8e9f0a1b2c'
  const server = await startReplica({
    DATA_DIR: directory,
    MASTER_API_KEY: master,
    ...(database?.url && { DATABASE_URL: database.url }),
  })
  try {
    const form = new FormData()
    form.append('file', new Blob(['name,lon,lat\na,1,2\n']), 'places.csv')
    const headers = { 'x-api-key': master }
    const sent = await fetch(`${server.url}/api/v1/uploads`, { method: 'POST', headers, body: form })
    assert.equal(sent.status, 200, await sent.clone().text())
    const { id } = (await sent.json()) as { id: string }
    assert.deepEqual(await openToOthers(directory).catch(() => openToOthers(directory)), [])
    const waited = { headers: { ...headers, prefer: 'wait=20' } }
    const { status } = (await (await fetch(`${server.url}/api/v1/uploads/${id}`, waited)).json()) as { status: string }
    assert.ok(['completed', 'processing'].includes(status), status)
    assert.equal((await lstat(directory)).mode & 0o777, 0o700)
    assert.deepEqual(await openToOthers(directory).catch(() => openToOthers(directory)), [])
  } finally {
    await server.end('SIGTERM')
    await database?.close()
  }
})
