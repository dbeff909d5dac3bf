import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  type CommandEnvironment,
  runCommandLine,
  type ServerProcess,
  startServer,
} from '../../../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../../../testing/database.ts'
import { makeDatabaseDirectory } from '../../../testing/database-directory.ts'
import { serverAddress } from './console-link.ts'

let directory: string
let database: TestDatabase | undefined
let env: CommandEnvironment
/** The embedded database and an address that only this machine reaches. */
const isLaptop = process.env.TEST_DATABASE_URL === undefined

before(async () => {
  directory = await makeDatabaseDirectory('console-link')
  env = { PATH: process.env.PATH ?? '', DATA_DIR: join(directory, 'data'), PORT: '0', LOG_LEVEL: 'trace' }
  database = isLaptop ? undefined : await testDatabase()
  if (database) env.DATABASE_URL = database.url ?? ''
})
after(async () => {
  await database?.close()
  await rm(directory, { recursive: true, force: true })
})

const greeted = (server: ServerProcess): string => /^ {2}Console +(.*)$/m.exec(server.output())?.[1] ?? ''
const tokenIn = (text: string): string => /\/console\/#token=([\w-]{43})(?=\s)/.exec(text)?.[1] ?? ''

async function exchange({ url }: ServerProcess, token: string): Promise<{ status: number; apiKey: string }> {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(`${url}/api/v1/auth/exchange`, { method: 'POST', headers, body: JSON.stringify({ token }) })
  const body = (await reply.json()) as { apiKey: string }
  return { status: reply.status, apiKey: body.apiKey }
}

describe('the link to the console', () => {
  let server: ServerProcess
  let tokenOfFirstStart = ''
  /** What the log must not have. */
  const secrets: string[] = []

  test('on a laptop it is in the greeting with a token; elsewhere the greeting only says where the console is', async () => {
    server = await startServer(env)
    tokenOfFirstStart = tokenIn(greeted(server))
    if (isLaptop) assert.ok(greeted(server).startsWith(`${server.url}/console/#token=`))
    else assert.equal(greeted(server), `${server.url}/console/`)
    assert.equal(await server.stop('SIGTERM'), 0)
  })

  test('the command console shows one while no server runs, which works once when one does', async () => {
    const token = tokenIn((await runCommandLine(['console'], env)).output)
    server = await startServer(env)
    assert.equal((await exchange(server, token)).status, 200)
    assert.equal((await exchange(server, token)).status, 401)
    secrets.push(token)
  })

  test('of an earlier start it is refused, that of this start signs in once', { skip: !isLaptop }, async () => {
    const token = tokenIn(greeted(server))
    assert.equal((await exchange(server, tokenOfFirstStart)).status, 401, 'a link ends when the server starts again')
    const { status, apiKey } = await exchange(server, token)
    assert.equal(status, 200)
    const reply = await fetch(`${server.url}/api/v1/auth/access`, { headers: { 'x-api-key': apiKey } })
    assert.equal((await reply.json()).application.name, 'default')
    assert.equal((await exchange(server, token)).status, 401, 'it is good once')
    secrets.push(apiKey)
  })

  test('the command console shows one while the server runs, with the server’s address if it can be asked', async () => {
    const { output } = await runCommandLine(['console', 'default'], { ...env, BASE_URL: 'https://maps.example.org' })
    const address = isLaptop ? server.url : 'https://maps.example.org'
    assert.ok(output.startsWith(`${address}/console/#token=`), output)
    assert.match(output, /signs you in, once, within an hour/)
    assert.equal((await exchange(server, tokenIn(output))).status, 200)
    assert.equal((await exchange(server, tokenIn(output))).status, 401)
    secrets.push(tokenIn(output))
  })

  test('without a developer key the command says how to make one, and works when there is one again', async () => {
    const keys = await runCommandLine(['keys'], env)
    const [key = ''] = keys.output.match(/[0-9a-f-]{36}/g) ?? []
    const headers = { 'x-api-key': key }
    assert.equal((await fetch(`${server.url}/api/v1/apikeys/${key}`, { method: 'DELETE', headers })).status, 200)
    const refused = await runCommandLine(['console'], env)
    assert.equal(refused.code, 1)
    assert.match(refused.errors, /"default" has no developer key.*npm start -- create-key --application "default"/)
    await runCommandLine(['create-key'], env)
    assert.equal((await exchange(server, tokenIn((await runCommandLine(['console'], env)).output))).status, 200)
  })

  test('its token is not in the log, nor the key it stands for', async () => {
    const token = tokenIn(greeted(server))
    assert.equal(await server.stop('SIGTERM'), 0)
    if (isLaptop) assert.equal(server.output().split(token).length, 2, 'the log does not repeat the greeting')
    assert.ok(secrets.length > 1)
    for (const secret of secrets) assert.ok(!server.output().includes(secret))
  })

  // On PostgreSQL no greeting has one. denied-services.test.ts goes through the settings by which others can reach a server.
  test('is shown without a token by a server that others can reach', { skip: !isLaptop }, async () => {
    server = await startServer({ ...env, BASE_URL: 'https://maps.example.org' })
    assert.equal(greeted(server), `${server.url}/console/`)
    assert.equal(await server.stop('SIGTERM'), 0)
  })
})

test('the address of a server is the one that people can open', () => {
  assert.equal(serverAddress({ HOST: '0.0.0.0' }, 80), 'http://localhost:80')
  assert.equal(serverAddress({ HOST: '::1' }, 8080), 'http://[::1]:8080')
  assert.equal(
    serverAddress({ HOST: '127.0.0.1', BASE_URL: 'https://maps.example.org' }, 80),
    'https://maps.example.org',
  )
})
