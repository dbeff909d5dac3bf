import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { until } from '../../../testing/agent-world.ts'
import { startNats } from '../../../testing/peers/nats.ts'
import type { Bus } from './bus.ts'
import { createIpcBus, type Envelope } from './ipc-bus.ts'
import { type BusRouter, createBusRouter } from './ipc-router.ts'
import { createChunkJoiner, splitMessage } from './message-chunks.ts'
import { createNatsBus } from './nats-bus.ts'

/** Opens a bus of the installation that is named. */
type Open = (namespace: string) => Promise<Bus>

let nats: Awaited<ReturnType<typeof startNats>>
const buses: Bus[] = []
before(async () => {
  nats = await startNats()
})
after(async () => {
  for (const bus of buses) await bus.close()
  await nats.stop()
})

const overNats: Open = (namespace) => createNatsBus({ url: nats.url, namespace, onError() {} })

/** Workers of one supervisor for each installation, in one process: what they send is copied and arrives later. */
const routers: Record<string, BusRouter> = { a: createBusRouter(), b: createBusRouter() }
const overSupervisor: Open = async (namespace) => {
  const { port1: worker, port2: supervisor } = new MessageChannel()
  const deliver = (envelope: Envelope): void => supervisor.postMessage(envelope)
  supervisor.on('message', (envelope) => routers[namespace]?.receive(envelope, deliver))
  const joined = once(supervisor, 'message')
  const bus = createIpcBus({
    post: (envelope) => worker.postMessage(envelope),
    listen: (listener) => void worker.on('message', listener),
  })
  await joined
  for (const port of [worker, supervisor]) port.unref()
  return bus
}

for (const [name, openBus] of Object.entries({ 'over NATS': overNats, 'between workers': overSupervisor })) {
  describe(`the bus ${name}`, () => {
    async function open(namespace = 'a'): Promise<{ bus: Bus; heard: [unknown, string][] }> {
      const bus = await openBus(namespace)
      const heard: [unknown, string][] = []
      bus.listen((message, from) => heard.push([message, from]))
      buses.push(bus)
      return { bus, heard }
    }

    test('messages of any size arrive in order, at whom they are for', async () => {
      const [one, two, foreign] = [await open(), await open(), await open('b')]
      const sizes = [10, 3_000_000, 70_000, 0, 60_000]
      for (const size of sizes) one.bus.post(two.bus.id, { text: 'é'.repeat(size) })
      // A receipt is waited for 2 s, and eight million bytes are before it.
      await until(() => two.heard.length === sizes.length, 'not all have arrived')
      assert.equal(await one.bus.send(two.bus.id, { text: 'x'.repeat(500_000) }), true)
      one.bus.broadcast({ all: true })
      await until(() => two.heard.length === sizes.length + 2, 'not all have arrived')
      assert.deepEqual(
        two.heard.map(([message]) => (message as { text?: string }).text?.length),
        [...sizes, 500_000, undefined],
      )
      assert.ok(two.heard.every(([, from]) => from === one.bus.id))
      assert.equal(one.heard.length, 0, 'nobody hears itself')
      assert.equal(foreign.heard.length, 0, 'nor another installation')
    })

    test('sending to a replica that does not exist, or has left, fails at once', async () => {
      const [{ bus }, gone] = [await open(), await open()]
      await gone.bus.close()
      for (const id of ['nobody', gone.bus.id]) {
        const sendMs = async (): Promise<number> => {
          const start = performance.now()
          assert.equal(await bus.send(id, { text: 'x' }), false)
          return performance.now() - start
        }
        // Waiting for a receipt would take 2 s each time; a busy machine is slow now and then.
        await until(async () => (await sendMs()) < 1_500, 'it waits for a receipt')
      }
    })
  })
}

test('chunks of several messages may be interleaved, and other bytes are ignored', () => {
  const join = createChunkJoiner()
  const [a, b] = ['a'.repeat(150_000), '€'.repeat(100_000)]
  const [first, second] = [splitMessage(a), splitMessage(b)]
  const texts = Array.from({ length: 6 }, (_, n) => [first[n], second[n]])
    .flat()
    .flatMap((piece) => (piece ? [join(piece)] : []))
  assert.deepEqual(
    texts.filter((text) => text !== undefined),
    [a, b],
  )
  assert.equal(join(Buffer.from('short')), undefined)
})
