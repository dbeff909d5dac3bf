import { randomUUID } from 'node:crypto'
import { type Bench, oneProcess, post } from '../bench.ts'
import type { Case, Part } from '../part.ts'
import type { Server } from '../processes.ts'
import type { Sample } from '../statistics.ts'

const tries = 50
const page = 'http://localhost:3000/'

export const accountOracle: Part = {
  name: 'accountOracle',
  about:
    'How long login, reset request and sign-up take for an address that has an account, and for one that has none: a ratio other than 1 tells strangers who has an account.',
  seconds: 240,
  isOnDemand: true,
  async *cases(bench) {
    const server = await bench.startGraticule({ ...oneProcess, TRUST_PROXY: 'true' })
    const applicationId = await seed(bench, server)
    const rest = { applicationId, redirectUrl: page }
    const person = { confirmUrl: page, firstName: 'A', lastName: 'B', password: 'a password of some length' }
    yield askCase(server, 'login', { applicationId, password: 'a wrong password' })
    yield askCase(server, 'requestpasswordreset', rest)
    yield askCase(server, 'signup', { ...rest, ...person })
  },
}

/** Many accounts, so that no limit of tries is met. */
const knownAddress = (n: number): string => `known-${n % 20}@example.org`

async function seed({ key }: Bench, server: Server): Promise<string> {
  let application = ''
  for (let n = 0; n < 20; n++) {
    const user = { email: knownAddress(n), password: 'the right password', emailVerified: true }
    application = (await post(server, key, 'auth/users', user)).applicationId ?? ''
  }
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const body = JSON.stringify({ signup: { enabled: true, allow: ['*'] } })
  await fetch(`${server.url}/api/v1/applications/${application}/metadata/auth`, { method: 'PUT', headers, body })
  return application
}

function askCase(server: Server, path: string, body: object): Case {
  let n = 0
  const ask = async (email: string): Promise<Sample> => {
    // From an address of its own each time.
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${1 + (n++ % 250)}` }
    const sent = { method: 'POST', headers, body: JSON.stringify({ email, ...body }) }
    const begun = performance.now()
    await (await fetch(`${server.url}/api/v1/auth/${path}`, sent)).text()
    return { value: performance.now() - begun }
  }
  const contenders = [
    { name: 'an account', measure: () => ask(knownAddress(n)) },
    { name: 'no account', measure: () => ask(`${randomUUID()}@example.org`) },
  ]
  return { work: path, unit: 'ms', better: 'less', contenders, longRounds: tries }
}
