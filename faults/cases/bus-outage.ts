import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectWorker, type WorkerJob } from '../../packages/server/testing/agent-worker.ts'
import { openStream } from '../../packages/server/testing/event-client.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import { freePort } from '../../scripts/postgres.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { add, described } from '../load.ts'
import type { FaultServer } from '../server.ts'
import { make, makeTenant } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'
import { startReplicas } from './replicas.ts'

const backWithinMs = 10_000
const failedWithinMs = 30_000
const documented = ['agent_disconnected', 'agent_unavailable', 'agent_timeout', 'unavailable']

/** Words until nobody wants them. */
async function talk({ send, cancelled }: WorkerJob): Promise<void> {
  let isOver = false
  void cancelled.then(() => {
    isOver = true
    send({ t: 'cancelled' })
  })
  send({ t: 'accept' })
  for (let n = 0; n < 600 && !isOver; n++) {
    send({ t: 'delta', text: `${n} ` })
    await sleep(100)
  }
  if (!isOver) send({ t: 'done' })
}

const handle = (job: WorkerJob): unknown => {
  if (job.invoke.input === 'talk') return talk(job).catch(() => undefined)
  job.send({ t: 'accept' })
  job.send({ t: 'delta', text: job.invoke.input })
  job.send({ t: 'done' })
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const port = await freePort()
  let nats = await startNats(port)
  context.defer(() => nats.kill('SIGKILL'))
  const NATS_URL = `nats://127.0.0.1:${port}`
  const replicas = await startReplicas(context, 2, { DATABASE_URL, NATS_URL })
  const [near, far] = replicas
  if (!near || !far) throw new Error('no replicas')
  const { key } = await makeTenant(near, 'bus')
  const { id: agentId } = await make(near, 'agents', {}, key)
  const worker = await connectWorker({ url: near.url, key, agentId, handle, concurrency: 16 })
  context.defer(() => worker.kill())
  const invoke = async ({ call }: FaultServer) =>
    call('POST', `/api/v1/agents/${agentId}/invoke`, { key, body: { input: 'a' } })
  const works = (server: FaultServer) => async () => (await invoke(server)).status === 200
  await untilSo(works(far), 30_000, () => 'the agent was not reached through the other replica')
  const codes = new Map<string, number>()
  const times: number[] = []
  for (let round = 0; round < context.size(2, 5); round++) {
    const stream = await openStream(`${far.url}/api/v1/agents/${agentId}/stream`, key, { input: 'talk' })
    await untilSo(
      () => stream.events.length > 3,
      30_000,
      () => 'the stream did not begin',
    )
    nats.kill('SIGKILL')
    const local = await invoke(near)
    expect(local.status === 200, () => `the replica with the worker, without a bus: ${local.status} ${local.text}`)
    const begun = performance.now()
    await Promise.race([stream.over.catch(() => undefined), sleep(failedWithinMs)])
    const { event, data } = stream.last() ?? { event: 'none', data: {} }
    expect(
      event === 'error' && documented.includes(data.code),
      () => `the stream ended with ${event} ${JSON.stringify(data)}`,
    )
    add(codes, `${data.code} after ${seconds(performance.now() - begun)}`)
    const remote = await invoke(far)
    expect(remote.status === 200 || documented.includes(remote.body?.code), () => `${remote.status} ${remote.text}`)
    await sleep(random() * 3_000)
    nats = await startNats(port)
    times.push(await untilSo(works(far), 60_000, () => `not reached after the bus was back:\n${far.log()}`, 100))
  }
  for (const { hasEnded, log } of replicas) expect(!hasEnded(), () => `a replica ended:\n${log()}`)
  const longest = Math.max(...times)
  expect(longest <= context.allowed(backWithinMs), () => `reached again only after ${seconds(longest)}`)
  return {
    'streams across replicas ended with': described(codes),
    'reached again after the bus was back, at most': seconds(longest),
    'the replica of the worker meanwhile': 'answers',
  }
}

async function startNats(port: number): Promise<ChildProcess> {
  const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  await once(child, 'spawn')
  return child
}

export const busOutage: Fault = {
  name: 'bus-outage',
  promise:
    'Without NATS agents answer through the replica they are connected to; streams across replicas end with a documented code; ' +
    'within 10 s after NATS is back agents are reached from everywhere',
  run,
}
