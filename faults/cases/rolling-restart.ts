import { execFileSync } from 'node:child_process'
import type { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { type Answer, call } from '../http.ts'
import { described, type Load, startLoad } from '../load.ts'
import { type FaultServer, masterKey } from '../server.ts'
import { makeLayer, makeTenant, pointsSql } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'
import { startReplicas } from './replicas.ts'

const clients = 12

/**
 * A client of a load balancer: it goes on to the next replica where no connection can be made, as every balancer does, and
 * repeats nothing that was sent.
 */
function balanced(replicas: readonly FaultServer[], agents: readonly Agent[]) {
  return async (start: number, path: string): Promise<Answer> => {
    for (let tries = 0; ; tries++) {
      const at = (start + tries) % replicas.length
      const [replica, agent] = [replicas[at], agents[at]]
      if (!replica || !agent) throw new Error('no replica')
      try {
        return await call(replica.url, 'GET', path, { key: masterKey, agent })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || tries > 10) throw error
      }
    }
  }
}

async function pathsOf(server: FaultServer): Promise<string[]> {
  const { dataset, tiles } = await makeLayer(server, await makeTenant(server, 'rolling'), pointsSql(1_000))
  return ['/api/v1/styles', `/api/v1/datasets/${dataset}/query?limit=100`, `/tiles/${tiles}/3/4/3.mvt`]
}

function loadOf(
  context: FaultContext,
  replicas: readonly FaultServer[],
  paths: readonly string[],
  random: Random,
): Load {
  const agents = replicas.map(() => context.agent(clients))
  const ask = balanced(replicas, agents)
  const path = () => paths[Math.floor(random() * paths.length)] ?? ''
  return startLoad({
    clients,
    pauseMs: 5,
    isKept: ({ status }) => status === 200,
    ask: (client) => ask(client, path()),
  })
}

async function runReplicas(context: FaultContext, random: Random): Promise<Measurements> {
  const { url } = await context.postgres()
  const env = { DATABASE_URL: url, DATA_DIR: await context.directory() }
  const replicas = await startReplicas(context, 3, env)
  const [first] = replicas
  if (!first) throw new Error('no replica')
  const paths = await pathsOf(first)
  const warmUp = (server: FaultServer) => Promise.all(paths.map((path) => server.call('GET', path)))
  await Promise.all(replicas.map(warmUp))
  const load = loadOf(context, replicas, paths, random)
  const stops: number[] = []
  for (let turn = 0; turn < context.size(3, 9); turn++) {
    await sleep(500 + random() * 500)
    const old = replicas[turn % 3]
    const begun = performance.now()
    await old?.kill('SIGTERM')
    stops.push(performance.now() - begun)
    expect(old?.process.exitCode === 0, () => `SIGTERM ended with ${old?.process.exitCode}`)
    const next = await context.server(env)
    await warmUp(next)
    replicas[turn % 3] = next
  }
  await load.stop()
  expect(load.broken.size === 0, () => `failed: ${described(load.broken)}`)
  return {
    'replicas that were replaced by SIGTERM': stops.length,
    requests: `${load.times.length}, 0 failed`,
    'a replica ended after at most': seconds(Math.max(...stops)),
  }
}

const childrenOf = (pid: number): string[] =>
  execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')

async function runWorkers(context: FaultContext, random: Random): Promise<Measurements> {
  const { url } = await context.postgres()
  const server = await context.server({ DATABASE_URL: url, WORKERS: '3' })
  const load = loadOf(context, [server], await pathsOf(server), random)
  await untilSo(
    () => childrenOf(server.pid).length === 3,
    60_000,
    () => 'the workers did not start',
  )
  await sleep(5_000)
  const rounds = context.size(1, 3)
  for (let round = 0; round < rounds; round++) {
    const before = childrenOf(server.pid)
    server.process.kill('SIGHUP')
    const isRenewed = () => {
      const now = childrenOf(server.pid)
      return now.length === 3 && now.every((pid) => !before.includes(pid))
    }
    await untilSo(isRenewed, 120_000, () => `the workers were not replaced:\n${server.log()}`, 200)
    await sleep(3_000)
  }
  await load.stop()
  expect(load.broken.size === 0, () => `failed: ${described(load.broken)}`)
  return { 'restarts of three workers by SIGHUP': rounds, requests: `${load.times.length}, 0 failed` }
}

export const rollingReplicas: Fault = {
  name: 'rolling-restart',
  promise: 'Replicas that are stopped one after another by SIGTERM fail no request of clients with open connections',
  run: runReplicas,
}
export const rollingWorkers: Fault = {
  name: 'rolling-workers',
  promise: 'SIGHUP replaces all workers of a server without a failed request',
  run: runWorkers,
}
