import { isDeepStrictEqual } from 'node:util'
import { type Bench, oneProcess, post } from '../bench.ts'
import { ourName, type Part } from '../part.ts'
import type { Server } from '../processes.ts'
import { type Answer, requestCase } from '../request-case.ts'

export const records: Part = {
  name: 'records',
  about:
    'GET of one style of about 4 KB with key, ACL and tenancy, against a bare Fastify route with the same single-row SELECT, and with an access token instead of the key.',
  seconds: 45,
  async *cases(bench) {
    const ours = await bench.startGraticule(oneProcess)
    const { path, key, token } = await seed(bench, ours)
    const bare = await bench.startScript('bare/bare-records', { DATABASE_URL: bench.databaseUrl })
    yield requestCase(bench, {
      work: 'one record by its id',
      servers: [ours, { ...bare, name: 'Fastify' }],
      load: () => ({ paths: [path], headers: { 'x-api-key': key }, connections: 32 }),
      equal: sameStyle,
      wanted: { ratio: { Fastify: 0.7 } },
    })
    yield requestCase(bench, {
      work: 'the same with an access token',
      servers: [ours, { ...ours, name: 'with the key' }],
      load: ({ name }) => {
        const [header, value] = name === ourName ? ['authorization', `Bearer ${token}`] : ['x-api-key', key]
        return { paths: [path], headers: { [header]: value }, connections: 32 }
      },
      equal: sameStyle,
      wanted: { ratio: { 'with the key': 0.8 } },
    })
  },
}

type Seeded = { path: string; key: string; token: string }

/** A style, a key that may read it, and a user whose token stands for that key. */
async function seed(bench: Bench, ours: Server): Promise<Seeded> {
  const send = (path: string, body: object) => post(ours, bench.key, path, body)
  const style = await send('styles', { name: 'bench', style: smallMap })
  const { id: key = '' } = await send('apikeys', { type: 'app', permissions: { '*': { read: '*', execute: '*' } } })
  const person = { email: 'bench@example.org', password: 'a password for benchmarks' }
  await send('auth/users', { ...person, emailVerified: true, metadata: { auth: { defaultApiKey: key } } })
  const { accessToken = '' } = await send('auth/login', { ...person, applicationId: style.applicationId })
  return { path: `/api/v1/styles/${style.id}`, key, token: accessToken }
}

const smallMap = {
  version: 8,
  sources: { roads: { type: 'vector', url: 'https://tiles.example/index.json' } },
  layers: Array.from({ length: 20 }, (_, n) => ({
    id: `layer-${n}`,
    type: 'line',
    source: 'roads',
    'source-layer': 'geometry',
    paint: { 'line-width': ['interpolate', ['linear'], ['zoom'], 5, 1, 15, 8], 'line-color': '#446688' },
  })),
}

function sameStyle(ours: readonly Answer[], theirs: readonly Answer[]): void {
  const [mine, other] = [ours, theirs].map(([answer]) => JSON.parse(String(answer?.body)).style)
  if (!isDeepStrictEqual(mine, other)) throw new Error('the style differs')
}
