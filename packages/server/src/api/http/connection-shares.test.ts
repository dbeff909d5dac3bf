import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'

let app: TestApp
let greedy: Tenant
let modest: Tenant
let port: number
const sockets: Socket[] = []
before(async () => {
  app = await testApp({ MAX_CONNECTIONS: '100', CONNECTIONS_PER_APPLICATION: '4', REQUESTS_PER_CONNECTION: '3' })
  greedy = await app.tenant('greedy')
  modest = await app.tenant('modest')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
})
after(async () => {
  for (const socket of sockets) socket.destroy()
  await app.close()
})

type Answer = { status: number; headers: IncomingMessage['headers']; body: string }

function ask(path: string, key: string, agent?: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key }
    const asked = request({ port, host: '127.0.0.1', path, headers, agent: agent ?? new Agent() }, async (response) => {
      const parts = await response.toArray()
      const body = Buffer.concat(parts).toString()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
    })
    asked.on('error', reject).end()
  })
}

/** A request whose body never comes, so it is under way until its connection ends. */
function holdOpen({ developer }: Tenant): Socket {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {}).resume()
  socket.write(
    `POST /api/v1/styles HTTP/1.1\r\nhost: a\r\nx-api-key: ${developer}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n`,
  )
  return socket
}

const styles = '/api/v1/styles'

/** The first answer with this status. */
async function answerWith(status: number, { public: key }: Tenant): Promise<Answer> {
  let answer: Answer | undefined
  await until(async () => {
    answer = await ask(styles, key)
    return answer.status === status
  })
  return answer as Answer
}

const setLimit = (applicationConnections: number | null) =>
  app.call('PATCH', `/api/v1/applications/${greedy.id}`, { body: { limits: { applicationConnections } } })

test('an application has no more connections than it may, another is not affected, and room is used again', async () => {
  const held = Array.from({ length: 6 }, () => holdOpen(greedy))
  // Only then are the others counted: a request that comes between them takes the place of one.
  await until(() => held.filter(({ closed }) => closed).length === 2)
  const refused = await answerWith(429, greedy)
  const { code, limit, limitName } = JSON.parse(refused.body)
  assert.deepEqual({ code, limit, limitName }, { code: 'busy', limit: 4, limitName: 'applicationConnections' })
  assert.deepEqual([refused.headers['retry-after'], refused.headers.connection], ['1', 'close'])
  assert.equal((await ask(styles, modest.public)).status, 200)
  assert.equal((await ask(styles, app.master)).status, 200, 'the operator is not refused')
  await setLimit(7)
  await answerWith(200, greedy)
  await setLimit(null)
  await answerWith(429, greedy)
  for (const socket of held) socket.destroy()
  await answerWith(200, greedy)
})

test('a connection that waits for more requests is not kept when its application has half of what it may', async () => {
  const { public: key } = await app.tenant('crowd')
  const said: (string | undefined)[] = []
  for (let round = 0; round < 5; round++) {
    said.push((await ask(styles, key, new Agent({ keepAlive: true }))).headers.connection)
  }
  assert.deepEqual(said, ['keep-alive', 'keep-alive', 'close', 'close', 'close'])
})

test('after requestsPerConnection requests the answer says that the connection ends, and no client notices', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports: (number | undefined)[] = []
  app.http.server.on('connection', ({ remotePort }) => ports.push(remotePort))
  const said: (string | undefined)[] = []
  // Answers of the framework and those before it.
  for (const path of [styles, '/tiles/basemap/0/0/0.mvt', styles, styles, styles, '/tiles/basemap/0/0/0.mvt', styles]) {
    const { status, headers } = await ask(path, app.master, agent)
    assert.equal(status, 200, path)
    said.push(headers.connection)
  }
  const [kept, last] = ['keep-alive', 'close']
  assert.deepEqual(said, [kept, kept, last, kept, kept, last, kept])
  assert.equal(ports.length, 3)
  agent.destroy()
})
