import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { psql } from '../../bench/tables.ts'
import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { call, pointsCsv, uploadForm } from '../http.ts'
import { type FaultServer, masterKey } from '../server.ts'
import { seconds, untilSo } from '../wait.ts'
import { createLedger } from './ledger.ts'

const rows = 3_000
const writers = 4
const longestLifeMs = 2_500
/** A file may be arriving for so long; younger ones are left alone by the janitor. */
const arrivingMs = 700_000

type Ended = { id: string; status: string; datasetId: string | null }

/** Writers and uploads until the server is dead. */
async function killUnderLoad(server: FaultServer, ledger: ReturnType<typeof createLedger>, random: Random) {
  const sent: string[] = []
  const write = async (): Promise<void> => {
    while (!server.hasEnded()) await ledger.write(server.url)
  }
  const upload = async (): Promise<void> => {
    while (!server.hasEnded()) {
      const form = uploadForm('points.csv', pointsCsv(rows))
      const answer = await call(server.url, 'POST', '/api/v1/uploads', { key: masterKey, ...form }).catch(
        () => undefined,
      )
      if (answer?.status === 200) sent.push(answer.body.id)
      await sleep(300)
    }
  }
  const working = [...Array.from({ length: writers }, write), upload()]
  const before = ledger.counts().acknowledged
  const isAtWork = () => ledger.counts().acknowledged > before && sent.length > 0
  await untilSo(isAtWork, 60_000, () => `no write was acknowledged:\n${server.log()}`)
  await sleep(random() * longestLifeMs)
  await server.kill()
  await Promise.all(working)
  return sent
}

/** Waits until all uploads have ended, also those that nobody knows to have been taken; answers those that were acknowledged. */
async function allEnded(server: FaultServer, sent: readonly string[]): Promise<Ended[]> {
  const records = async (): Promise<Ended[]> => (await server.call('GET', '/api/v1/uploads?limit=1000')).body
  const running = async () => (await records()).filter(({ status }) => status === 'pending' || status === 'processing')
  await untilSo(
    async () => (await running()).length === 0,
    120_000,
    async () => JSON.stringify(await running()),
    500,
  )
  return Promise.all(sent.map(async (id) => (await server.call('GET', `/api/v1/uploads/${id}`)).body))
}

async function checkUploads(server: FaultServer, ended: readonly Ended[]): Promise<number> {
  const completed = ended.filter(({ status }) => status === 'completed')
  const datasets = (await server.call('GET', '/api/v1/datasets?limit=10000')).body as { id: string }[]
  const known = new Set(datasets.map(({ id }) => id))
  for (const { id, datasetId } of completed) {
    expect(known.has(datasetId ?? ''), () => `upload ${id} is completed, and its dataset is not there`)
    const { body } = await server.call('GET', `/api/v1/datasets/${datasetId}/query?attributes=count(*) as n`)
    expect(body[0].n === rows, () => `dataset ${datasetId} has ${body[0].n} of ${rows} rows`)
  }
  // Those that were never acknowledged may have been taken all the same: each then has one dataset too.
  const all = (await server.call('GET', '/api/v1/uploads?limit=10000')).body as Ended[]
  const published = all.filter(({ datasetId }) => datasetId !== null).length
  expect(datasets.length === published, () => `${published} uploads have made ${datasets.length} datasets`)
  return completed.length
}

/** Files of uploads whose arrival was cut look as old as they are after the time of the janitor. */
async function age(directory: string): Promise<void> {
  const then = new Date(Date.now() - arrivingMs)
  for (const name of await readdir(directory, { recursive: true }).catch(() => [])) {
    await utimes(join(directory, name), then, then).catch(() => undefined)
  }
}

function orphanTables(url: string | undefined): string {
  if (!url) return ''
  return psql(
    url,
    `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname LIKE 'app\\_%' AND c.relkind = 'r' AND NOT EXISTS (SELECT FROM svc.datasets d WHERE d.source = c.relname)`,
  ).trim()
}

const killing =
  (isEmbedded: boolean) =>
  async (context: FaultContext, random: Random): Promise<Measurements> => {
    const cluster = isEmbedded ? undefined : await context.postgres()
    const directory = await context.directory()
    const env = { DATA_DIR: directory, ...(cluster && { DATABASE_URL: cluster.url }) }
    const rounds = isEmbedded ? context.size(2, 8) : context.size(5, 25)
    const ledger = createLedger(random)
    const sent: string[] = []
    for (let round = 0; round < rounds; round++) {
      const server = await context.server(env)
      if (round > 0) await ledger.check(server.url)
      sent.push(...(await killUnderLoad(server, ledger, random)))
    }
    const server = await context.server(env)
    await ledger.check(server.url)
    const begun = performance.now()
    const completed = await checkUploads(server, await allEnded(server, sent))
    const endedMs = performance.now() - begun
    await server.kill()
    await age(join(directory, 'uploads'))
    const last = await context.server(env)
    const left = async () => [
      ...(await readdir(join(directory, 'uploads')).catch(() => [])),
      orphanTables(cluster?.url),
    ]
    await untilSo(
      async () => (await left()).every((name) => name === ''),
      60_000,
      async () =>
        `left behind: ${(await left()).join(' ')}; ${await last.call('GET', '/api/v1/uploads?limit=1000').then(({ text }) => text)}`,
      200,
    )
    const { acknowledged, records } = ledger.counts()
    return {
      'kills -9': rounds,
      'acknowledged writes': `${acknowledged} to ${records} records, 0 lost, 0 half`,
      'acknowledged uploads': `${completed} of ${sent.length} completed once, the rest failed, in ${seconds(endedMs)}`,
      'tables and files left': 0,
    }
  }

const promise =
  'An acknowledged write survives `kill -9` of the server, whole; every upload ends, with one dataset or none; nothing is left behind'

export const killOnPostgres: Fault = { name: 'kill', promise: `${promise} (PostgreSQL)`, run: killing(false) }
export const killOnEmbedded: Fault = { name: 'kill-embedded', promise: `${promise} (embedded)`, run: killing(true) }
