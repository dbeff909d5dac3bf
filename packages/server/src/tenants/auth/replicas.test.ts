import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { type ReplicaProcess, startReplica } from '../../../testing/processes/replica-process.ts'

// One database is enough: several processes cannot share the embedded one.

const skip = process.env.TEST_DATABASE_URL ? false : 'the embedded database belongs to one process'

/** Two servers, each a process of its own, on one PostgreSQL. */
describe('wrong passwords at two processes', { skip }, () => {
  const master = randomUUID()
  const password = 'nine Bernoulli numbers'
  const replicas: ReplicaProcess[] = []
  let database: TestDatabase
  let applicationId = ''
  before(async () => {
    database = await testDatabase()
    for (let n = 0; n < 2; n++) {
      replicas.push(
        await startReplica({
          DATABASE_URL: database.url ?? '',
          MASTER_API_KEY: master,
          TRUST_PROXY: 'true',
          SECRET_KEY: 'a secret for tests, long enough to be one',
        }),
      )
    }
    const made = await post(0, 'applications', { name: 'replicas' })
    applicationId = ((await made.json()) as { id: string }).id
  })
  after(async () => {
    for (const { end } of replicas) await end('SIGKILL')
    await database?.close()
  })

  const post = (
    replica: number,
    path: string,
    body: object,
    headers: Record<string, string> = { 'x-api-key': master },
  ) =>
    fetch(`${replicas[replica]?.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  async function newUser(): Promise<string> {
    const email = `${randomUUID()}@example.org`
    const reply = await post(0, 'auth/users', { email, password, emailVerified: true, applicationId })
    assert.equal(reply.status, 201)
    return email
  }
  const login = (replica: number, email: string, given: string, address: string) =>
    post(replica, 'auth/login', { email, password: given, applicationId }, { 'x-forwarded-for': address })

  test('are counted together: after ten the next is 429 at both, and the right one still works from another address', async () => {
    const email = await newUser()
    const statuses: number[] = []
    for (let n = 0; n < 11; n++) statuses.push((await login(n % 2, email, 'a wrong one', '198.51.100.1')).status)
    assert.deepEqual(statuses, [...Array(10).fill(401), 429])
    for (const replica of [0, 1]) {
      const limited = await login(replica, email, password, '198.51.100.1')
      assert.equal(limited.status, 429)
      assert.ok(Number(limited.headers.get('retry-after')) > 0)
      assert.equal((await login(replica, email, password, '198.51.100.2')).status, 200, 'from another address')
      assert.equal((await login(replica, await newUser(), password, '198.51.100.1')).status, 200, 'another user')
    }
  })

  test('are ten also when thirty come at once', async () => {
    const email = await newUser()
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) => login(n % 2, email, 'a wrong one', '198.51.100.3')),
    )
    const statuses = replies.map(({ status }) => status).sort()
    assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(20).fill(429)])
  })
})
