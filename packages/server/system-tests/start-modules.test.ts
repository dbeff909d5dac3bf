import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startServer } from '../testing/command-line.ts'
import { testDatabase } from '../testing/database.ts'
import { makeDatabaseDirectory } from '../testing/database-directory.ts'

/** The dependencies that every server needs. Whatever else there is must be imported where it is first used. */
const needed = [
  '@fastify/busboy',
  '@protomaps/basemaps',
  'content-disposition',
  'csv-parse',
  'fastify',
  'ipaddr.js',
  'lru-cache',
  'pg',
  'pg-cursor',
  'pino',
  'typebox',
]

test('a start loads the dependencies that every server needs, and no other', async () => {
  const directory = await makeDatabaseDirectory('modules')
  const database = process.env.TEST_DATABASE_URL ? await testDatabase() : undefined
  const loaded = join(directory, 'loaded.json')
  const recorder = new URL('../testing/processes/record-modules.ts', import.meta.url).pathname
  try {
    const server = await startServer({
      PATH: process.env.PATH ?? '',
      DATA_DIR: join(directory, 'data'),
      PORT: '0',
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: `--import=${recorder}`,
      LOADED_MODULES: loaded,
      ...(database?.url && { DATABASE_URL: database.url }),
    })
    assert.equal((await fetch(`${server.url}/api/v1/healthcheck`)).status, 200)
    assert.equal(await server.stop('SIGTERM'), 0)
    const packages: string[] = JSON.parse(await readFile(loaded, 'utf8'))
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
    const own = packages.filter((name) => name in manifest.dependencies)
    assert.deepEqual(own.toSorted(), needed)
  } finally {
    await database?.close()
    await rm(directory, { recursive: true, force: true })
  }
})

test('the memory that only the start needed is given back', async () => {
  const script = new URL('../testing/processes/trim-heap-process.ts', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, [script])
  const { before, after, gc } = JSON.parse(stdout)
  assert.ok(after < before / 2, stdout)
  assert.equal(gc, 'undefined')
})
