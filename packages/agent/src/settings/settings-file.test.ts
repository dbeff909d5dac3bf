import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startUpstream, trickle } from '../../testing/ask.ts'
import { type Session, startFakePlatform } from '../../testing/fake-platform.ts'
import { startCommand } from '../../testing/worker-process.ts'
import { run } from '../cli.ts'

const textOf = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8')
const yamlIn = (markdown: string) => /```yaml\n(.*?)```/s.exec(markdown)?.[1] ?? ''
const ollamaAnswer = '{"model":"m","message":{"content":"hi"},"done":true}\n'

/** A folder with a file agent.yaml, gone after the test. */
async function folderWith(t: TestContext, text: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-yaml-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'agent.yaml'), text)
  return folder
}

async function platformOf(t: TestContext) {
  const platform = await startFakePlatform()
  t.after(() => platform.close())
  return platform
}

const agentOf = ({ request }: Session) => /agents\/([^/]+)\/connect/.exec(request.url ?? '')?.[1] ?? ''

/** So many connections, by the id of their agent. */
async function sessionsOf(platform: Awaited<ReturnType<typeof platformOf>>, count: number) {
  const sessions = await Promise.all(Array.from({ length: count }, () => platform.session()))
  const byAgent = new Map(sessions.map((session) => [agentOf(session), session]))
  return (agent: string) => {
    const session = byAgent.get(agent)
    assert.ok(session, `${agent} among ${[...byAgent.keys()]}`)
    return session
  }
}

async function answer(session: Session, input = 'hello'): Promise<string> {
  session.invoke('1', input)
  await session.next('done', '1')
  return session.text('1')
}

test('the agent.yaml of the README, in the current folder, is all that serve needs', async (t) => {
  const platform = await platformOf(t)
  const { url: OLLAMA_HOST, requests } = await startUpstream(t, (response) => response.end(ollamaAnswer))
  const text = yamlIn(textOf('../../README.md')).replace('https://maps.example.org', platform.url)
  const { child, exited } = startCommand(
    t,
    ['serve'],
    { GRATICULE_API_KEY: 'k', AGENT_ID: 'a', OLLAMA_HOST },
    await folderWith(t, text),
  )
  const session = await platform.session()
  assert.deepEqual([agentOf(session), session.request.headers['x-api-key']], ['a', 'k'])
  assert.equal((await session.next('hello')).concurrency, 4)
  assert.equal(await answer(session), 'hi')
  const { model, messages } = requests[0]?.body ?? {}
  assert.deepEqual([model, messages[0].content], ['llama3.2', 'You answer in one sentence.'])
  child.kill('SIGTERM')
  assert.equal(await exited, 0)
})

test('the example of docs/agents.md serves two agents', async (t) => {
  const platform = await platformOf(t)
  const folder = await folderWith(t, yamlIn(textOf('../../../../docs/agents.md')))
  const env = { GRATICULE_API_KEY: 'k', PARKS_AGENT: 'parks', LOUD_AGENT: 'loud' }
  startCommand(t, ['serve', '--url', platform.url], env, folder)
  const session = await sessionsOf(platform, 2)
  assert.equal(await answer(session('loud')), 'HELLO')
  assert.ok(session('parks'))
})

