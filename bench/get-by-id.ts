import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startPostgres } from '../scripts/postgres.ts'
import { requestRate } from './load.ts'
import { inTurns, residentMb, roundsInTurns, startServer, stopServer } from './server.ts'

const ports = { graticule: 18_180, bare: 18_181 }

/** GET of one style by id, with key, ACL and tenancy, against the same SELECT in a bare Fastify route. */
export async function getById(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  const key = randomUUID()
  const env = { DATABASE_URL: postgres.url, DATA_DIR: directory, MASTER_API_KEY: key, LOG_LEVEL: 'warn' }
  // The first start compiles the sources; the second is as all later ones.
  await stopServer(await startServer('packages/server/bin/graticule.js', ports.graticule, env))
  const graticule = await startServer('packages/server/bin/graticule.js', ports.graticule, env)
  const bare = await startServer('bench/bare-server.ts', ports.bare, env)
  try {
    await setTimeout(2_000)
    const idle = await residentMb(graticule)
    const id = await seed(key)
    await compare(id, key)
    const rates = await inTurns(
      () => rateOf('graticule', id, key),
      () => rateOf('bare', id, key),
    )
    return report(rates, idle, await residentMb(graticule))
  } finally {
    await Promise.all([stopServer(graticule), stopServer(bare)])
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
}

const url = (server: keyof typeof ports, path: string): string => `http://127.0.0.1:${ports[server]}${path}`

/** A style as small maps have them, about 4 KB. */
async function seed(key: string): Promise<string> {
  const layers = Array.from({ length: 20 }, (_, n) => ({
    id: `layer-${n}`,
    type: 'line',
    source: 'roads',
    'source-layer': 'geometry',
    paint: { 'line-width': ['interpolate', ['linear'], ['zoom'], 5, 1, 15, 8], 'line-color': '#446688' },
  }))
  const style = { version: 8, sources: { roads: { type: 'vector', url: 'https://tiles.example/index.json' } }, layers }
  const reply = await fetch(url('graticule', '/api/v1/styles'), {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', style }),
  })
  const { id } = (await reply.json()) as { id: string }
  return id
}

/** Figures of two servers that answer differently would mean nothing. */
async function compare(id: string, key: string): Promise<void> {
  const [ours, theirs] = await Promise.all(
    (['graticule', 'bare'] as const).map(async (server) => {
      const reply = await fetch(url(server, `/api/v1/styles/${id}`), { headers: { 'x-api-key': key } })
      return JSON.stringify(((await reply.json()) as { style: unknown }).style)
    }),
  )
  if (ours !== theirs) throw new Error('The two servers do not answer the same')
}

const rateOf = (server: keyof typeof ports, id: string, key: string): Promise<number> =>
  requestRate({
    url: url(server, ''),
    paths: [`/api/v1/styles/${id}`],
    headers: { 'x-api-key': key },
    connections: 32,
  })

function report({ ours, limit, ratio }: Awaited<ReturnType<typeof inTurns>>, idleMb: number, afterMb: number): string {
  return [
    '## One record by id',
    '',
    'GET of one style with key check, ACL and tenancy, against a bare Fastify route with the same single-row SELECT.',
    '',
    '| | Graticule | bare Fastify | ratio |',
    '|---|---|---|---|',
    `| requests a second, median of ${roundsInTurns} rounds in turns | ${ours} | ${limit} | ${ratio} |`,
    `| resident memory, idle / after the load | ${idleMb} MB / ${afterMb} MB | | |`,
    '',
  ].join('\n')
}
