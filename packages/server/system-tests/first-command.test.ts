import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import {
  type CommandEnvironment,
  runCommandLine,
  type ServerProcess,
  startOnTerminal,
  startServer,
} from '../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { makeDatabaseDirectory } from '../testing/database-directory.ts'
import { until } from '../testing/until.ts'

let directory: string
let database: TestDatabase | undefined
let env: CommandEnvironment

before(async () => {
  directory = await makeDatabaseDirectory('first-command')
})
after(() => rm(directory, { recursive: true, force: true }))
beforeEach(async () => {
  const data = await mkdtemp(join(directory, 'data-'))
  env = { PATH: process.env.PATH ?? '', DATA_DIR: join(data, 'data'), PORT: '0', LOG_LEVEL: 'info' }
  database = process.env.TEST_DATABASE_URL ? await testDatabase() : undefined
  if (database?.url) env.DATABASE_URL = database.url
})
afterEach(() => database?.close())

const masterKeyIn = (text: string): string => /Master key +([0-9a-f-]{36})/.exec(text)?.[1] ?? ''

async function assertWorks(server: ServerProcess, key: string): Promise<void> {
  const reply = await fetch(`${server.url}/api/v1/applications`, { headers: { 'x-api-key': key } })
  assert.equal(reply.status, 200)
  assert.equal(await server.stop('SIGTERM'), 0)
}

// cli.test.ts shows that no later start shows it again.
describe('a master key is shown once, whichever command comes first', () => {
  test('migrate makes none, so the first start shows it', async () => {
    const { output, errors } = await runCommandLine(['migrate'], env)
    assert.match(output, /Applied migrations 1, /)
    assert.equal(masterKeyIn(output + errors), '')
    const server = await startServer(env)
    const key = masterKeyIn(server.output())
    assert.ok(key, server.output())
    await assertWorks(server, key)
  })

  test('keys and create-key make and show it, so the first start does not', async () => {
    const { output, errors } = await runCommandLine(['keys'], env)
    assert.equal(output.match(/[0-9a-f-]{36}/g)?.length, 2, 'the output has the keys of the application alone')
    assert.match(output, /create-key --type master/, 'and says how to get another master key')
    const server = await startServer(env)
    assert.doesNotMatch(server.output(), /Master key/, 'it is shown once')
    await assertWorks(server, masterKeyIn(errors))
  })
})

/** Each start of the embedded database takes seconds of CPU time. */
const onPostgres = { skip: process.env.TEST_DATABASE_URL ? false : 'does not depend on the database' }

test('on a terminal the log is for people, and a line moves while the server starts', onPostgres, async () => {
  const server = await startOnTerminal({ ...env, TERM: 'xterm' })
  assert.match(server.output(), /⠋ Starting/)
  const [, below = ''] = server.output().split(/Master key.*\n/)
  await fetch(`${server.url}/api/v1/healthcheck`)
  await until(() => server.output().includes('healthcheck'))
  assert.equal(await server.type('\u0003'), 0)
  assert.match(server.output(), /\d\d:\d\d:\d\d\S* GET \/api\/v1\/healthcheck 200 /)
  assert.match(server.output(), /stopping[\s\S]*stopped/)
  assert.doesNotMatch(server.output(), /\{"level"/)
  assert.doesNotMatch(below, /Starting/, 'the moving line is gone below the greeting')
})