test('agent.example.yaml serves with every bridge, each told all that it can be told', async (t) => {
  const platform = await platformOf(t)
  const stream = (body: string) => (response: Parameters<typeof trickle>[0]) =>
    trickle(response, 'text/event-stream', body, 1_000)
  const openAi = await startUpstream(
    t,
    stream('data: {"choices":[{"delta":{"content":"o"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'),
  )
  const claude = await startUpstream(
    t,
    stream(
      'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"c"}}\n\ndata: {"type":"message_stop"}\n\n',
    ),
  )
  const ollama = await startUpstream(t, (response) => response.end(ollamaAnswer))
  const service = await startUpstream(t, (response) => response.end('s'))
  const text = textOf('../../agent.example.yaml')
    .replace('https://maps.example.org', platform.url)
    .replace('https://api.openai.com', openAi.url)
    .replace('https://api.anthropic.com', claude.url)
    .replace('http://127.0.0.1:11434', ollama.url)
    .replace('http://localhost:8000', service.url)
  const keys = { GRATICULE_API_KEY: 'k', OPENAI_API_KEY: 'ok', ANTHROPIC_API_KEY: 'ck', ANSWER_TOKEN: 'st' }
  startCommand(t, ['serve', '--config', 'agent.yaml'], keys, await folderWith(t, text))

  const byAgent = await sessionsOf(platform, 5)
  const session = (n: number) => byAgent(`3f0c6a52-4f0e-4d6b-9a51-0b7a4c1d000${n}`)
  assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map((n) => answer(session(n)))), ['o', 'c', 'hi', 's', 'HELLO!'])
  assert.deepEqual(
    [session(1), session(2)].map(({ frames: [hello] }) => hello?.t === 'hello' && hello.concurrency),
    [20, 8],
  )

  const [toOpenAi, toClaude, toOllama, toService] = [openAi, claude, ollama, service].map(({ requests }) => requests[0])
  assert.equal(toOpenAi?.url, '/v1/chat/completions')
  assert.deepEqual([toOpenAi?.headers.authorization, toOpenAi?.headers['x-team']], ['Bearer ok', 'parks'])
  assert.equal(toOpenAi?.body.model, 'gpt-4.1-mini')
  assert.match(toOpenAi?.body.messages[0].content, /parks of the city/)
  assert.equal(toClaude?.headers['x-api-key'], 'ck')
  const { model, system, max_tokens: limit } = toClaude?.body ?? {}
  assert.deepEqual([model, system, limit], ['claude-sonnet-4-5', 'You answer in one sentence.', 4_096])
  assert.equal(toOllama?.body.messages[0].content, 'You answer in verse.\nTwo lines are enough.\n')
  assert.deepEqual([toService?.url, toService?.headers.authorization], ['/answer', 'Bearer st'])
})

test('flags win over the file, which wins over the environment', async (t) => {
  const [platform, other] = [await platformOf(t), await platformOf(t)]
  const { url, requests } = await startUpstream(t, (response) => response.end(ollamaAnswer))
  const text = `{url: '${other.url}', apiKey: file, agent: file, capacity: 3, ollama: {baseUrl: '${url}', model: m, system: s}}`
  const args = ['serve', '--config', 'agent.yaml', '--url', platform.url, '--agent', 'flag', '--ollama', 'flag']
  const env = { GRATICULE_URL: 'http://127.0.0.1:9', GRATICULE_API_KEY: 'environment', OLLAMA_HOST: '127.0.0.1:9' }
  startCommand(t, args, env, await folderWith(t, text))
  const session = await platform.session()
  assert.deepEqual([agentOf(session), session.request.headers['x-api-key']], ['flag', 'file'])
  assert.equal((await session.next('hello')).concurrency, 3)
  await answer(session)
  const { model, messages } = requests[0]?.body ?? {}
  assert.deepEqual([model, messages[0].content], ['flag', 's'])
})

test('a bridge among the flags leaves agent.yaml alone, or replaces that of a file that is named', async (t) => {
  const platform = await platformOf(t)
  const text = 'agent: file\ncapacity: 3\nollama: m'
  const folder = await folderWith(t, text)
  const env = { GRATICULE_URL: platform.url, GRATICULE_API_KEY: 'k' }
  startCommand(t, ['serve', '--agent', 'flag', '--command', 'cat'], env, folder)
  const alone = await platform.session()
  assert.deepEqual([agentOf(alone), (await alone.next('hello')).concurrency], ['flag', 8])
  startCommand(t, ['serve', '--config', 'agent.yaml', '--command', 'cat'], env, folder)
  const both = await platform.session()
  assert.deepEqual([agentOf(both), (await both.next('hello')).concurrency], ['file', 3])
  assert.equal(await answer(both), 'hello')
})

test('dollar signs of a command stay, and its environment has no key of the platform, however it is called', async (t) => {
  const platform = await platformOf(t)
  const text = `
    url: ${platform.url}
    agents:
      - {agent: a, apiKey: "\${FIRST_KEY}", command: 'echo "$PLAIN $\${PLAIN} \${PLAIN} $(env | grep -c secret)"'}
      - {agent: b, apiKey: "\${SECOND_KEY}", command: cat}`
  const env = { PLAIN: 'p', FIRST_KEY: 'secret1', SECOND_KEY: 'secret2', GRATICULE_API_KEY: 'secret3' }
  startCommand(t, ['serve'], env, await folderWith(t, text))
  const session = await sessionsOf(platform, 2)
  assert.equal(await answer(session('a')), 'p p p 0\n')
  assert.equal(session('b').request.headers['x-api-key'], 'secret2')
})

