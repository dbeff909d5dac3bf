import assert from 'node:assert/strict'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { until } from '../../../testing/until.ts'
import type { Authority } from '../access/authenticate.ts'
import { operation } from './operation.ts'
import { createServer } from './server.ts'

let app: FastifyInstance
let port: number
const sockets = new Set<Socket>()
const signals: AbortSignal[] = []
const answers: (() => void)[] = []

before(async () => {
  const common = { method: 'GET', access: 'public', summary: 'a', success: { status: 200, description: 'a' } } as const
  const operations = [
    operation({
      ...common,
      id: 'quick',
      path: '/quick',
      async handle({ signal }) {
        signals.push(signal)
        return { body: { aborted: signal.aborted } }
      },
    }),
    operation({
      ...common,
      id: 'waiting',
      path: '/waiting',
      async handle({ signal }) {
        signals.push(signal)
        await new Promise<void>((resolve) => answers.push(resolve))
        return { body: {} }
      },
    }),
    operation({
      ...common,
      id: 'late',
      path: '/late',
      async handle(context) {
        // The signal is asked for only after the client has left.
        await new Promise((resolve) => context.request.raw.socket.once('close', resolve))
        signals.push(context.signal)
        return { body: {} }
      },
    }),
  ]
  const options = { logger: pino({ level: 'silent' }), trustProxy: false, bodyLimit: 1000, isStopping: () => false }
  app = await createServer(operations, {} as Authority, {}, options)
  app.server.on('connection', (socket) => sockets.add(socket))
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})
after(() => app.close())

function open(): { socket: Socket; ask(path: string): void; text(): string } {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket
    .on('error', () => {})
    .on('data', (piece) => {
      text += piece
    })
  return {
    socket,
    ask: (path) => void socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`),
    text: () => text,
  }
}

const countOf = (text: string): number => text.split('HTTP/1.1 200').length - 1

test('a kept-alive connection has one listener, however many requests ask for their signal, and ends none of them', async () => {
  sockets.clear()
  const client = open()
  signals.length = 0
  for (let round = 1; round <= 200; round++) {
    client.ask('/quick')
    await until(() => countOf(client.text()) === round)
    const [socket] = sockets
    if (round === 1) continue
    assert.ok((socket?.listenerCount('close') ?? 0) < 6, 'listeners are left behind')
  }
  client.socket.destroy()
  await until(() => [...sockets].every(({ destroyed }) => destroyed))
  assert.equal(signals.length, 200)
  assert.ok(
    signals.every(({ aborted }) => !aborted),
    'an answered request was ended',
  )
})

test('a client that closes its connection, or only its half of it, ends its request and those it has pipelined', async () => {
  for (const leave of ['destroy', 'end'] as const) {
    signals.length = 0
    const client = open()
    client.ask('/waiting')
    client.ask('/waiting')
    await until(() => signals.length === 2)
    client.socket[leave]()
    await until(() => signals.every(({ aborted }) => aborted))
    for (const signal of signals) assert.equal(signal.reason.code, 'client_left')
    for (const answer of answers.splice(0)) answer()
  }
})

test('an answered request is not ended when the next one on its connection is', async () => {
  signals.length = 0
  const client = open()
  client.ask('/quick')
  await until(() => countOf(client.text()) === 1)
  client.ask('/waiting')
  await until(() => signals.length === 2)
  client.socket.destroy()
  await until(() => signals[1]?.aborted === true)
  assert.equal(signals[0]?.aborted, false)
  for (const answer of answers.splice(0)) answer()
})

test('a signal that is asked for after the client has left is aborted from the start', async () => {
  signals.length = 0
  const client = open()
  client.ask('/late')
  await until(() => [...sockets].some((socket) => socket.listenerCount('close') > 0 && !socket.destroyed))
  client.socket.destroy()
  await until(() => signals.length === 1)
  assert.equal(signals[0]?.aborted, true)
})
