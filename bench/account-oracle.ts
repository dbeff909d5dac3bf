import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../scripts/postgres.ts'
import { median, startServer, stopServer } from './server.ts'

const tries = 200
const port = 18_183
const url = (path: string): string => `http://127.0.0.1:${port}/api/v1/${path}`
const page = 'http://localhost:3000/'

type Timing = { name: string; known: number; unknown: number }

/** How long login, reset request and sign-up take for an address that has an account, and for one that has none. */
export async function accountOracle(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const master = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: master, TRUST_PROXY: 'true' }
  const server = await startServer('packages/server/bin/graticule.js', port, { ...env, LOG_LEVEL: 'warn' })
  try {
    const { applicationId, emails } = await seed(master)
    const rest = { applicationId, redirectUrl: page }
    const signup = { ...rest, confirmUrl: page, firstName: 'A', lastName: 'B', password: 'a password of some length' }
    return report([
      await time('login', emails, (email) => ({ email, applicationId, password: 'a wrong password' })),
      await time('requestpasswordreset', emails, (email) => ({ email, ...rest })),
      await time('signup', emails, (email) => ({ email, ...signup })),
    ])
  } finally {
    await stopServer(server)
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

async function send(path: string, body: object, headers: Record<string, string>, method = 'POST'): Promise<Response> {
  const all = { 'content-type': 'application/json', ...headers }
  return fetch(url(path), { method, headers: all, body: JSON.stringify(body) })
}

/** Many accounts, so that no limit of tries is met. */
async function seed(master: string): Promise<{ applicationId: string; emails: string[] }> {
  const key = { 'x-api-key': master }
  const emails = Array.from({ length: 20 }, (_, n) => `known-${n}@example.org`)
  let applicationId = ''
  for (const email of emails) {
    const reply = await send('auth/users', { email, password: 'the right password', emailVerified: true }, key)
    applicationId = ((await reply.json()) as { applicationId: string }).applicationId
  }
  const auth = { signup: { enabled: true, allow: ['*'] } }
  await send(`applications/${applicationId}/metadata/auth`, auth, key, 'PUT')
  return { applicationId, emails }
}

/** In turns, each try from an address of its own. */
async function time(name: string, emails: readonly string[], bodyFor: (email: string) => object): Promise<Timing> {
  const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
  const statuses = new Set<number>()
  for (let round = 0; round < tries; round++) {
    const kind = round % 2 === 0 ? 'known' : 'unknown'
    const email = kind === 'known' ? emails[(round / 2) % emails.length] : `${randomUUID()}@example.org`
    const from = { 'x-forwarded-for': `198.51.100.${(round % 250) + 1}` }
    const start = performance.now()
    const reply = await send(`auth/${name}`, bodyFor(email ?? ''), from)
    await reply.text()
    times[kind].push(performance.now() - start)
    statuses.add(reply.status)
  }
  if (statuses.size !== 1) throw new Error(`${name} answers with ${[...statuses].join(' and ')}`)
  return { name, known: median(times.known), unknown: median(times.unknown) }
}

function report(timings: readonly Timing[]): string {
  return [
    '## Whether there is an account',
    '',
    `Medians of ${tries} tries in turns, with an address that has an account and with one that has none.`,
    '',
    '| | known | unknown | difference |',
    '|---|---|---|---|',
    ...timings.map(
      ({ name, known, unknown }) =>
        `| ${name} | ${known.toFixed(1)} ms | ${unknown.toFixed(1)} ms | ${((known / unknown - 1) * 100).toFixed(1)} % |`,
    ),
    '',
  ].join('\n')
}
