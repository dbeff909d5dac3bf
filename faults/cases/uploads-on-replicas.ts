import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call, pointsCsv, uploadForm } from '../http.ts'
import { type FaultServer, masterKey } from '../server.ts'
import { seconds, untilSo } from '../wait.ts'
import { pickLiving, startReplicas } from './replicas.ts'

const rows = 20_000
const resumedWithinMs = 30_000
const isOver = "status IN ('completed', 'failed', 'cancelled')"

type ResumptionWatch = { url: string; longestMs: number }

/** How long it takes until what a killed replica was working on is taken by another, or has ended. */
async function watchResumption(watched: ResumptionWatch, held: readonly string[]): Promise<void> {
  const killed = performance.now()
  for (const pair of held) {
    const [id, attempt] = pair.split('|')
    const isResumed = () =>
      psql(watched.url, `SELECT 1 FROM svc.uploads WHERE id = '${id}' AND (attempts > ${attempt} OR ${isOver})`) !== ''
    await untilSo(isResumed, 2 * resumedWithinMs, () => `upload ${id} was not resumed`, 250)
  }
  if (held.length > 0) watched.longestMs = Math.max(watched.longestMs, performance.now() - killed)
}

/** Kills one replica after another and starts it again, until told to stop. */
async function killInTurn(context: FaultContext, replicas: FaultServer[], options: KillOptions): Promise<number> {
  const { random, env, watched, isOver } = options
  const watching: Promise<void>[] = []
  let kills = 0
  while (!isOver()) {
    await sleep(2_000 + random() * 4_000)
    const victim = Math.floor(random() * replicas.length)
    await replicas[victim]?.kill()
    kills++
    const held = psql(watched.url, `SELECT id, attempts FROM svc.uploads WHERE status = 'processing'`).trim()
    watching.push(watchResumption(watched, held.split('\n').filter(Boolean)))
    replicas[victim] = await context.server(env)
  }
  await Promise.all(watching)
  return kills
}

type KillOptions = { random: Random; env: Record<string, string>; watched: ResumptionWatch; isOver(): boolean }

/** Sends so many files, each until it is acknowledged. */
async function sendAll(replicas: readonly FaultServer[], count: number, random: Random): Promise<string[]> {
  const sent: string[] = []
  const form = uploadForm('points.csv', pointsCsv(rows))
  const send = async (): Promise<void> => {
    while (sent.length < count) {
      const { url } = pickLiving(replicas, random)
      const answer = await call(url, 'POST', '/api/v1/uploads', { key: masterKey, ...form }).catch(() => undefined)
      if (answer?.status === 200) sent.push(answer.body.id)
      else await sleep(200)
    }
  }
  await Promise.all([send(), send()])
  return sent
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url } = await context.postgres()
  const env = { DATABASE_URL: url, DATA_DIR: await context.directory(), UPLOADS_PER_APPLICATION: '4' }
  const replicas = await startReplicas(context, 3, env)
  const watched = { url, longestMs: 0 }
  let isDone = false
  const killing = killInTurn(context, replicas, { random, env, watched, isOver: () => isDone })
  const begun = performance.now()
  const sent = await sendAll(replicas, context.size(20, 100), random)
  const left = () => Number(psql(url, `SELECT count(*) FROM svc.uploads WHERE NOT ${isOver}`))
  await untilSo(
    () => left() === 0,
    600_000,
    () => `${left()} uploads have not ended`,
    500,
  )
  const tookMs = performance.now() - begun
  isDone = true
  const kills = await killing
  const list = sent.map((id) => `'${id}'`).join(',')
  const facts = psql(url, `SELECT status, count(*), max(attempts) FROM svc.uploads WHERE id IN (${list}) GROUP BY 1`)
  const failed = Number(psql(url, `SELECT count(*) FROM svc.uploads WHERE id IN (${list}) AND status <> 'completed'`))
  const [uploads, datasets] = psql(
    url,
    `SELECT (SELECT count(*) FROM svc.uploads WHERE status = 'completed'), (SELECT count(*) FROM svc.datasets)`,
  )
    .trim()
    .split('|')
  expect(uploads === datasets, () => `${uploads} completed uploads have made ${datasets} datasets`)
  for (const source of psql(url, 'SELECT source FROM svc.datasets').trim().split('\n')) {
    const schema = psql(url, `SELECT schemaname FROM pg_tables WHERE tablename = '${source}'`).trim()
    const found = psql(url, `SELECT count(*) FROM "${schema}"."${source}"`).trim()
    expect(found === String(rows), () => `${source} has ${found} of ${rows} rows`)
  }
  expect(
    watched.longestMs <= context.allowed(resumedWithinMs),
    () => `resumed only after ${seconds(watched.longestMs)}`,
  )
  expect(failed <= sent.length / 10, () => `too many failed: ${facts}`)
  return {
    'kills of one of three replicas': kills,
    'acknowledged uploads': `${sent.length - failed} of ${sent.length} completed, each with one whole dataset`,
    'resumed after at most': seconds(watched.longestMs),
    'all ended after': seconds(tookMs),
  }
}

export const uploadsOnReplicas: Fault = {
  name: 'uploads-on-replicas',
  promise:
    'Uploads have their effect exactly once while replicas are killed, and are resumed by another replica within 30 s',
  run,
}
