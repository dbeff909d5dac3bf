import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { until } from '../../server/testing/until.ts'
import { startUpstream, trickle } from '../testing/ask.ts'
import { startFakePlatform } from '../testing/fake-platform.ts'
import { startCommand, startProgram } from '../testing/worker-process.ts'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const [, example = ''] = /```ts\n([^`]*(?:`[^`]+`[^`]*)*?)```/.exec(readme) ?? []

test('the example of the README serves, and ends on SIGTERM', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const env = { GRATICULE_URL: platform.url, GRATICULE_API_KEY: 'k', AGENT_ID: 'a' }
  const { child, exited } = startProgram(t, example, env)
  const session = await platform.session()
  session.invoke('1', 'hello world')
  await session.next('done', '1')
  assert.equal(session.text('1'), 'HELLO WORLD ')
  child.kill('SIGTERM')
  await session.next('drain')
  assert.equal(await session.closed, 1000)
  assert.equal(await exited, 0)
})

test('SIGTERM lets an answer finish', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const args = [
    'serve',
    '--agent',
    'a',
    '--url',
    platform.url,
    '--api-key',
    'k',
    '--command',
    'echo a; sleep 1; echo b',
  ]
  const { child, exited } = startCommand(t, args, {})
  const session = await platform.session()
  session.invoke('1', '')
  await session.next('delta', '1')
  child.kill('SIGTERM')
  await session.next('done', '1')
  assert.equal(session.text('1'), 'a\nb\n')
  assert.equal(await session.closed, 1000)
  assert.equal(await exited, 0)
})

test('a handler that computes without a pause leaves pings answered and work accepted', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const folder = await mkdtemp(join(tmpdir(), 'busy-agent-'))
  t.after(() => rm(folder, { recursive: true }))
  const [begun, mayEnd] = [join(folder, 'begun'), join(folder, 'may-end')]
  // It computes until it is told to end, not for a time: what comes meanwhile takes long on a busy machine.
  const program = `
    import { existsSync, writeFileSync } from 'node:fs'
    import { serveAgent } from '@graticule/agent'
    await serveAgent({ url: '${platform.url}', apiKey: 'k', agentId: 'a' }, () => {
      writeFileSync('${begun}', '')
      while (!existsSync('${mayEnd}'));
      return 'x'
    })`
  startProgram(t, program, {})
  const session = await platform.session()
  session.invoke('1', '')
  await until(() => existsSync(begun))
  const pong = new Promise((resolve) => session.socket.once('pong', resolve))
  session.socket.ping()
  session.invoke('2', '')
  await Promise.all([pong, session.next('accept', '2')])
  assert.deepEqual(session.names('1'), ['accept'], 'answered while the handler computed')
  await writeFile(mayEnd, '')
  await session.next('done', '1')
  await session.next('done', '2')
})

test('a refused key ends the command with code 1 and one line that says why', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  platform.refusal = { status: 401, body: '{"detail":"The key lacks agents write."}' }
  const env = { GRATICULE_URL: platform.url, GRATICULE_API_KEY: 'k' }
  const { exited, output } = startCommand(t, ['serve', '--agent', 'a', '--command', 'cat'], env)
  assert.equal(await exited, 1)
  assert.match(output(), /^The API key was refused\. .*lacks agents write.*\n$/)
})

test('each command of the README serves an agent', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const [, block = ''] = /```sh\n(export .*?)\n```/s.exec(readme) ?? []
  const commands = block.split('\n').filter((line) => line.startsWith('graticule-agent serve '))
  assert.equal(commands.length, 5)
  for (const line of commands) {
    const [command = '', keyVariable = 'NO_KEY'] = line.split(/ +# /)
    const env = { GRATICULE_URL: platform.url, GRATICULE_API_KEY: 'k', [keyVariable]: 'http://127.0.0.1:9' }
    const args = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
    const { child, exited, output } = startCommand(t, args.slice(1), env)
    await Promise.race([platform.session(), exited.then(() => assert.fail(`${line}\n${output()}`))])
    child.kill('SIGTERM')
    assert.equal(await exited, 0, output())
  }
})

test('a refusal that the example of the README does not catch is one line and the exit code 1', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const env = { GRATICULE_URL: platform.url, GRATICULE_API_KEY: 'k', AGENT_ID: 'a' }
  for (const [status, words] of [
    [401, /^The API key was refused\. .*\n$/],
    [404, /^The application of this API key has no such agent\. .*\n$/],
  ] as const) {
    platform.refusal = { status, body: '{}' }
    const { exited, output } = startProgram(t, example, env)
    assert.equal(await exited, 1)
    assert.match(output(), words)
  }
})

test('a worker that finds nobody says so in one line, and serves as soon as somebody is there', async (t) => {
  const first = await startFakePlatform()
  await first.close()
  const { child, output } = startProgram(t, example, {
    GRATICULE_URL: first.url,
    GRATICULE_API_KEY: 'k',
    AGENT_ID: 'a',
  })
  await until(() => /\n/.test(output()))
  const platform = await startFakePlatform({ port: Number(new URL(first.url).port) })
  t.after(() => platform.close())
  await until(() => output().includes('Serving.'))
  const [line, ...others] = output().trimEnd().split('\n')
  assert.match(line ?? '', /Not connected: connect ECONNREFUSED 127\.0\.0\.1:\d+\. Trying again until it works\.$/)
  assert.deepEqual(others.length, 1, output())
  child.kill('SIGTERM')
})

test('a refusal that is caught ends nothing, and other errors keep their stack', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  platform.refusal = { status: 401, body: '{}' }
  const program = `
    import { ConnectionRefused, serveAgent } from '@graticule/agent'
    const refusal = await serveAgent({ url: '${platform.url}', apiKey: 'k', agentId: 'a' }, () => '').catch((error) => error)
    console.log(refusal instanceof ConnectionRefused, refusal.status)
    throw new Error('later')`
  const { exited, output } = startProgram(t, program, {})
  assert.equal(await exited, 1)
  assert.match(output(), /^true 401\n(.*\n)*Error: later\n +at /)
})

test('graticule-agent --version prints the version of the package', async (t) => {
  const { exited, output } = startCommand(t, ['--version'], {})
  assert.equal(await exited, 0)
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  assert.equal(output(), `${version}\n`)
})

test('a wrong command line ends with code 2, the error and one line about help', async (t) => {
  const { exited, output } = startCommand(t, ['serve', '--agent', 'a', '--comand', 'cat'], {})
  assert.equal(await exited, 2)
  assert.equal(output(), "Unknown option '--comand'.\nRun graticule-agent --help to see what is allowed.\n")
})

test('a bridge is chosen by its flag, and its key comes from the variable everybody uses', async (t) => {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  const body = 'data: {"model":"m1","choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  const { url, requests } = await startUpstream(t, (response) => trickle(response, 'text/event-stream', body, 20))
  startCommand(
    t,
    ['serve', '--agent', 'a', '--openai-compatible', `${url}/v1`, '--model', 'm', '--system', 'Be brief.'],
    {
      GRATICULE_URL: platform.url,
      GRATICULE_API_KEY: 'k',
      OPENAI_API_KEY: 'secret',
    },
  )
  const session = await platform.session()
  session.invoke('1', 'hello')
  assert.deepEqual(await session.next('done', '1'), { t: 'done', id: '1', finishReason: 'stop', model: 'm1' })
  assert.equal(session.text('1'), 'hi')
  assert.equal(requests[0]?.headers.authorization, 'Bearer secret')
  assert.equal(requests[0]?.body.messages[0].content, 'Be brief.')
})
