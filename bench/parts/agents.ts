import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { type Bench, oneProcess, post } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { type Answer, requestCase } from '../request-case.ts'
import { percentile, type Sample } from '../statistics.ts'

const streams = 1_000
const deltas = 100
const everyMs = 50

export const agents: Part = {
  name: 'agents',
  about:
    'One worker, which answers at once, against a bare HTTP server that relays the same WebSocket frames and does nothing else. How late the deltas of 1000 streams are, at most, for 95 of 100.',
  seconds: 90,
  async *cases(bench) {
    const ours = await bench.startGraticule(oneProcess)
    const servers = [ours, { ...(await bench.startScript('bare/bare-agents', {})), name: 'bare relay' }]
    const { id = '' } = await post(ours, bench.key, 'agents', {})
    const workers: ChildProcess[] = []
    try {
      for (const server of servers) workers.push(await startWorker(bench, server, id))
      yield invokes(bench, servers, id)
      yield lateness(bench, servers, id)
    } finally {
      for (const worker of workers) worker.kill()
    }
  },
}

async function startWorker({ key }: Bench, server: Server, id: string): Promise<ChildProcess> {
  const url = `${server.url.replace('http', 'ws')}/api/v1/agents/${id}/connect`
  const env = { PATH: process.env.PATH, URL: url, KEY: key }
  const child = spawn(process.execPath, ['bench/agent-worker.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

const headersOf = ({ headers }: Bench) => ({ ...headers, 'content-type': 'application/json' })

const invokes = (bench: Bench, servers: readonly Server[], id: string): Case =>
  requestCase(bench, {
    work: 'invoke of an agent',
    servers,
    load: () => ({
      paths: [`/api/v1/agents/${id}/invoke`],
      headers: headersOf(bench),
      body: JSON.stringify({ input: 'Which parks are near the river?' }),
      connections: 64,
    }),
    equal: sameText,
    wanted: { ratio: { 'bare relay': 0.5 } },
  })

function sameText(ours: readonly Answer[], theirs: readonly Answer[]): void {
  const [mine, other] = [ours, theirs].map(([answer]) => /Which parks[^"]*/.exec(String(answer?.body))?.[0])
  if (mine === undefined || mine !== other) throw new Error(`${other} and not ${mine}`)
}

const lateness = (bench: Bench, servers: readonly Server[], id: string): Case => ({
  work: `${streams} streams: a delta is late by`,
  unit: 'ms',
  better: 'less',
  contenders: servers.map((server) => ({ name: server.name, measure: () => measureStreams(bench, server, id) })),
  longRounds: 2,
})

async function measureStreams(bench: Bench, server: Server, id: string): Promise<Sample> {
  const agent = new Agent({ keepAlive: false })
  const late: number[] = []
  const count = bench.isQuick ? streams / 10 : streams
  const reading = Array.from({ length: count }, async (_, n) => {
    // Not all at the same moment, or every delta of all streams would be made in the same one.
    await setTimeout((n / count) * everyMs * 20)
    await readStream({ bench, server, id, agent }, late)
  })
  await Promise.all(reading)
  return { value: percentile(late, 0.95) }
}

type Stream = { bench: Bench; server: Server; id: string; agent: Agent }

/** Adds how late each delta was; none may be lost. */
async function readStream({ bench, server, id, agent }: Stream, late: number[]): Promise<void> {
  const asked = request(`${server.url}/api/v1/agents/${id}/stream`, {
    method: 'POST',
    agent,
    headers: headersOf(bench),
  })
  asked.end(JSON.stringify({ input: `stream ${deltas} ${everyMs}` }))
  const [response] = await once(asked, 'response')
  if (response.statusCode !== 200) throw new Error(`${server.name}: ${response.statusCode}`)
  let count = 0
  let rest = ''
  for await (const piece of response.setEncoding('utf8')) {
    const now = performance.timeOrigin + performance.now()
    const lines: string[] = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, turn, madeAt] = /^data: \{"text":"(\d+) ([\d.]+)"/.exec(line) ?? []
      if (turn === undefined) continue
      if (Number(turn) !== count) throw new Error(`${server.name}: delta ${turn} came as number ${count}`)
      count += 1
      late.push(now - Number(madeAt))
    }
  }
  if (count !== deltas) throw new Error(`${server.name}: ${deltas - count} deltas are lost`)
}
