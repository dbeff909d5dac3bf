import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startPostgres } from '../scripts/postgres.ts'
import { median, startServer, stopServer } from './server.ts'

const rounds = 5
const secondsPerRound = 4
const port = 18_182
const url = (path: string): string => `http://127.0.0.1:${port}/api/v1/${path}`

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
    return report(await measure(url(path), credentials))
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

type Rates = Record<keyof Credentials, number[]>

/** In turns, so that whatever else the machine does hits both. The first round warms up. */
async function measure(address: string, credentials: Credentials): Promise<Rates> {
  const rates: Rates = { key: [], bearer: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const kind of ['key', 'bearer'] as const) {
      const { requests, non2xx } = await autocannon({
        url: address,
        headers: credentials[kind],
        connections: 32,
        duration: secondsPerRound,
      })
      if (non2xx > 0) throw new Error(`${kind}: ${non2xx} answers were not 2xx`)
      if (round > 0) rates[kind].push(requests.average)
    }
  }
  return rates
}

function report({ key, bearer }: Rates): string {
  const ratios = bearer.map((rate, round) => rate / (key[round] ?? Number.NaN)).sort((a, b) => a - b)
  return [
    '## Access tokens',
    '',
    'GET of one style with an access token, against the same GET with the key that the token stands for.',
    '',
    '| | token | key | ratio |',
    '|---|---|---|---|',
    `| requests a second, median of ${rounds} rounds in turns | ${Math.round(median(bearer))} | ${Math.round(median(key))} | **${median(ratios).toFixed(2)}** (${ratios[0]?.toFixed(2)} – ${ratios.at(-1)?.toFixed(2)}) |`,
    '',
  ].join('\n')
}
