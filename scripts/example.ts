// npm run example NAME: starts one of examples/, on the server of GRATICULE_URL and GRATICULE_API_KEY or, without them, on
// a server of its own that ends with it. Its data stay in data/examples.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createServer, defaultClientConditions } from 'vite'
import { createClient } from '../packages/client/src/client.ts'

type Access = { url: string; key: string; child?: ChildProcess }

const root = resolve(import.meta.dirname, '..')
const serverFile = join(root, 'packages/server/bin/graticule.js')
const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const [name = '', ...args] = process.argv.slice(2)
if (!examples.includes(name)) {
  console.error(`Which example? npm run example NAME, where NAME is one of ${examples.join(', ')}.`)
  process.exit(2)
}

const folder = join(root, 'examples', name)
const access = await reachServer()
const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
const code = existsSync(join(folder, 'index.html')) ? await servePage() : await runProgram()
await stopServer()
process.exit(code)

async function reachServer(): Promise<Access> {
  const { GRATICULE_URL: url, GRATICULE_API_KEY: key, ...rest } = process.env
  if (url && key) return { url, key }
  const env = { ...rest, DATA_DIR: join(root, 'data/examples'), PORT: process.env.PORT ?? '0', LOG_LEVEL: 'warn' }
  // In a group of its own: Ctrl-C is for this program, which ends the server when the example has ended.
  const child = spawn(process.execPath, [serverFile], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  process.on('exit', () => child.kill())
  const address = await greeted(child)
  const keys = spawnSync(process.execPath, [serverFile, 'keys'], { env, encoding: 'utf8' }).stdout
  const [developerKey = ''] = keys.match(/[0-9a-f-]{36}/) ?? []
  return { url: address, key: developerKey, child }
}

async function greeted(child: ChildProcess): Promise<string> {
  let output = ''
  for await (const chunk of child.stdout ?? []) {
    output += chunk
    const [, address] = /Graticule +(\S+)\n/.exec(output) ?? []
    if (address) return address
  }
  // It has said why.
  process.exit(1)
}

async function stopServer(): Promise<void> {
  if (!access.child) return
  const exit = once(access.child, 'exit')
  access.child.kill('SIGTERM')
  await exit
}

/** A page gets server and a narrow key behind the #, which browsers send to nobody. */
async function servePage(): Promise<number> {
  const told = await setUp()
  const vite = await createServer({
    root: folder,
    logLevel: 'warn',
    resolve: { conditions: ['graticule-source', ...defaultClientConditions] },
  })
  await vite.listen()
  const [page] = vite.resolvedUrls?.local ?? []
  console.log(`\n  ${page}#${new URLSearchParams(told)}\n`)
  await once(ending.signal, 'abort')
  await vite.close()
  return 0
}

/** What the page is told: server and key, unless the example has something to prepare and says itself what. */
async function setUp(): Promise<Record<string, string>> {
  const { url, key } = access
  const file = join(folder, 'set-up.ts')
  if (!existsSync(file)) return { url, key }
  const { setUp } = await import(file)
  return setUp(createClient(url, key), key)
}

async function runProgram(): Promise<number> {
  const env = { ...process.env, GRATICULE_URL: access.url, GRATICULE_API_KEY: access.key }
  const program = spawn(process.execPath, ['--conditions=graticule-source', join(folder, 'main.ts'), ...args], {
    env,
    stdio: 'inherit',
    signal: ending.signal,
    killSignal: 'SIGINT',
  })
  program.on('error', () => undefined)
  const [exitCode] = await once(program, 'exit')
  return exitCode ?? 0
}
