import { execFileSync } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { psql } from '../../bench/tables.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { type Answer, pointsCsv, uploadForm } from '../http.ts'
import type { FaultServer } from '../server.ts'
import { make } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'

const upload = (server: FaultServer, rows: number, width = 40): Promise<Answer> =>
  server.call('POST', '/api/v1/uploads', { ...uploadForm('points.csv', pointsCsv(rows, width)), timeoutMs: 120_000 })

async function ended(server: FaultServer, id: string): Promise<Answer['body']> {
  let record: Answer['body']
  const isOver = async () => {
    record = (await server.call('GET', `/api/v1/uploads/${id}`)).body
    return !['pending', 'processing'].includes(record.status)
  }
  await untilSo(isOver, 180_000, () => `upload ${id} is ${record?.status}`, 200)
  return record
}

async function worksAgain(server: FaultServer): Promise<number> {
  const begun = performance.now()
  const isDone = async () => {
    const { status, body } = await upload(server, 100)
    return status === 200 && (await ended(server, body.id)).status === 'completed'
  }
  await untilSo(isDone, 60_000, () => `an upload after the space returned:\n${server.log()}`, 500)
  return performance.now() - begun
}

async function othersWork(server: FaultServer): Promise<void> {
  for (const path of ['/api/v1/styles', '/api/v1/datasets', '/api/v1/applications']) {
    const { status } = await server.call('GET', path)
    expect(status === 200, () => `${path} on a full disk: ${status}`)
  }
}

/** DATA_DIR on a file system of 64 MB. */
async function runFiles(context: FaultContext): Promise<Measurements> {
  const { url: DATABASE_URL } = await context.postgres()
  const disk = await context.smallDisk(64)
  const server = await context.server({ DATABASE_URL, DATA_DIR: disk, DATA_MIN_FREE_MB: '4' })
  const refused: string[] = []
  for (let n = 0; n < context.size(2, 5); n++) {
    const answer = await upload(server, 700_000, 80)
    refused.push(`${answer.status} ${answer.body?.code}`)
    expect(answer.status === 503 && answer.body.code === 'storage_full', () => `${answer.status} ${answer.text}`)
    expect(Number(answer.headers['retry-after']) > 0, () => 'no Retry-After')
    await untilSo(
      async () => (await readdir(join(disk, 'uploads'))).length === 0,
      5_000,
      () => 'the partial file is left',
    )
    await othersWork(server)
  }
  // Somebody else fills the disk.
  const filler = join(disk, 'filler')
  execFileSync('sh', ['-c', `dd if=/dev/zero of='${filler}' bs=1M 2>/dev/null || true`])
  const small = await upload(server, 30_000)
  expect(small.status === 503 && small.body.code === 'storage_full', () => `full: ${small.status} ${small.text}`)
  await othersWork(server)
  await rm(filler)
  const backMs = await worksAgain(server)
  await writeFile(filler, '')
  return {
    refused: [...new Set(refused)].join(),
    'partial files left': 0,
    'works after the space returned': seconds(backMs),
  }
}

/** Tables on a tablespace of 256 MB. */
async function runTables(context: FaultContext): Promise<Measurements> {
  const cluster = await context.postgres()
  const disk = await context.smallDisk(context.size(96, 256))
  execFileSync('sh', ['-c', `mkdir '${disk}/space' && chown postgres: '${disk}/space' 2>/dev/null || true`])
  psql(cluster.adminUrl, `CREATE TABLESPACE small LOCATION '${disk}/space'`)
  psql(cluster.adminUrl, 'GRANT CREATE ON TABLESPACE small TO PUBLIC')
  const server = await context.server({ DATABASE_URL: cluster.url })
  psql(cluster.adminUrl, `ALTER SYSTEM SET default_tablespace = 'small'`)
  psql(cluster.adminUrl, 'SELECT pg_reload_conf()')
  await worksAgain(server)
  const { status, body } = await upload(server, context.size(700_000, 1_800_000), 80)
  expect(status === 200, () => `the file was not taken: ${status}`)
  const record = await ended(server, body.id)
  expect(record.status === 'failed' && record.error?.code === 'storage_full', () => JSON.stringify(record))
  await othersWork(server)
  await make(server, 'styles', { name: 'made on a full disk', style: { version: 8, sources: {}, layers: [] } })
  const left = () =>
    psql(cluster.url, `SELECT relname FROM pg_class WHERE relname LIKE 'svc\\_up\\_%' AND relkind = 'r'`).trim()
  await untilSo(
    () => left() === '',
    30_000,
    () => `staging tables are left: ${left()}`,
  )
  const backMs = await worksAgain(server)
  return {
    'the upload': record.error.code,
    'staging tables left': 0,
    'works after the space returned': seconds(backMs),
  }
}

const rest = 'what was half written is removed, other routes go on, and all works when there is space again'

export const dataDirectoryFull: Fault = {
  name: 'disk-full',
  promise: `A full DATA_DIR is 503 \`storage_full\`; ${rest}`,
  run: runFiles,
}
export const databaseFull: Fault = {
  name: 'database-full',
  promise: `A full disk of PostgreSQL fails an upload with \`storage_full\`; ${rest}`,
  run: runTables,
}
