import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { WorkerJob } from '../../testing/agent-worker.ts'
import { type AgentWorld, agentWorld } from '../../testing/agent-world.ts'
import { sql } from '../kernel/db/sql.ts'

let world: AgentWorld
let reader: string
before(async () => {
  world = await agentWorld()
  reader = await world.app.key(world.tenant.id, { agents: { read: '*', execute: '*' } })
  const { app, tenant } = world
  const body = { defaultApiKey: tenant.reader }
  assert.equal((await app.call('PUT', `/api/v1/applications/${tenant.id}/metadata/auth`, { body })).status, 200)
})
after(() => world.close())

/** The credentials of a new user, whose token stands for the same key as everybody's. */
async function newUser() {
  const user = await world.app.user(world.tenant.id)
  const { headers } = await world.app.login(user)
  return { id: Number(user.id), headers }
}

/** Answers with what was said before, or a word of its own. */
function recite({ send, invoke }: WorkerJob): void {
  send({ t: 'accept' })
  send({ t: 'delta', text: (invoke.messages ?? []).map(({ content }) => content).join('|') || 'nothing' })
  send({ t: 'done' })
}

const post = async (agentId: string, body: object, headers: Record<string, string>) => {
  const reply = await world.app.call('POST', world.path(agentId, '/invoke'), { key: null, body, headers })
  assert.ok(reply.status === 200 || reply.status === 409, reply.text)
  return reply
}
const withKey = (key: string) => ({ 'x-api-key': key })

describe('the history of an agent', () => {
  test('shows what was said only to keys that may write that agent', async () => {
    const agentId = await world.agent({ storeContent: true })
    await world.worker(agentId)
    const body = { input: 'a secret', conversationId: 'c', metadata: { topic: 'a secret' } }
    await post(agentId, body, withKey(world.tenant.reader))
    const other = await world.agent()
    const seenBy = async (permissions: Parameters<typeof world.app.key>[1]) => {
      const key = await world.app.key(world.tenant.id, permissions)
      const { body, text } = await world.app.call('GET', world.path(agentId, '/invocations'), { key })
      assert.equal(body.length, 1, text)
      return { entry: body[0], hasSecret: text.includes('a secret') }
    }
    for (const write of [[], [other], [agentId.toUpperCase()]]) {
      const { entry, hasSecret } = await seenBy({ agents: { read: '*', execute: '*', write } })
      assert.ok(!hasSecret, String(write))
      assert.deepEqual([entry.input, entry.output, entry.metadata], [null, null, null])
      const { status, statusCode, usage, inputBytes, outputBytes, durationMs, conversationId } = entry
      assert.deepEqual([status, statusCode, usage, inputBytes, outputBytes], ['succeeded', 200, {}, 8, 8])
      assert.ok(durationMs >= 0 && conversationId === 'c')
    }
    for (const write of ['*', [agentId]] as const) {
      const { entry } = await seenBy({ agents: { read: '*', write } })
      assert.deepEqual([entry.input, entry.output], ['a secret', 'a secret'])
      assert.deepEqual(entry.metadata, { topic: 'a secret' })
    }
  })

  test('names the user of the token, and no key in plain text', async () => {
    const agentId = await world.agent()
    await world.worker(agentId)
    const user = await newUser()
    await post(agentId, { input: 'x' }, user.headers)
    const [entry] = await world.get(agentId, '/invocations')
    assert.equal(entry.userId, user.id)
    const [row] = await world.app.db.query(
      sql`SELECT i::text AS text FROM svc.agent_invocations i WHERE agent_id = ${agentId}::uuid`,
    )
    assert.ok(!String(row?.text).includes(world.tenant.reader))
  })
})

