// npm run pack-data-directory CHECKOUT NAME: lets the server of an earlier version, checked out and installed elsewhere, fill a data
// directory with one of everything, and keeps it together with what it answered. Made once: every later server must open it.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { startServer } from '../packages/server/testing/command-line.ts'
import { pmtilesOf } from '../packages/server/testing/tile-archives.ts'
import { clientOf, pointsGeoJson, type UpgradeClient } from '../packages/server/testing/upgrades/client.ts'
import type { RecordedVersion } from '../packages/server/testing/upgrades/first-version.ts'
import { filesBelow, packFiles } from '../packages/server/testing/upgrades/packed-files.ts'
import { runIn } from './packages/run-in.ts'

const [checkout, name] = process.argv.slice(2)
if (checkout === undefined || name === undefined) {
  console.error(
    'Which version? npm run pack-data-directory CHECKOUT NAME, where CHECKOUT is a directory with its sources and packages.',
  )
  process.exit(2)
}
const target = resolve(import.meta.dirname, '../packages/server/testing/upgrades', name)
if (existsSync(`${target}.br`)) {
  console.error(`${target}.br is kept as it is. Give another NAME.`)
  process.exit(2)
}

const directory = await mkdtemp(join(tmpdir(), 'graticule-data-directory-'))
const master = randomUUID()
const env = {
  PATH: process.env.PATH ?? '',
  PORT: '0',
  HOST: '127.0.0.1',
  LOG_LEVEL: 'warn',
  // Few rows, so that there are overviews and yet little to store.
  DATA_DIR: directory,
  MASTER_API_KEY: master,
  OVERVIEW_MIN_ROWS: '200',
}
const server = await startServer(env, resolve(checkout, 'packages/server/bin/graticule.js'))
const contents = await fill(clientOf(server.url, master)).finally(() => server.stop('SIGTERM'))

const commit = (await runIn(checkout, 'git', ['rev-parse', 'HEAD'])).trim()
const recorded: RecordedVersion = { commit, ...contents }
const archive = await packFiles(await filesBelow(directory))
await writeFile(`${target}.br`, archive)
await writeFile(`${target}.json`, `${JSON.stringify(recorded, undefined, 2)}\n`)
await rm(directory, { recursive: true })
console.log(`${Math.round(archive.length / 1000)} KB: ${target}.br`)

async function fill(operator: UpgradeClient): Promise<Omit<RecordedVersion, 'commit'>> {
  const application = { name: 'Harbour', description: 'Ships and berths', contact: 'harbour@example.org' }
  const { id: applicationId } = await operator.make('applications', application)
  const makeKey = async (permissions: object, rest = {}): Promise<string> =>
    (await operator.make('apikeys', { applicationId, type: 'app', permissions, ...rest })).id
  const developer = await makeKey({ '*': { '*': '*' } }, { description: 'Harbour office' })
  const visitor = await makeKey(
    { '*': { read: '*', execute: '*' } },
    { allowedOrigins: ['https://harbour.example.org'] },
  )
  const client = operator.withKey(developer)
  const login = { email: 'ada@example.org', password: 'nine Bernoulli numbers', applicationId }
  const paths = [
    ...[`/api/v1/applications/${applicationId}`, `/api/v1/apikeys/${developer}`, `/api/v1/apikeys/${visitor}`],
    ...(await fillRecords(client, login)),
    ...(await fillData(client)),
  ]
  const answers: RecordedVersion['answers'] = {}
  for (const path of paths) answers[path] = await record(client, path)
  // Accepted, and stopped before they are begun.
  const waiting: string[] = []
  for (const name of ['one', 'two', 'three', 'four'])
    waiting.push((await client.sendFile(`${name}.geojson`, pointsGeoJson(10))).id)
  return { keys: { master, developer, visitor }, login, waiting, answers }
}

