import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { connectWorker, type TestWorker } from '../../server/testing/agent-worker.ts'
import { type CommandEnvironment, runCommandLine, startServer } from '../../server/testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../../server/testing/database.ts'
import { readDocPage } from '../../server/testing/doc-page.ts'
import { createClient } from './client.ts'

// One database is enough: the client sees only the API.

// The TypeScript of the documentation, as a reader would copy it: all blocks of a page are one program, which must compile,
// run against a server, and print what the comments behind console.log say.

const root = resolve(import.meta.dirname, '../../..')
const pages = ['docs/client.md', 'packages/client/README.md']

let directory = ''
let database: TestDatabase | undefined
let server: Awaited<ReturnType<typeof startServer>> | undefined
let worker: TestWorker | undefined
let placeholders: Record<string, string>

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-client-docs-'))
  await mkdir(join(directory, 'node_modules/@graticule'), { recursive: true })
  await symlink(join(root, 'packages/client'), join(directory, 'node_modules/@graticule/client'))
  await symlink(join(root, 'node_modules/@types'), join(directory, 'node_modules/@types'))
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  const env: CommandEnvironment = { PATH: process.env.PATH ?? '', DATA_DIR: join(directory, 'data'), PORT: '0' }
  if (process.env.TEST_DATABASE_URL) {
    database = await testDatabase()
    env.DATABASE_URL = database.url ?? ''
  }
  server = await startServer(env)
  const { url } = server
  const { output } = await runCommandLine(['keys'], env)
  const [key = '', publicKey = ''] = output.match(/[0-9a-f-]{36}/g) ?? []
  const { id: agentId } = await createClient(url, key).agents.create({ name: 'Echo' })
  worker = await connectWorker({ url, key, agentId })
  placeholders = { 'http://localhost:8080': url, YOUR_KEY: key, PUBLIC_KEY: publicKey, AGENT_ID: agentId }
})
after(async () => {
  worker?.kill()
  await server?.stop('SIGTERM')
  await database?.close()
  await rm(directory, { recursive: true, force: true })
})

const run = (args: string[]) => promisify(execFile)(process.execPath, args, { cwd: directory })

async function programOf(page: string): Promise<string> {
  const { blocks } = await readDocPage(join(root, page))
  const text = blocks
    .filter(({ language }) => language === 'ts')
    .map(({ text }) => text)
    .join('\n')
  return Object.entries(placeholders).reduce((program, [name, value]) => program.replaceAll(name, value), text)
}

for (const page of pages) {
  describe(page, () => {
    test('its program compiles', async () => {
      await writeFile(join(directory, 'program.ts'), await programOf(page))
      const tsc = join(root, 'node_modules/.bin/tsc')
      const options = ['--strict', '--noEmit', '--skipLibCheck', '--target', 'esnext', '--types', 'node']
      const modules = ['--module', 'nodenext', '--allowImportingTsExtensions', '--customConditions', 'graticule-source']
      const { stdout } = await run([tsc, ...options, ...modules, 'program.ts']).catch((error) => error)
      assert.equal(stdout, '')
    })

    test('its program runs and prints what it says', async () => {
      const program = await programOf(page)
      await writeFile(join(directory, 'program.ts'), program)
      const { stdout } = await run(['--conditions=graticule-source', 'program.ts'])
      const expected = [...program.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, text]) => text)
      assert.ok(expected.length > 1)
      assert.deepEqual(stdout.trimEnd().split('\n'), expected)
    })
  })
}
