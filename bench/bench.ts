import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort, startPostgres } from '../scripts/postgres.ts'
import { ourName } from './part.ts'
import { type PeerData, type PeerName, peerCommand, peers } from './peers.ts'
import { type Server, startServer } from './processes.ts'
import { makeAreas, makePoints, psql } from './tables.ts'

/** The dataset and the tile source of one table. */
export type Layer = { readonly table: string; readonly dataset: string; readonly tiles: string }

export type World = { readonly schema: string; readonly points: Layer; readonly areas: Layer }

export type Bench = Awaited<ReturnType<typeof openBench>>

export type Options = { readonly isQuick: boolean; readonly hasPeers: boolean; note(text: string): void }

/** A scratch cluster, and what the parts need of servers, tables and records in it. */
export async function openBench({ isQuick, hasPeers, note }: Options) {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const postgres = await startPostgres()
  psql(postgres.adminUrl, 'ALTER SYSTEM SET jit = off')
  psql(postgres.adminUrl, 'SELECT pg_reload_conf()')
  const key = randomUUID()
  const servers: Server[] = []
  const started = async (starting: Promise<Server>): Promise<Server> => {
    const server = await starting
    servers.push(server)
    return server
  }
  const stopServers = async (): Promise<void> => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  }
  const access = { directory, databaseUrl: postgres.url, databasePid: postgres.pid, key }
  let world: Promise<World> | undefined
  return {
    ...access,
    isQuick,
    hasPeers,
    note,
    /** Of a round. */
    seconds: isQuick ? 1 : 2,
    headers: { 'x-api-key': key },
    /** The quick run has a fifth of the rows. */
    scale: isQuick ? 0.2 : 1,
    startGraticule: (settings: Record<string, string> = {}) => started(startGraticule(access, settings)),
    /** A script of bench/ as a server. */
    startScript: (name: string, env: Record<string, string>) => started(startScript(name, env)),
    /** Those that are installed and start. */
    async startPeers(names: readonly PeerName[], served: Partial<PeerData> & { schema: string }): Promise<Server[]> {
      const found: Server[] = []
      for (const name of hasPeers ? names.filter((one) => peers[one].isFound()) : []) {
        const settings = { databaseUrl: postgres.url, directory: join(directory, name), ...served }
        const command = await peerCommand(name, settings)
        await started(startServer(command)).then(
          (server) => found.push(server),
          (error: Error) => note(error.message),
        )
      }
      return found
    },
    stopServers,
    /** Made when it is first asked for. */
    world(): Promise<World> {
      world ??= makeWorld(access, isQuick ? 0.2 : 1)
      return world
    },
    async close(): Promise<void> {
      await stopServers()
      await postgres.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

type Access = { readonly directory: string; readonly databaseUrl: string; readonly key: string }

/** For what is compared with a single process. */
export const oneProcess = { WORKERS: '1' }

/** As `npm start` starts it: with all cores. */
async function startGraticule({ directory, databaseUrl, key }: Access, settings: Record<string, string>) {
  const port = await freePort()
  const data = join(directory, 'data')
  await mkdir(data, { recursive: true })
  const own = { DATABASE_URL: databaseUrl, DATA_DIR: data, MASTER_API_KEY: key, LOG_LEVEL: 'warn' }
  const env = { ...own, HOST: '127.0.0.1', PORT: String(port), EGRESS_ALLOW: '127.0.0.1:*', MALLOC_ARENA_MAX: '4' }
  return startServer({
    name: ourName,
    port,
    file: process.execPath,
    parameters: ['--max-semi-space-size=16', 'packages/server/bin/graticule.js'],
    env: { ...env, ...settings },
    readyPath: '/api/v1/healthcheck',
  })
}

async function startScript(name: string, env: Record<string, string>): Promise<Server> {
  const port = await freePort()
  const parameters = ['--max-semi-space-size=16', join(import.meta.dirname, `${name}.ts`)]
  const settings = { ...env, PORT: String(port) }
  return startServer({ name, port, file: process.execPath, parameters, env: settings, readyPath: '/ready' })
}

/** A POST to the API of a server, with the master key. */
export async function post(server: Server, key: string, path: string, body: object): Promise<Record<string, string>> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const reply = await fetch(`${server.url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
  return (await reply.json()) as Record<string, string>
}

export async function publishTable(server: Server, key: string, table: string, databaseId?: string): Promise<Layer> {
  const source = { type: 'table', name: table, source: table, ...(databaseId && { databaseId }) }
  const { id: dataset = '' } = await post(server, key, 'datasets', source)
  const { id: tiles = '' } = await post(server, key, 'tilesources', { type: 'dataset', source: dataset, maxZoom: 16 })
  return { table, dataset, tiles }
}

/** The schema of the only application. */
export async function tenantSchema(server: Server, key: string): Promise<string> {
  const reply = await fetch(`${server.url}/api/v1/applications`, { headers: { 'x-api-key': key } })
  const [application] = (await reply.json()) as { id: string }[]
  return `app_${application?.id.replaceAll('-', '')}`
}

async function makeWorld(access: Access, scale: number): Promise<World> {
  const { databaseUrl, key } = access
  const server = await startGraticule(access, {})
  try {
    const schema = await tenantSchema(server, key)
    makePoints(databaseUrl, `${schema}.points`, 1_000_000 * scale)
    makeAreas(databaseUrl, `${schema}.areas`, 100_000 * scale)
    const points = await publishTable(server, key, 'points')
    const areas = await publishTable(server, key, 'areas')
    for (const layer of scale < 1 ? [points] : [points, areas]) await buildOverviews(server, access, layer)
    return { schema, points, areas }
  } finally {
    await server.stop()
  }
}

const overviewsMs = 180_000

/** The first tile asks for the overviews; a job builds them. */
async function buildOverviews(server: Server, { databaseUrl, key }: Access, layer: Layer): Promise<void> {
  const state = () => psql(databaseUrl, `SELECT state FROM svc.overviews WHERE dataset_id = '${layer.dataset}'`).trim()
  const reply = await fetch(`${server.url}/tiles/${layer.tiles}/0/0/0.mvt`, { headers: { 'x-api-key': key } })
  await reply.arrayBuffer()
  for (const end = performance.now() + overviewsMs; performance.now() < end; await setTimeout(250))
    if (state() === 'built') return
  throw new Error(`The overviews of ${layer.table} were not built within ${overviewsMs / 1000} s`)
}
