import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../scripts/postgres.ts'
import { requestRate } from './load.ts'
import { inTurns, roundsInTurns, startServer, stopServer } from './server.ts'

const port = 18_182
const base = `http://127.0.0.1:${port}`
const url = (path: string): string => `${base}/api/v1/${path}`

/** GET of one style with an access token, against the same with the key that the token stands for. */
export async function bearer(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const master = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: master, LOG_LEVEL: 'warn' }
  await stopServer(await startServer('packages/server/bin/graticule.js', port, env))
  const server = await startServer('packages/server/bin/graticule.js', port, env)
  try {
    const { path, credentials } = await seed(master)
    const rates = await inTurns(
      () => rateOf(path, credentials.bearer),
      () => rateOf(path, credentials.key),
    )
    return report(rates)
  } finally {
    await stopServer(server)
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

type Credentials = { key: Record<string, string>; bearer: Record<string, string> }

/** A style, a key that may read it, and a user whose token stands for that key. */
async function seed(master: string): Promise<{ path: string; credentials: Credentials }> {
  const post = async (path: string, body: object) => {
    const headers = { 'x-api-key': master, 'content-type': 'application/json' }
    const reply = await fetch(url(path), { method: 'POST', headers, body: JSON.stringify(body) })
    if (!reply.ok) throw new Error(await reply.text())
    return (await reply.json()) as Record<string, string>
  }
  const style = await post('styles', { name: 'bench', style: { version: 8, sources: {}, layers: [] } })
  const { id: key = '' } = await post('apikeys', { type: 'app', permissions: { '*': { read: '*', execute: '*' } } })
  const person = { email: 'bench@example.org', password: 'a password for benchmarks' }
  await post('auth/users', { ...person, emailVerified: true, metadata: { auth: { defaultApiKey: key } } })
  const { accessToken } = await post('auth/login', { ...person, applicationId: style.applicationId })
  return {
    path: `styles/${style.id}`,
    credentials: { key: { 'x-api-key': key }, bearer: { authorization: `Bearer ${accessToken}` } },
  }
}

const rateOf = (path: string, headers: Record<string, string>): Promise<number> =>
  requestRate({ url: base, paths: [`/api/v1/${path}`], headers, connections: 32 })

function report({ ours, limit, ratio }: Awaited<ReturnType<typeof inTurns>>): string {
  return [
    '## Access tokens',
    '',
    'GET of one style with an access token, against the same GET with the key that the token stands for.',
    '',
    '| | token | key | ratio |',
    '|---|---|---|---|',
    `| requests a second, median of ${roundsInTurns} rounds in turns | ${ours} | ${limit} | ${ratio} |`,
    '',
  ].join('\n')
}
