import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../scripts/postgres.ts'
import { type Command, isOnPath, succeeds } from './processes.ts'

/** Other servers, used where they are installed. Nothing of them is in this repository, and nothing here installs them. */
export type PeerName = 'martin' | 'pg_tileserv' | 'tipg' | 'pg_featureserv' | 'postgrest' | 'tileserver-gl-light'

/** What a peer is to serve. */
export type PeerData = {
  readonly databaseUrl: string
  readonly schema: string
  /** A folder of its own. */
  readonly directory: string
  /** Memory for tiles; unset: as installed. */
  readonly cacheMb?: number
  /** A PMTiles file, served as `archive`. */
  readonly archive?: string
}

type Peer = {
  isFound(): boolean
  version(): string
  command(served: PeerData, port: number): Promise<Omit<Command, 'name' | 'port'>>
}

/** Large enough that no peer leaves features out of a tile. */
const allFeatures = '10000000'
/** As Graticule has it, in units of 4096. */
const tileBuffer = '64'

export const peers: Record<PeerName, Peer> = {
  martin: {
    isFound: () => isOnPath('martin'),
    version: () => output('martin', ['--version']),
    async command({ databaseUrl, schema, directory, cacheMb, archive }, port) {
      const config = join(directory, 'martin.yaml')
      const tables = { from_schemas: [schema], id_columns: ['id'], source_id_format: '{table}' }
      const postgres = { connection_string: databaseUrl, auto_publish: { tables, functions: false } }
      const pmtiles = archive === undefined ? {} : { pmtiles: { sources: { archive } } }
      const cache = cacheMb === undefined ? [] : ['--cache-size', String(cacheMb)]
      // JSON is YAML, too.
      const text = { listen_addresses: `127.0.0.1:${port}`, ...pmtiles, postgres }
      await writeFile(config, JSON.stringify(text))
      return {
        file: 'martin',
        parameters: ['--config', config, ...cache],
        env: { RUST_LOG: 'error' },
        readyPath: '/catalog',
      }
    },
  },
  pg_tileserv: {
    isFound: () => isOnPath('pg_tileserv'),
    version: () => output('pg_tileserv', ['--version']),
    async command({ databaseUrl, directory }, port) {
      const env = {
        DATABASE_URL: databaseUrl,
        TS_HTTPHOST: '127.0.0.1',
        TS_HTTPPORT: String(port),
        TS_DEFAULTBUFFER: tileBuffer,
        TS_MAXFEATURESPERTILE: allFeatures,
        TS_DBTIMEOUT: '60',
      }
      return { file: 'pg_tileserv', parameters: [], env, directory, readyPath: '/index.json' }
    },
  },
  pg_featureserv: {
    isFound: () => isOnPath('pg_featureserv'),
    version: () => output('pg_featureserv', ['--version']),
    async command({ databaseUrl, directory }, port) {
      const http = { PGFS_SERVER_HTTPHOST: '127.0.0.1', PGFS_SERVER_HTTPPORT: String(port) }
      const env = { DATABASE_URL: databaseUrl, ...http }
      return { file: 'pg_featureserv', parameters: [], env, directory, readyPath: '/collections.json' }
    },
  },
  tipg: {
    isFound: () => succeeds('python3', ['-c', 'import tipg, uvicorn']),
    version: () => output('python3', ['-c', 'import tipg; print("tipg", tipg.__version__)']),
    async command({ databaseUrl, schema, directory }, port) {
      const env = {
        DATABASE_URL: databaseUrl,
        TIPG_DB_SCHEMAS: JSON.stringify([schema]),
        TIPG_MAX_FEATURES_PER_TILE: allFeatures,
        TIPG_TILE_BUFFER: tileBuffer,
      }
      const workers = ['--workers', String(availableParallelism())]
      const serve = ['-m', 'uvicorn', 'tipg.main:app', '--port', String(port), '--log-level', 'error', ...workers]
      return { file: 'python3', parameters: serve, env, directory, readyPath: '/collections' }
    },
  },
  postgrest: {
    isFound: () => isOnPath('postgrest'),
    version: () => output('postgrest', ['--version']),
    async command({ databaseUrl, schema, directory }, port) {
      const database = { PGRST_DB_URI: databaseUrl, PGRST_DB_SCHEMAS: schema, PGRST_DB_ANON_ROLE: 'postgres' }
      const env = { ...database, PGRST_SERVER_HOST: '127.0.0.1', PGRST_SERVER_PORT: String(port) }
      return { file: 'postgrest', parameters: [], env, directory, readyPath: '/' }
    },
  },
  'tileserver-gl-light': {
    isFound: () => isOnPath('tileserver-gl-light'),
    version: () => output('tileserver-gl-light', ['--version']),
    async command({ directory, archive = '' }, port) {
      for (const folder of ['fonts', 'styles', 'sprites']) await mkdir(join(directory, folder), { recursive: true })
      const folders = { fonts: 'fonts', styles: 'styles', sprites: 'sprites', pmtiles: '', mbtiles: '' }
      const paths = { root: directory, ...folders }
      const config = { options: { paths }, styles: {}, data: { archive: { pmtiles: archive } } }
      await writeFile(join(directory, 'config.json'), JSON.stringify(config))
      const parameters = ['-c', 'config.json', '-b', '127.0.0.1', '-p', String(port)]
      return { file: 'tileserver-gl-light', parameters, directory, readyPath: '/data/archive.json' }
    },
  },
}

export async function peerCommand(name: PeerName, served: PeerData): Promise<Command> {
  const port = await freePort()
  await mkdir(served.directory, { recursive: true })
  return { name, port, ...(await peers[name].command(served, port)) }
}

/** What it prints, whatever it ends with: some take the question for a mistake. */
const output = (file: string, parameters: readonly string[]): string =>
  spawnSync(file, parameters, { encoding: 'utf8', timeout: 10_000 }).stdout?.trim() ?? ''
