import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { requestRate } from './load.ts'
import { inTurns, startServer, stopServer } from './server.ts'
import { tilesOf, windowsAt } from './tile-data.ts'

const port = 18_186
const peerPort = 18_187
const places = windowsAt(9, 47, [0, 1, 2, 3, 4, 5, 6]).flatMap(tilesOf)

/** The same PMTiles archive, served by us and by tileserver-gl-light, which is installed for this alone. */
export async function archiveTiles(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  const peer = await startPeer()
  try {
    const lines = [
      '## Archives',
      '',
      '| tiles of one PMTiles archive a second, gzip (5 is wanted) | Graticule | tileserver-gl-light | ratio |',
      '|---|---|---|---|',
    ]
    for (const [name, settings] of [
      ['both as installed', {}],
      ['nothing kept in memory', { TILE_CACHE_MB: '0' }],
    ] as const)
      lines.push(await against(name, { ...settings, DATA_DIR: join(directory, 'data'), LOG_LEVEL: 'warn' }))
    return [...lines, ''].join('\n')
  } finally {
    peer.kill()
    await rm(directory, { recursive: true, force: true })
  }
}

async function against(name: string, env: Record<string, string>): Promise<string> {
  const server = await startServer('packages/server/bin/graticule.js', port, { ...env, MASTER_API_KEY: randomUUID() })
  try {
    const ours = { url: `http://127.0.0.1:${port}`, paths: places.map((place) => `/tiles/basemap/${place}.pbf`) }
    const theirs = { url: `http://127.0.0.1:${peerPort}`, paths: places.map((place) => `/data/basemap/${place}.pbf`) }
    await compare(ours, theirs)
    const {
      ours: rate,
      limit,
      ratio,
    } = await inTurns(
      () => rateOf(ours),
      () => rateOf(theirs),
    )
    return `| ${name} | ${rate} | ${limit} | ${ratio} |`
  } finally {
    await stopServer(server)
  }
}

type Side = { url: string; paths: readonly string[] }

/** Its installation compiles SQLite, which takes minutes: it is kept for the next time. */
async function startPeer(): Promise<ChildProcess> {
  const root = join(tmpdir(), 'graticule-bench-tileserver')
  for (const folder of ['fonts', 'styles', 'sprites']) await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, 'package.json'), '{}')
  const script = join(root, 'node_modules/tileserver-gl-light/src/main.js')
  if (!existsSync(script)) {
    const install = ['install', '--no-audit', '--no-fund', '--foreground-scripts', 'tileserver-gl-light']
    execFileSync('npm', install, { cwd: root, stdio: 'ignore' })
  }
  await copyFile('packages/assets/basemap.pmtiles', join(root, 'basemap.pmtiles'))
  const paths = { root, fonts: 'fonts', styles: 'styles', sprites: 'sprites', pmtiles: '', mbtiles: '' }
  const config = { options: { paths }, styles: {}, data: { basemap: { pmtiles: 'basemap.pmtiles' } } }
  await writeFile(join(root, 'config.json'), JSON.stringify(config))
  const peer = spawn(process.execPath, [script, '-c', 'config.json', '-p', String(peerPort)], {
    cwd: root,
    stdio: 'ignore',
  })
  for (let waited = 0; waited < 300; waited++) {
    const reply = await fetch(`http://127.0.0.1:${peerPort}/data/basemap.json`).catch(() => undefined)
    if (reply?.ok) return peer
    await setTimeout(100)
  }
  throw new Error('tileserver-gl-light did not start')
}

/** What a client unpacks must be the same, byte for byte. */
async function compare(ours: Side, theirs: Side): Promise<void> {
  for (const [index, path] of ours.paths.entries()) {
    const [mine, other] = await Promise.all([digest(ours.url + path), digest(theirs.url + theirs.paths[index])])
    if (mine !== other) throw new Error(`${path} differs`)
  }
}

async function digest(url: string): Promise<string> {
  const reply = await fetch(url, { headers: { 'accept-encoding': 'gzip' } })
  return createHash('sha1')
    .update(Buffer.from(await reply.arrayBuffer()))
    .digest('hex')
}

const rateOf = (side: Side): Promise<number> =>
  requestRate({ ...side, headers: { 'accept-encoding': 'gzip' }, connections: 8 })
