import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyMode } from '../../packages/server/testing/peers/faulty-proxy.ts'
import { s3Storage } from '../../packages/server/testing/peers/s3-storage.ts'
import { pick, type Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { pointsCsv, uploadForm } from '../http.ts'
import type { FaultServer } from '../server.ts'
import { seconds, untilSo } from '../wait.ts'

const faultyModes: readonly ProxyMode[] = ['hang', 'busy', 'down']
const timeoutMs = 4_000

/** What clients saw. */
type UploadCounts = { acknowledged: string[]; refused: number; others: number }

/** Sends files one after the other until it is over. A refusal must say why, and when to come back. */
async function sendFiles(server: FaultServer, seen: UploadCounts, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { status, body, headers, text } = await server.call('POST', '/api/v1/uploads', {
      ...uploadForm('points.csv', pointsCsv(200)),
    })
    if (status === 200) seen.acknowledged.push(body.id)
    else {
      expect(status === 503 && body?.code === 'storage_unavailable', () => `an upload: ${status} ${text}`)
      expect(Number(headers['retry-after']) > 0, () => 'no Retry-After')
      seen.refused++
    }
    await sleep(100)
  }
}

/** What needs no file goes on. */
async function askOthers(server: FaultServer, seen: UploadCounts, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const path of ['styles', 'datasets', 'uploads']) {
      const { status, text } = await server.call('GET', `/api/v1/${path}?limit=5`)
      expect(status === 200, () => `${path}: ${status} ${text}`)
      seen.others++
    }
    await sleep(100)
  }
}

async function statusOf(server: FaultServer, id: string): Promise<string> {
  return (await server.call('GET', `/api/v1/uploads/${id}`)).body.status
}

async function run(context: FaultContext, random: Random): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const storage = await s3Storage()
  context.defer(() => storage.close())
  const env = { DATABASE_URL, ...storage.settings, S3_TIMEOUT_MS: String(timeoutMs), UPLOADS_PER_APPLICATION: '4' }
  const servers = [await context.server(env), await context.server(env)] as const
  const seen: UploadCounts = { acknowledged: [], refused: 0, others: 0 }
  let hasEnded = false
  const isOver = () => hasEnded
  const clients = Promise.all(servers.flatMap((one) => [sendFiles(one, seen, isOver), askOthers(one, seen, isOver)]))
  const outages = context.size(4, 12)
  const disturb = async () => {
    for (let count = 0; count < outages; count++) {
      await sleep(500 + random() * 1_500)
      storage.proxy.mode = pick(random, faultyModes)
      await sleep(2_000 + random() * 4_000)
      storage.proxy.mode = 'pass'
    }
  }
  await Promise.race([disturb(), clients]).finally(() => {
    hasEnded = true
    storage.proxy.mode = 'pass'
  })
  await clients
  const left = new Set(seen.acknowledged)
  const isDone = async () => {
    for (const id of left) if ((await statusOf(servers[0], id)) === 'completed') left.delete(id)
    return left.size === 0
  }
  const describeLeft = async () =>
    (await Promise.all([...left].slice(0, 5).map(async (id) => `${id} ${await statusOf(servers[1], id)}`))).join(', ')
  const endedMs = await untilSo(isDone, context.allowed(120_000), describeLeft, 500)
  const remaining = (await storage.keys()).filter((key) => key.startsWith('uploads/'))
  expect(seen.refused > 0, () => 'no upload met an outage: nothing was tried')
  for (const server of servers) expect(!server.hasEnded(), () => `a server ended:\n${server.log()}`)
  return {
    'outages of the storage (silent, refusing or closed)': outages,
    'uploads acknowledged': `${seen.acknowledged.length}, all completed once, ${seconds(endedMs)} after the last outage`,
    'uploads refused with 503 storage_unavailable': seen.refused,
    'other requests meanwhile': `${seen.others}, all 200`,
    'files whose removal met an outage, for the janitor': remaining.length,
  }
}

export const storageOutage: Fault = {
  name: 'storage-outage',
  promise:
    'While S3-compatible storage is silent, refuses or is gone, uploads get 503 `storage_unavailable` with `Retry-After`, what was acknowledged is loaded when it is back, and other requests go on',
  run,
}