test('SIGTERM lets the answers of all agents finish', async (t) => {
  const platform = await platformOf(t)
  const agents = ['a', 'b', 'c'].map((agent) => `  - {agent: ${agent}, command: echo begun; sleep 1; echo ${agent}}`)
  const folder = await folderWith(t, `url: ${platform.url}\napiKey: k\nagents:\n${agents.join('\n')}`)
  const { child, exited } = startCommand(t, ['serve'], {}, folder)
  const session = await sessionsOf(platform, 3)
  for (const agent of ['a', 'b']) {
    session(agent).invoke('1', '')
    await session(agent).next('delta', '1')
  }
  child.kill('SIGTERM')
  for (const agent of ['a', 'b']) {
    await session(agent).next('done', '1')
    assert.equal(session(agent).text('1'), `begun\n${agent}\n`)
  }
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((agent) => session(agent).closed)), [1000, 1000, 1000])
  assert.equal(await exited, 0)
})

test('what runs longer than drainSeconds after SIGTERM is ended', { timeout: 100_000 }, async (t) => {
  const platform = await platformOf(t)
  const text = `{url: '${platform.url}', apiKey: k, agent: a, drainSeconds: 1, command: echo a; exec sleep 300}`
  const { child, exited } = startCommand(t, ['serve'], {}, await folderWith(t, text))
  const session = await platform.session()
  session.invoke('1', '')
  await session.next('delta', '1')
  child.kill('SIGTERM')
  assert.equal(await exited, 0)
})

test('an agent that the platform refuses does not end the others, and the exit code tells', async (t) => {
  const [platform, refusing] = [await platformOf(t), await platformOf(t)]
  refusing.refusal = { status: 404, body: '{"detail":"No such agent."}' }
  const text = `
    apiKey: k
    agents:
      - {agent: gone, url: '${refusing.url}', command: cat}
      - {agent: here, url: '${platform.url}', command: cat}`
  const { child, exited, output } = startCommand(t, ['serve'], {}, await folderWith(t, text))
  const session = await platform.session()
  while (!/\[agent gone\] The application of this API key has no such agent/.test(output())) {
    await new Promise((resolve) => child.stderr?.once('data', resolve))
  }
  assert.equal(await answer(session), 'hello')
  child.kill('SIGTERM')
  assert.equal(await exited, 1)
  assert.match(output(), /The platform refused these agents: gone\.\n$/)
})

test('a wrong file ends the command with code 2 and one line', async (t) => {
  const folder = await folderWith(t, 'agent: a\nollama:\n  modle: llama3.2\n')
  const { exited, output } = startCommand(t, ['serve'], { GRATICULE_URL: 'http://x', GRATICULE_API_KEY: 'k' }, folder)
  assert.equal(await exited, 2)
  assert.equal(
    output(),
    'agent.yaml:3: ollama.modle is not known. Allowed in ollama: model, system, apiKey, tools, baseUrl.\n',
  )
})