async function record(client: UpgradeClient, path: string): Promise<unknown> {
  if (path.endsWith('.pbf')) return Buffer.from(await client.bytes(path)).toString('base64')
  // When a key was last used changes with every request.
  return JSON.parse(JSON.stringify(await client.get(path)), (name, value) =>
    name === 'lastUsedAt' ? undefined : value,
  )
}

/** Records that need no data; the paths that show them. */
async function fillRecords(client: UpgradeClient, login: RecordedVersion['login']): Promise<string[]> {
  const { email, password } = login
  const style = {
    version: 8,
    sources: {},
    layers: [{ id: 'land', type: 'background', paint: { 'background-color': '#f4efe6' } }],
  }
  const records: readonly (readonly [path: string, body: object])[] = [
    ['auth/users', { email, password, firstName: 'Ada', lastName: 'Lovelace', roles: ['editor'], emailVerified: true }],
    ['styles', { name: 'Plain land', description: 'One colour', type: 'plain', style }],
    [
      'databases',
      {
        type: 'postgres',
        name: 'Warehouse',
        host: 'warehouse.example.org',
        port: 5432,
        user: 'reader',
        password: 'a password',
        db: 'warehouse',
      },
    ],
    [
      'contactpoints',
      {
        name: 'Harbour office',
        type: 'webhook',
        settings: { url: 'https://hooks.example.org/harbour', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      },
    ],
    ['agents', { name: 'Guide', description: 'Answers questions about the map' }],
    ['tilesources', { type: 'tilelive', source: 'https://tiles.example.org/{z}/{x}/{y}.png', maxZoom: 12 }],
    [
      'datasets',
      {
        type: 'sql',
        name: 'Hours',
        source: 'SELECT g AS hour FROM generate_series(0, :last) g ORDER BY 1',
        metadata: { parameters: [{ name: 'last', type: 'integer', default: 3 }] },
      },
    ],
  ]
  const shown: string[] = ['/api/v1/appconfig/theme', '/api/v1/apikeys']
  await client.make('appconfig', { config: { theme: { colour: '#2a6' } } })
  for (const [path, body] of records) {
    const { id } = await client.make(path, body)
    await client.call('PUT', `/api/v1/${path}/${id}/metadata`, { body: { region: { name: 'north', level: 2 } } })
    shown.push(`/api/v1/${path}/${id}`, `/api/v1/${path}/${id}/metadata/region.name`)
    if (path === 'styles') shown.push(`/maps/${id}.json`)
    if (path === 'datasets') shown.push(`/api/v1/datasets/${id}/query`)
  }
  return shown
}

/** Files of several kinds; the paths that show them, their rows and their tiles. */
async function fillData(client: UpgradeClient): Promise<string[]> {
  const berths = await client.upload('berths.geojson', pointsGeoJson(300))
  const prices = await client.upload('prices.csv', 'kind,price\nsmall,12.5\nlarge,40\n')
  const broken = await client.upload('broken.geojson', '{"type":"FeatureCollection","features":[{"type":')
  const tile = Buffer.from(await client.bytes(`/tiles/${berths.tileSourceId}/0/0/0.pbf`))
  const archive = await client.upload('chart.pmtiles', pmtilesOf([{ z: 0, x: 0, y: 0, bytes: gzipSync(tile) }]))
  return [
    ...[berths, prices, broken, archive].map(({ id }) => `/api/v1/uploads/${id}`),
    ...[berths, prices].map(({ datasetId }) => `/api/v1/datasets/${datasetId}`),
    ...[berths, archive].map(({ tileSourceId }) => `/api/v1/tilesources/${tileSourceId}`),
    `/api/v1/datasets/${berths.datasetId}/query?filter[depth][$gte]=70&sort=-depth&limit=10`,
    `/api/v1/datasets/${prices.datasetId}/query`,
    ...['0/0/0', '2/1/1'].map((place) => `/tiles/${berths.tileSourceId}/${place}.pbf`),
    `/tiles/${archive.tileSourceId}/0/0/0.pbf`,
  ]
}
