// One database is enough: what is looked at is the document, and clients that others make of it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { type UploadApp, uploadApp } from '../../packages/server/testing/uploads.ts'
import { runIn } from '../packages/run-in.ts'
import { type Generators, installGenerators } from './installed-generators.ts'

// Programs of strangers: what four generators make of the two OpenAPI documents is compiled, and does a user's work.

// Packages may have to be fetched first.
const slow = { timeout: 900_000 }
const root = new URL('../../', import.meta.url).pathname
const openApi = join(root, 'openapi.json')

type World = { generators: Generators; folder: string; server: UploadApp; close(): Promise<void> }
let world: Promise<World> | undefined
// In the tests and not before them all: a hook is given less time than the packages may need.
const theWorld = (): Promise<World> => {
  world ??= makeWorld()
  return world
}
after(async () => (await world)?.close())

async function makeWorld(): Promise<World> {
  const generators = await installGenerators()
  const folder = await mkdtemp(join(tmpdir(), 'graticule-generated-'))
  await symlink(generators.modules, join(folder, 'node_modules'))
  await cp(join(root, 'scripts/generators/programs'), join(folder, 'programs'), { recursive: true })
  const server = await uploadApp()
  return {
    generators,
    folder,
    server,
    async close() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What generators of TypeScript are called with: the document, and where the client goes. */
const typescriptGenerators: Readonly<
  Record<string, (world: World, document: string, output: string) => Promise<string>>
> = {
  'typescript-fetch': ({ generators, folder }, document, output) =>
    runIn(folder, generators.program('openapi-generator-cli'), [
      ...['generate', '-i', document, '-g', 'typescript-fetch', '-o', output],
    ]),
  'openapi-fetch': ({ folder }, document, output) =>
    runNode(folder, 'openapi-typescript', [
      document,
      '-o',
      `${output.replace('openapi-fetch', 'openapi-typescript')}.ts`,
    ]),
  'hey-api': ({ folder }, document, output) => runNode(folder, 'openapi-ts', ['-i', document, '-o', output]),
}

const runNode = (folder: string, name: string, args: readonly string[]): Promise<string> =>
  runIn(folder, process.execPath, [join(folder, 'node_modules/.bin', name), ...args])

/** Strict, and as CommonJS, because generated files import each other without extensions. */
async function compile({ folder }: World, include: readonly string[]): Promise<void> {
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    skipLibCheck: true,
    module: 'commonjs',
    moduleResolution: 'bundler',
    rootDir: '.',
    outDir: 'built',
    noEmitOnError: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }))
  await runIn(folder, process.execPath, [join(root, 'node_modules/.bin/tsc'), '--project', '.'])
}

/** What a program prints that uses the server, with the key of a new application unless another is given. */
async function use({ server, folder }: World, command: string, args: readonly string[], key?: string) {
  const SERVER_KEY = key ?? (await server.app.tenant('Generated')).developer
  const env = { SERVER_URL: server.address, SERVER_KEY, PYTHONPATH: folder, NO_PROXY: '*' }
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  assert.equal(code, 0, errors)
  return JSON.parse(output)
}

const expected = {
  before: 1,
  inserted: { count: 2, keys: [3, 4] },
  after: 2,
  pages: [['first', 'second'], ['third']],
  missing: {
    status: 404,
    type: 'urn:graticule:problem:not_found',
    detail: 'There is no Dataset with this id.',
  },
}

for (const [name, generate] of Object.entries(typescriptGenerators)) {
  test(`the client that ${name} makes compiles, uploads, queries, pages, inserts and reads errors`, slow, async () => {
    const made = await theWorld()
    await generate(made, openApi, join(made.folder, name))
    await compile(made, [`programs/${name}.ts`, name])
    assert.deepEqual(await use(made, process.execPath, [`built/programs/${name}.js`]), expected)
  })
}

// Media types that it has no types for: a client gets their bytes, and sends JSON.
const unsupported = ['GET /fonts/{fontstack}/{range}.pbf', 'GET /sprites/{path}', 'POST /api/v1/datasets/{id}/rows']

test(
  'the client that openapi-python-client makes uploads, queries, pages, inserts and reads errors',
  slow,
  async () => {
    const made = await theWorld()
    const { generators, folder } = made
    const program = `PATH="$(dirname "$0"):$PATH" exec "$0" "$@" 2>&1`
    const output = await runIn(folder, 'sh', [
      ...['-c', program, generators.program('openapi-python-client')],
      ...['generate', '--path', openApi, '--output-path', join(folder, 'graticule_client'), '--meta', 'none'],
    ])
    const warned = [...output.matchAll(/^WARNING parsing (.*) within/gm)].map(([, operation]) => operation)
    assert.deepEqual(warned, unsupported)
    await runIn(folder, generators.program('python'), ['-m', 'compileall', '-q', 'graticule_client'])
    assert.deepEqual(await use(made, generators.program('python'), ['programs/python_client.py']), expected)
  },
)

const point =
  '{ "type": "Feature", "properties": { "name": "Oslo" }, "geometry": { "type": "Point", "coordinates": [10, 59] } }'

test(
  'clients made of the document of the OGC API compile, list collections, read features and create them',
  slow,
  async () => {
    const made = await theWorld()
    const { server, folder } = made
    await server.upload({ name: 'cities.geojson', bytes: point })
    const document = join(folder, 'ogc.json')
    await writeFile(document, JSON.stringify((await server.call('GET', '/ogc/api')).body))
    const names = Object.keys(typescriptGenerators).map((name) => `ogc-${name}`)
    for (const [name, generate] of Object.entries(typescriptGenerators))
      await generate(made, document, join(folder, `ogc-${name}`))
    await compile(made, ['programs/ogc.ts', 'ogc-openapi-typescript.ts', ...names])
    const found = await use(made, process.execPath, ['built/programs/ogc.js'], server.tenant.developer)
    assert.deepEqual(found, { collections: 1, names: ['Malmö'], missing: 404 })
  },
)
