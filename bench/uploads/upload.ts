import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { descendants, type Server } from '../processes.ts'
import { psql } from '../tables.ts'
import type { UploadFile } from './upload-files.ts'

export type UploadTimes = {
  readonly datasetId: string
  /** From the last byte received to `completed`. */
  readonly seconds: number
  readonly overviewSeconds: number
  /** The most that the reading process had. */
  readonly readerMb: number
}

type UploadRecord = {
  id: string
  status: string
  datasetId: string
  featureCount: number
  overviews: { status: string } | null
}

type Headers = Readonly<Record<string, string>>

/** Sends a file, and waits until its dataset has all features and its overviews. */
export async function upload(server: Server, headers: Headers, file: UploadFile): Promise<UploadTimes> {
  const body = new FormData()
  body.append('file', await openAsBlob(file.path), file.path.split('/').at(-1) ?? '')
  const reply = await fetch(`${server.url}/api/v1/uploads`, { method: 'POST', headers: { ...headers }, body })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  const { id } = (await reply.json()) as UploadRecord
  const begun = performance.now()
  const read = async () =>
    (await (await fetch(`${server.url}/api/v1/uploads/${id}`, { headers })).json()) as UploadRecord
  let readerMb = 0
  let record = await read()
  for (; ['pending', 'processing'].includes(record.status); record = await read()) {
    readerMb = Math.max(readerMb, await readingMb(server))
    await sleep(50)
  }
  const seconds = (performance.now() - begun) / 1000
  if (record.status !== 'completed' || record.featureCount !== file.features) throw new Error(JSON.stringify(record))
  for (; record.overviews?.status === 'building'; record = await read()) await sleep(50)
  const overviewSeconds = (performance.now() - begun) / 1000 - seconds
  return { datasetId: record.datasetId, seconds, overviewSeconds, readerMb }
}

async function readingMb({ pid }: Server): Promise<number> {
  const sizes = (await descendants(pid)).map(async (one) => {
    const command = await readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '')
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '')
    return command.includes('reader-child') ? Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 : 0
  })
  return Math.max(0, ...(await Promise.all(sizes)))
}

export async function removeDataset({ url }: Server, headers: Headers, id: string): Promise<void> {
  await fetch(`${url}/api/v1/datasets/${id}`, { method: 'DELETE', headers: { ...headers } })
}

/** Seconds that ogr2ogr takes with COPY and a spatial index. */
export async function loadByOgr(databaseUrl: string, { path, features }: UploadFile): Promise<number> {
  const { hostname, port, username, pathname } = new URL(databaseUrl)
  const target = `PG:host=${hostname} port=${port} user=${username} dbname=${pathname.slice(1)}`
  const source = path.endsWith('.zip') ? `/vsizip/${path}` : path
  // Told what Graticule finds out itself.
  const columns = ['X_POSSIBLE_NAMES=X', 'Y_POSSIBLE_NAMES=Y', 'AUTODETECT_TYPE=YES'].flatMap((one) => ['-oo', one])
  const csv = path.endsWith('.csv') ? [...columns, '-a_srs', 'EPSG:4326'] : []
  const table = ['-nln', 'by_ogr', '-overwrite', '-lco', 'SPATIAL_INDEX=GIST', '--config', 'PG_USE_COPY', 'YES']
  const begun = performance.now()
  const child = spawn('ogr2ogr', ['-f', 'PostgreSQL', target, source, ...csv, ...table], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  const seconds = (performance.now() - begun) / 1000
  const loaded = Number(psql(databaseUrl, 'SELECT count(*) FROM by_ogr'))
  if (code !== 0 || loaded !== features) throw new Error(`ogr2ogr ended with ${code} and ${loaded} features`)
  return seconds
}