describe('a conversation', () => {
  test('belongs to who began it: another caller with the same id begins its own', async () => {
    const agentId = await world.agent({ memory: 'platform' })
    await world.worker(agentId, recite)
    const [ada, bob] = [await newUser(), await newUser()]
    const callers: [string, Record<string, string>][] = [
      ['a key', withKey(world.tenant.reader)],
      ['another key', withKey(reader)],
      ['a greater key', withKey(world.tenant.developer)],
      ['a user', ada.headers],
      ['another user of the same key', bob.headers],
    ]
    for (const [name, headers] of callers) {
      const ask = async (input: string) => (await post(agentId, { input, conversationId: 'c' }, headers)).body.text
      assert.equal(await ask(name), 'nothing', name)
      assert.equal(await ask('more'), `${name}|nothing`, name)
    }
    const together = { ...withKey(reader), ...ada.headers }
    const { body } = await post(agentId, { input: 'x', conversationId: 'c' }, together)
    assert.match(body.text, /^a user\|/, 'the user is the same with any key')
  })

  test('is told apart for workers that remember by themselves, by a name of the caller', async () => {
    const agentId = await world.agent()
    await world.worker(agentId, ({ send, invoke }) => {
      send({ t: 'accept' })
      send({ t: 'delta', text: `${invoke.conversationId} ${invoke.caller}` })
      send({ t: 'done' })
    })
    const [ada, bob] = [await newUser(), await newUser()]
    const ask = async (headers: Record<string, string>, agent = agentId) =>
      (await post(agent, { input: 'x', conversationId: 'c' }, headers)).body.text as string
    const answers = []
    for (const headers of [withKey(reader), withKey(world.tenant.reader), ada.headers, bob.headers]) {
      const answer = await ask(headers)
      assert.match(answer, /^c [\w-]{22}$/)
      assert.equal(await ask(headers), answer, 'the same each time')
      answers.push(answer)
    }
    assert.equal(new Set(answers).size, answers.length)
  })
})

test('an Idempotency-Key is the caller’s own: another gets neither the answer nor a conflict', async () => {
  const agentId = await world.agent()
  let times = 0
  await world.worker(agentId, ({ send }) => {
    times += 1
    send({ t: 'accept' })
    send({ t: 'delta', text: `answer ${times}` })
    send({ t: 'done' })
  })
  const key = randomUUID()
  const [ada, bob] = [await newUser(), await newUser()]
  const callers = [withKey(world.tenant.reader), withKey(reader), ada.headers, bob.headers]
  for (const [index, headers] of callers.entries()) {
    for (const replayed of ['false', 'true']) {
      const reply = await post(agentId, { input: 'x' }, { ...headers, 'idempotency-key': key })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['idempotency-replayed'], replayed)
      assert.equal(reply.body.text, `answer ${index + 1}`)
    }
  }
  const other = await post(agentId, { input: 'y' }, { ...bob.headers, 'idempotency-key': key })
  assert.equal(other.status, 409)
})

test('the tools that a worker was lent end with the answer, and with the agent', async () => {
  const tokens: string[] = []
  const use = async (token: string) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const headers = { authorization: `Bearer ${token}` }
    return (await world.app.call('POST', '/api/v1/mcp', { key: world.tenant.developer, body, headers })).status
  }
  const statuses: number[] = []
  const agentId = await world.agent()
  await world.worker(agentId, async ({ send, invoke }) => {
    const token = invoke.tools?.token ?? ''
    tokens.push(token)
    send({ t: 'accept' })
    statuses.push(await use(token))
    send({ t: 'delta', text: 'x' })
    send({ t: 'done' })
  })
  for (const input of ['one', 'two']) await post(agentId, { input }, withKey(world.tenant.reader))
  assert.deepEqual(statuses, [200, 200])
  const [first = '', second = ''] = tokens
  await world.get(agentId, '/invocations')
  assert.equal(await use(first), 401)
  // With the agent goes its history, which says that the answer is over.
  assert.equal((await world.app.call('DELETE', world.path(agentId))).status, 200)
  assert.equal(await use(second), 401)
})
