import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type CommandEnvironment, runCommandLine, type ServerProcess, startServer } from '../../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../../testing/database.ts'
import { makeDatabaseDirectory } from '../../testing/database-directory.ts'
import { until } from '../../testing/until.ts'

let directory: string
let database: TestDatabase | undefined
let env: CommandEnvironment

before(async () => {
  directory = await makeDatabaseDirectory('cli')
  env = { PATH: process.env.PATH ?? '', DATA_DIR: join(directory, 'data'), PORT: '0', LOG_LEVEL: 'info' }
  if (process.env.TEST_DATABASE_URL) {
    database = await testDatabase()
    env.DATABASE_URL = database.url ?? ''
  }
})
after(async () => {
  await database?.close()
  await rm(directory, { recursive: true, force: true })
})

const run = (args: string[], extra: CommandEnvironment = {}) => runCommandLine(args, { ...env, ...extra })
const start = (extra: CommandEnvironment = {}) => startServer({ ...env, ...extra })

/** What happens before a database is opened, or is only a row in it; each start of the embedded one takes seconds of CPU time. */
const onPostgres = { skip: process.env.TEST_DATABASE_URL ? false : 'does not depend on the database' }

describe('the command line', () => {
  let server: ServerProcess
  let master = ''

  test('the first start shows the master key, and it works', async () => {
    server = await start()
    master = /Master key +([0-9a-f-]{36})/.exec(server.output())?.[1] ?? ''
    assert.ok(master, server.output())
    assert.match(server.output(), /^\n {2}Graticule /, 'no line of the log stands above')
    const reply = await fetch(`${server.url}/api/v1/applications`, { headers: { 'x-api-key': master } })
    assert.equal(reply.status, 200)
  })

  test('keys and create-key work while the server runs, and the keys they show do too', async () => {
    const { output } = await run(['keys'])
    const keys = output.match(/[0-9a-f-]{36}/g) ?? []
    assert.equal(keys.length, 2)
    assert.ok(!output.includes(master))
    const made = await run(['create-key', '--permissions', '{"styles":{"read":"*"}}', '--description', 'by hand'])
    for (const key of [...keys, made.output.trim()]) {
      const reply = await fetch(`${server.url}/api/v1/styles`, { headers: { 'x-svc-api-key': key } })
      assert.equal(reply.status, 200)
    }
  })

  test('a request under way is answered before the server stops, and so is the next by an open connection, with 0', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const byOpenConnection = async (): Promise<IncomingMessage> => {
      const asked = request(`${server.url}/api/v1/styles`, { headers: { 'x-api-key': master }, agent }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
      return answer
    }
    assert.equal((await byOpenConnection()).headers.connection, 'keep-alive')
    const slow = request(`${server.url}/api/v1/styles`, {
      method: 'POST',
      headers: { 'x-api-key': master, 'content-type': 'application/json', expect: '100-continue' },
    })
    slow.write('{"name":"slow",')
    await once(slow, 'continue')
    const stopped = server.stop('SIGTERM')
    await until(() => server.output().includes('"stopping"'))
    // No client can know that it is the last, and one whose request is cut cannot know what became of it.
    const last = await byOpenConnection()
    assert.deepEqual([last.statusCode, last.headers.connection], [200, 'close'])
    slow.end('"style":{"version":8,"sources":{},"layers":[]}}')
    const [answer] = (await once(slow, 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, 201)
    answer.resume()
    const answered = performance.now()
    assert.equal(await stopped, 0)
    assert.ok(performance.now() - answered < 20_000, 'and then it does not wait for connections that are merely open')
  })

  test('keys and migrate work while it does not', async () => {
    assert.match((await run(['keys', 'default'])).output, /by hand/)
    assert.match((await run(['migrate'])).output, /up to date/)
  })

  test('an unknown application is said', onPostgres, async () => {
    const unknown = await run(['keys', 'nobody'])
    assert.equal(unknown.code, 1)
    assert.match(unknown.errors, /no such application/)
  })

  test('a later start does not show it again, keeps what was there, and ends on Ctrl-C with 0', async () => {
    server = await start()
    assert.doesNotMatch(server.output(), /Master key|[0-9a-f]{8}-/)
    for (const [name, target] of [
      ['Console', `${server.url}/console/.*`],
      ['API', `${server.url}/api/docs`],
      ['Keys', 'npm start -- keys'],
    ]) {
      assert.match(server.output(), new RegExp(`${name} +${target}\n`))
    }
    const reply = await fetch(`${server.url}/api/v1/applications?api-key=${master}`)
    assert.equal(reply.status, 200)
    await fetch(`${server.url}/api/v1/apikeys/${master}?x=${master}`, { headers: { 'x-api-key': master } })
    assert.equal(await server.stop('SIGINT'), 0)
    assert.match(server.output(), /"path":"\/api\/v1\/apikeys\/:id"/)
    assert.ok(!server.output().includes(master), 'no key in the log')
  })

  test('MASTER_API_KEY is a master key', onPostgres, async () => {
    const key = 'c7a5a3f0-1111-4222-8333-944445555666'
    const configured = await start({ MASTER_API_KEY: key })
    assert.doesNotMatch(configured.output(), /Master key/)
    const reply = await fetch(`${configured.url}/api/v1/applications`, { headers: { 'x-api-key': key } })
    assert.equal(reply.status, 200)
    assert.equal(await configured.stop('SIGTERM'), 0)
  })

  test('the secret is a file of 0600', async () => {
    assert.equal((await stat(join(env.DATA_DIR ?? '', 'secret.key'))).mode & 0o777, 0o600)
  })

  test('another secret is refused with the reason', onPostgres, async () => {
    const { code, errors } = await run(['serve'], { SECRET_KEY: 'another secret of more than 32 characters' })
    assert.equal(code, 1)
    assert.match(errors, /SECRET_KEY is not the secret/)
    assert.doesNotMatch(errors, /\n +at /, 'without a stack')
  })
})

describe('settings', onPostgres, () => {
  test('--help names every variable with its type, default and meaning', async () => {
    const { output, code } = await run(['--help'])
    assert.equal(code, 0)
    for (const name of ['PORT', 'HOST', 'DATABASE_URL', 'DATA_DIR', 'MASTER_API_KEY', 'SECRET_KEY', 'LOG_LEVEL']) {
      assert.match(output, new RegExp(`${name} +\\w+ +\\w`))
    }
    assert.match(output, /PORT +integer .*8080/)
  })

  test('a bad value stops the start and names the variable', async () => {
    for (const [name, value] of [
      ['PORT', 'eighty'],
      ['PORT', '99999'],
      ['DATABASE_URL', 'mysql://x'],
      ['MASTER_API_KEY', 'short'],
      ['SECRET_KEY', 'short'],
      ['LOG_LEVEL', 'loud'],
    ] as const) {
      const { code, errors } = await run(['serve'], { [name]: value })
      assert.equal(code, 1)
      assert.match(errors, new RegExp(name), `${name}=${value}`)
      assert.doesNotMatch(errors, /\n +at /)
    }
  })

  test('a database that cannot be reached or used is said, not thrown', async () => {
    for (const url of [
      'postgres://nobody@127.0.0.1:1/x',
      `${env.DATABASE_URL ?? 'postgres://x@127.0.0.1:1/x'}_absent`,
    ]) {
      const { code, errors } = await run(['serve'], { DATABASE_URL: url })
      assert.equal(code, 1)
      assert.match(errors, /^DATABASE_URL: /)
      assert.doesNotMatch(errors, /\n +at /)
    }
  })

  test('an unknown command or option is refused with the usage', async () => {
    for (const args of [['dance'], ['--dance']]) {
      const { code, errors } = await run(args)
      assert.equal(code, 1)
      assert.match(errors, /Usage/)
    }
  })

  test('a taken port is said, not thrown', async () => {
    const server = await start()
    const own: Record<string, string> = env.DATABASE_URL ? {} : { DATA_DIR: join(directory, 'second') }
    const { code, errors } = await run(['serve'], { PORT: new URL(server.url).port, ...own })
    assert.equal(code, 1)
    assert.match(errors, /Set PORT to another port/)
    await server.stop('SIGTERM')
  })
})
