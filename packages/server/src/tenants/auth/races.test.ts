import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Reply, type Tenant, type TestApp, type TestUser, testApp } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'
import { findAccount } from './accounts.ts'
import { beginSession, findSession, rotateSession } from './sessions.ts'

let app: TestApp
let tenant: Tenant
before(async () => {
  app = await testApp()
  tenant = await app.tenant('races')
  const body = { defaultApiKey: tenant.public }
  await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body })
})
after(() => app.close())

const post = (path: string, body: object, headers = {}) =>
  app.call('POST', `/api/v1/auth/${path}`, { key: null, body, headers })
const login = ({ email, password, applicationId }: TestUser) => post('login', { email, password, applicationId })
const refresh = (refreshToken: string, query = '') =>
  post(`refresh${query}`, { refreshToken, applicationId: tenant.id })
const asked = async (accessToken: string) =>
  (await app.call('GET', '/api/v1/auth/users/me', { key: null, headers: { authorization: `Bearer ${accessToken}` } }))
    .status

type Session = Awaited<ReturnType<TestApp['login']>>
const endings: Record<string, (user: TestUser, session: Session) => Promise<Reply>> = {
  disabled: ({ id }) => app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { enabled: false } }),
  deleted: ({ id }) => app.call('DELETE', `/api/v1/auth/users/${id}`),
  'given another password': ({ id }) =>
    app.call('PATCH', `/api/v1/auth/users/${id}`, { body: { password: 'quite another one' } }),
  'changing the password': ({ password }, { headers }) =>
    post('changepassword', { password, newPassword: 'quite another one' }, headers),
}

/** Of what was answered: the tokens, and whatever is neither a token nor a refusal. */
function tokensOf(replies: Reply[]) {
  const strange = replies.filter(({ status }) => status !== 200 && status !== 401)
  assert.deepEqual(
    strange.map(({ text }) => text),
    [],
  )
  const bodies = replies.filter(({ status }) => status === 200).map(({ body }) => body)
  return {
    access: bodies.map((body): string => (typeof body === 'string' ? body : body.accessToken)),
    refresh: bodies.flatMap((body): string[] => (typeof body === 'string' ? [] : [body.refreshToken])),
  }
}

for (const [name, end] of Object.entries(endings)) {
  describe(`while a user is ${name}`, () => {
    test('logins and refreshes with what was good before leave no token that works', async () => {
      let issued = 0
      for (let round = 0; round < 4; round++) {
        const user = await app.user(tenant.id)
        const sessions = [await app.login(user), await app.login(user)] as const
        const asks: Promise<Reply>[] = []
        let isOver = false
        const keepAsking = async () => {
          while (!isOver) {
            asks.push(refresh(sessions[0].refreshToken))
            await asks.at(-1)
          }
        }
        const asking = keepAsking()
        asks.push(login(user), login(user), login(user))
        // Every round the change falls into another moment of the logins, which take a few hundred milliseconds.
        await sleep(round * 60)
        const ending = end(user, sessions[0])
        asks.push(refresh(sessions[1].refreshToken, '?rotate=true'), login(user))
        const { status, text } = await ending
        assert.ok(status < 300, text)
        asks.push(login(user), refresh(sessions[0].refreshToken))
        const afterwards = asks.length - 2
        isOver = true
        await asking
        const replies = await Promise.all(asks)
        const tokens = tokensOf(replies)
        issued += tokens.access.length
        for (const token of tokens.access) assert.equal(await asked(token), 401, `round ${round}`)
        for (const token of [...tokens.refresh, ...sessions.map(({ refreshToken }) => refreshToken)]) {
          assert.equal((await refresh(token)).status, 401, `round ${round}`)
        }
        for (const { status } of replies.slice(afterwards, afterwards + 2))
          assert.equal(status, 401, 'asked afterwards')
      }
      assert.ok(issued > 4, `${issued} tokens were issued, too few to prove anything`)
    })
  })
}

describe('on PostgreSQL, where transactions really meet', { skip: !process.env.TEST_DATABASE_URL }, () => {
  /** Not in the transaction that is open where it is called. */
  const outside = AsyncLocalStorage.snapshot()
  /** Begins a change, lets `work` begin meanwhile, and ends the change when that waits. */
  async function during<T>(change: ReturnType<typeof sql>, work: () => Promise<T>): Promise<T> {
    let result: Promise<T> | undefined
    await app.db.transaction(async (tx) => {
      await tx.query(change)
      result = outside(work)
      await Promise.race([result, waits()])
    })
    return (await result) as T
  }
  const waits = () =>
    until(async () => {
      const [row] = await outside(() =>
        app.db.query(sql`SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database()
          AND wait_event_type = 'Lock'`),
      )
      return Number(row?.waiting) > 0
    })

  for (const [name, change] of Object.entries({
    'another password': (id: number) => sql`UPDATE svc.users SET password = 'x' WHERE id = ${id}`,
    'a disabled user': (id: number) => sql`UPDATE svc.users SET enabled = false WHERE id = ${id}`,
    'a deleted user': (id: number) => sql`DELETE FROM svc.users WHERE id = ${id}`,
  })) {
    test(`a session that begins or is renewed while ${name} is being committed does not live`, async () => {
      const user = await app.user(tenant.id)
      const account = await findAccount(app.db, tenant.id, user.email)
      assert.ok(account)
      const { refreshToken } = await app.login(user)
      const [begun, renewed] = await during(change(account.id), () =>
        Promise.all([
          beginSession(app.db, account, { seconds: 100, perUser: 20 }),
          rotateSession(app.db, refreshToken, tenant.id, 100).catch((error) => error),
        ]),
      )
      assert.equal(begun, undefined)
      assert.equal(renewed, undefined)
      assert.equal(await findSession(app.db, refreshToken, tenant.id), undefined)
    })
  }
})