const rest = 'url: http://127.0.0.1:9\napiKey: secret\n'
const good = `${rest}agent: a\ncommand: cat\n`
const wrong: Record<string, string | Uint8Array> = {
  ' needs agent (or --agent ID).': '',
  ' must be a map of names and values.': 'serve',
  ' needs url (or --url URL or GRATICULE_URL).': 'agent: a\napiKey: k\ncommand: cat',
  ' needs apiKey (or --api-key KEY or GRATICULE_API_KEY).': 'agent: a\nurl: http://x\napiKey:\ncommand: cat',
  ' needs one bridge of openAiCompatible, anthropic, ollama, http, command (or --openai-compatible, --anthropic, --ollama, --http or --command).': `${rest}agent: a`,
  ':5: http is a second bridge beside ollama. Choose one.': `${rest}agent: a\nollama: m\nhttp: http://x`,
  ':5: capcity is not known. Allowed in the file: agent, url, apiKey, capacity, openAiCompatible, anthropic, ollama, http, command, drainSeconds, agents.': `${good}capcity: 1`,
  ':5: capacity must be a whole number from 1 to 1000.': `${good}capacity: many`,
  ':5: drainSeconds must be a whole number from 0 to 86400.': `${good}drainSeconds: 1.5`,
  ':1: agent must be text.': 'agent: [a]',
  ':1: url must be an http or https address.': 'url: maps.example.org',
  ':4: ollama must be a map of names and values.': `${rest}agent: a\nollama: [m]`,
  ':4: http needs url.': `${rest}agent: a\nhttp:\n  headers: {a: b}`,
  ':4: anthropic needs apiKey (or ANTHROPIC_API_KEY).': `${rest}agent: a\nanthropic:`,
  ':6: http.headers.x y must be a valid HTTP header.': `${rest}agent: a\nhttp:\n  url: http://x\n  headers: {x y: z}`,
  ':5: anthropic.maxOutputTokens must be a whole number from 1 to 10000000.': `${rest}agent: a\nanthropic:\n  maxOutputTokens: 0`,
  ':5: ollama.tools must be true or false.': `${rest}agent: a\nollama:\n  tools: maybe`,
  ':3: agents must be a list of 1 to 100 items.': `${rest}agents: {agent: a}`,
  ':3: agent is not known. Allowed in a file with a list of agents: url, apiKey, capacity, drainSeconds, agents.': `${rest}agent: a\nagents: []`,
  ':5: agents[1] needs agent.': `${rest}agents:\n  - {agent: a, command: cat}\n  - {command: cat}`,
  ':5: agents[1] names the same agent as another item of the list.': `${rest}agents:\n  - {agent: a, command: cat}\n  - {agent: a, ollama: m}`,
  ':4: agents[0].drainSeconds is not known. Allowed in an agent: agent, url, apiKey, capacity, openAiCompatible, anthropic, ollama, http, command.': `${rest}agents:\n  - {agent: a, command: cat, drainSeconds: 1}`,
  ':1: apiKey uses the variable NOT_SET, which is not set or is empty.': `apiKey: \${NOT_SET}`,
  ':2: http.headers.a uses the variable EMPTY, which is not set or is empty.': `http:\n  headers: {a: "b \${EMPTY}"}`,
  ':1: system has a ${ without a variable name. Write $${ for a literal ${.': `system: \${NAME:-x}`,
  ':2: Tabs are not allowed as indentation': 'agent:\n\ta: b',
  ':2: agent is given twice.': 'agent: a\nagent: b',
  ':2: A second document begins here. The file must hold one.': 'agent: a\n---\nagent: b',
  ':1: Unresolved tag: !run': 'agent: !run a',
  ':1: Unresolved tag: tag:yaml.org,2002:binary': 'agent: !!binary aGk=',
  ':1: names must be text that is not empty.': '? [agent]\n: a',
  ':1: agent refers to the anchor nobody, which is not defined before it.': 'agent: *nobody',
  ':1: a[0][0][0][0][0][0][0][0][0][0] is nested too deeply.': 'a: &a [*a]',
  ':1: The value is nested too deeply.': '['.repeat(60_000),
  ' has more than 200 aliases.': `a: &a x\nb: [${'*a, '.repeat(300)}]`,
  ' has more than 5000 values.': `a: [${'x, '.repeat(6_000)}]`,
  ' is larger than 64 KiB.': `${good}${'#'.repeat(65_536)}`,
  ' is not UTF-8.': Uint8Array.of(0x61, 0x3a, 0xff),
}

test('a file that cannot work says where and why in one line', async (t) => {
  for (const [message, text] of Object.entries(wrong)) {
    const path = join(await folderWith(t, text), 'agent.yaml')
    await assert.rejects(run(['serve', '--config', path], { EMPTY: '' }), {
      name: 'UsageError',
      message: `${path}${message}`,
    })
  }
})

test('flags that do not fit the file are refused', async (t) => {
  const list = join(await folderWith(t, `${rest}agents:\n  - {agent: a, command: cat}`), 'agent.yaml')
  await assert.rejects(run(['serve', '--config', list, '--agent', 'b'], {}), {
    message: `--agent cannot be combined with the list ${list}:3: agents.`,
  })
  await assert.rejects(run(['serve', '--config', list, '--model', 'm'], {}), {
    message: '--model is not known. Allowed in command: command, env.',
  })
  await assert.rejects(run(['serve', '--config', `${list}.not`], {}), { message: `There is no file ${list}.not.` })
  await assert.rejects(run(['serve', '--config', tmpdir()], {}), /cannot be read: EISDIR/)
})
