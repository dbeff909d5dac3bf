import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import { startPostgres } from '../scripts/postgres.ts'
import { inTurns, residentMb, roundsInTurns, startServer, stopServer } from './server.ts'

const ports = { graticule: 18_184, bare: 18_185 }
const streams = 1_000
const deltas = 200
const everyMs = 50
const secondsPerRound = 4

type Name = keyof typeof ports
type Side = { agentId: string; key: string }

/** Streams and calls through one process to one worker, against a bare relay of the same frames. */
export async function askAgents(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: key, LOG_LEVEL: 'warn' }
  const graticule = await startServer('packages/server/bin/graticule.js', ports.graticule, env)
  const bare = await startServer('bench/bare-agent-server.ts', ports.bare, {})
  const workers: ChildProcess[] = []
  try {
    const side = { key, agentId: await makeAgent(key) }
    for (const name of ['graticule', 'bare'] as const) workers.push(await startWorker(name, side))
    const rates = await inTurns(
      () => callRate('graticule', side),
      () => callRate('bare', side),
    )
    const idle = await residentMb(graticule)
    const bareStreams = await measureStreams('bare', side)
    const ours = await measureStreams('graticule', side)
    return report(rates, bareStreams, ours, idle, await residentMb(graticule, 'VmHWM'))
  } finally {
    for (const worker of workers) worker.kill()
    await Promise.all([stopServer(graticule), stopServer(bare)])
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

const path = ({ agentId }: Side, rest: string): string => `/api/v1/agents/${agentId}/${rest}`

async function makeAgent(key: string): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${ports.graticule}/api/v1/agents`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: '{}',
  })
  return ((await reply.json()) as { id: string }).id
}

async function startWorker(name: Name, side: Side): Promise<ChildProcess> {
  const url = `ws://127.0.0.1:${ports[name]}${path(side, 'connect')}`
  const child = spawn(process.execPath, ['bench/agent-worker.ts'], {
    env: { PATH: process.env.PATH, URL: url, KEY: side.key },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

async function callRate(name: Name, side: Side): Promise<number> {
  const { requests, non2xx } = await autocannon({
    url: `http://127.0.0.1:${ports[name]}${path(side, 'invoke')}`,
    method: 'POST',
    headers: { 'x-api-key': side.key, 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'Which parks are near the river?' }),
    connections: 64,
    duration: secondsPerRound,
  })
  if (non2xx > 0) throw new Error(`${name}: ${non2xx} answers were not 2xx`)
  return requests.average
}

type Latencies = { median: number; p99: number; lost: number }

async function measureStreams(name: Name, side: Side): Promise<Latencies> {
  const agent = new Agent({ keepAlive: false })
  const late: number[] = []
  const counts = await Promise.all(
    Array.from({ length: streams }, async (_, n) => {
      // Not all at the same moment, or every delta of all streams would be made in the same one.
      await setTimeout((n / streams) * everyMs * 20)
      return readStream(name, side, agent, late)
    }),
  )
  late.sort((a, b) => a - b)
  const received = counts.reduce((sum, count) => sum + count, 0)
  const at = (share: number) => late[Math.floor(late.length * share)] ?? Number.NaN
  return { median: at(0.5), p99: at(0.99), lost: streams * deltas - received }
}

/** How many deltas came, each in its turn; and how late each was. */
async function readStream(name: Name, side: Side, agent: Agent, late: number[]): Promise<number> {
  const asked = request({
    ...{ host: '127.0.0.1', port: ports[name], path: path(side, 'stream'), method: 'POST', agent },
    headers: { 'x-api-key': side.key, 'content-type': 'application/json' },
  })
  asked.end(JSON.stringify({ input: `stream ${deltas} ${everyMs}` }))
  const [response] = await once(asked, 'response')
  if (response.statusCode !== 200) throw new Error(`${name}: ${response.statusCode}`)
  let count = 0
  let rest = ''
  for await (const piece of response.setEncoding('utf8')) {
    const now = performance.timeOrigin + performance.now()
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [, turn, madeAt] = /^data: \{"text":"(\d+) ([\d.]+)"/.exec(line) ?? []
      if (turn === undefined) continue
      if (Number(turn) !== count) throw new Error(`${name}: delta ${turn} came as number ${count}`)
      count += 1
      late.push(now - Number(madeAt))
    }
  }
  return count
}

function report(
  rates: Awaited<ReturnType<typeof inTurns>>,
  bare: Latencies,
  ours: Latencies,
  idleMb: number,
  mostMb: number,
): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  return [
    '## Agents',
    '',
    'One worker on one process, against a bare HTTP server that relays the same WebSocket frames and does nothing else.',
    '',
    '| | Graticule | bare relay | |',
    '|---|---|---|---|',
    `| invokes a second, median of ${roundsInTurns} rounds in turns | ${rates.ours} | ${rates.limit} | ${rates.ratio} |`,
    `| ${streams} streams of ${1_000 / everyMs} deltas a second: a delta is late by, median | ${ms(ours.median)} | ${ms(bare.median)} | |`,
    `| the same, 99 of 100 | ${ms(ours.p99)} | ${ms(bare.p99)} | added ${ms(ours.p99 - bare.p99)} |`,
    `| deltas lost of ${streams * deltas} | ${ours.lost} | ${bare.lost} | |`,
    `| resident memory, idle / at most | ${idleMb} MB / ${mostMb} MB | | |`,
    '',
  ].join('\n')
}
