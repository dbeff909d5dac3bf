import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { type Handler, Reject, serveAgent } from '../../../../agent/src/agent.ts'
import { startProgram } from '../../../../agent/testing/worker-process.ts'
import { accessibilityFaults, type ConsolePage, confirm, phone, screenshots, setStage } from '../../../testing/stage.ts'

const stage = setStage()
const ending = new AbortController()
const serving: Promise<void>[] = []
after(async () => {
  ending.abort()
  await Promise.all(serving)
})

async function makeAgent(fields: object): Promise<string> {
  const reply = await stage.app.call('POST', '/api/v1/agents', { key: stage.tenant.developer, body: fields })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

/** A worker of this process; returns when the platform knows it. */
async function serve(agentId: string, handler: Handler): Promise<void> {
  const apiKey = stage.tenant.developer
  const connected = Promise.withResolvers<void>()
  const log = (line: string) => {
    console.log(line)
    if (line.includes('Serving')) connected.resolve()
  }
  serving.push(serveAgent({ url: stage.url, apiKey, agentId, signal: ending.signal, log, drainMs: 100 }, handler))
  await connected.promise
}

/** Returns when the page has taken the question. */
async function ask(page: ConsolePage, text: string): Promise<void> {
  const field = page.getByLabel('Ask the agent')
  await field.fill(text)
  await field.press('Control+Enter')
  await page.getByRole('region', { name: 'Conversation' }).getByText(text, { exact: true }).waitFor()
}

const invocationsOf = async (agentId: string) =>
  (await stage.app.call('GET', `/api/v1/agents/${agentId}/invocations`, { key: stage.tenant.developer })).body

/** Chromium writes answers that failed to its console; nothing else may stand there. */
const otherFaults = ({ faults }: ConsolePage): string[] =>
  faults.filter((text) => !text.startsWith('Failed to load resource'))

test('a new agent is served by the worker that its page shows, asked, and found in its history', async (t) => {
  const page = await stage.open('/agents')
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Make an example' }).click()
  await page.waitForURL(/\/connect$/)
  const asking = await page.getByRole('region', { name: 'worker that asks the data' }).textContent()
  startProgram(t, String(asking).replace('YOUR_KEY', stage.tenant.developer), {})
  await page.getByText('The agent is served by 1 worker.').waitFor()
  await page.getByRole('link', { name: 'Playground' }).click()
  await ask(page, 'What do you know of cities?')
  await page.getByText('Cities of the world has about').waitFor()
  await page.goto(`${stage.url}/console/agents`)
  await page.getByRole('button', { name: 'New agent' }).click()
  await page.getByLabel('Name').fill('Shouter')
  await page.getByLabel('Description').fill('Says it loudly')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('button', { name: 'Make agent' }).click()
  await page.waitForURL(/\/connect$/)
  const worker = await page.getByRole('region', { name: 'worker', exact: true }).textContent()
  assert.ok(worker)
  assert.equal(worker.split('\n').filter(Boolean).length, 5)
  assert.ok(!(await page.content()).includes(stage.tenant.developer))
  await screenshots(page, 'agent-connect')
  assert.deepEqual(await accessibilityFaults(page), [])
  startProgram(t, worker.replace('YOUR_KEY', stage.tenant.developer), {})
  await page.getByText('The agent is served by 1 worker.').waitFor()
  await page.getByRole('link', { name: 'Workers', exact: true }).click()
  await page.getByRole('cell', { name: '0 of 8 slots' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'Playground' }).click()
  await ask(page, 'hello world')
  await page.getByText('HELLO WORLD', { exact: true }).waitFor()
  await page.getByText('done', { exact: true }).waitFor()
  await page.getByText(/^first \d/).waitFor()
  const agentId = new URL(page.url()).pathname.split('/').at(-2) ?? ''
  const [invocation] = await invocationsOf(agentId)
  assert.equal(invocation.status, 'succeeded')
  await page.getByText(invocation.id).waitFor()
  await screenshots(page, 'agent-playground')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByRole('link', { name: 'All agents' }).click()
  await page.getByRole('row', { name: /Shouter.*online/ }).waitFor()
  await screenshots(page, 'agents')
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('Stop ends the work of the worker, and is shown as the reader’s wish', async () => {
  const agentId = await makeAgent({ name: 'Slow' })
  const aborted = Promise.withResolvers<void>()
  await serve(agentId, async function* ({ signal }) {
    yield 'The first word'
    if (!signal.aborted) await once(signal, 'abort')
    aborted.resolve()
  })
  const page = await stage.open(`/agents/${agentId}`)
  await ask(page, 'Tell me all')
  await page.getByText('The first word').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await aborted.promise
  await page.getByText('stopped by you').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('cell', { name: 'cancelled' }).waitFor()
  const [invocation] = await invocationsOf(agentId)
  assert.equal(invocation.status, 'cancelled')
  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByText('The first word').waitFor()
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('an answer is shown while the page is not drawn, as in a tab in the background', async () => {
  const agentId = await makeAgent({ name: 'Unseen' })
  const [more, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await serve(agentId, async function* () {
    yield 'The first word'
    await more.promise
    yield ' and the second'
    await seen.promise
  })
  const page = await stage.open(`/agents/${agentId}`)
  await page.evaluate('window.requestAnimationFrame = () => 1')
  await ask(page, 'Tell me all')
  await page.getByText('The first word').waitFor()
  more.resolve()
  await page.getByText('The first word and the second').waitFor()
  seen.resolve()
  await page.close()
})

test('failures show the server’s words, their code and what to do', async () => {
  const failing = await makeAgent({ name: 'Grumbler' })
  await serve(failing, async ({ input }) => {
    if (input === 'bad') throw new Reject('Ask for a place.')
    throw new Error('never shown')
  })
  const page = await stage.open(`/agents/${failing}`)
  await ask(page, 'anything')
  await page.getByText('agent_failed').waitFor()
  await page.getByText(/The handler of the worker threw/).waitFor()
  await ask(page, 'bad')
  await page.getByText('Ask for a place.').waitFor()
  await page.getByText('agent_rejected').waitFor()
  await screenshots(page, 'agent-failure')
  assert.deepEqual(await accessibilityFaults(page), [])
  assert.ok(!(await page.content()).includes('never shown'))
  const offline = await makeAgent({ name: 'Nobody' })
  await page.goto(`${stage.url}/console/agents/${offline}`)
  await page.getByRole('heading', { name: 'Nobody serves this agent now' }).waitFor()
  await ask(page, 'Is anybody there?')
  await page.getByText('agent_unavailable').waitFor()
  await page.getByRole('link', { name: 'Connect a worker' }).click()
  await page.waitForURL(/\/connect$/)
  assert.deepEqual([otherFaults(page), page.foreign], [[], []])
  await page.close()
})

test('a stream that is cut off is called incomplete', async () => {
  const agentId = await makeAgent({ name: 'Cut' })
  const page = await stage.open(`/agents/${agentId}`)
  const events = `event: start\ndata: {"invocationId":"i-1"}\n\nevent: delta\ndata: {"text":"Half of "}\n\n`
  await page.route('**/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body: events }))
  await ask(page, 'Everything, please')
  await page.getByText('Half of').waitFor()
  await page.getByText('Incomplete.', { exact: true }).waitFor()
  await page.getByText('incomplete', { exact: true }).waitFor()
  await page.close()
})

test('the view follows the answer only while the reader is at its end', async () => {
  const agentId = await makeAgent({ name: 'Long' })
  const more = Promise.withResolvers<void>()
  const lines = (name: string) => Array.from({ length: 80 }, (_, index) => `${name} ${index}\n`).join('')
  await serve(agentId, async function* () {
    yield lines('early')
    await more.promise
    yield lines('late')
  })
  const page = await stage.open(`/agents/${agentId}`, { viewport: phone })
  await ask(page, 'Read to me')
  await page.getByText('early 79').waitFor()
  const scrolled = () => page.evaluate(`document.querySelector('[aria-label="Conversation"]').scrollTop`)
  assert.ok(Number(await scrolled()) > 500, 'it followed')
  await page.evaluate(`document.querySelector('[aria-label="Conversation"]').scrollTo(0, 200)`)
  const jump = page.getByRole('button', { name: 'To the end' })
  await jump.waitFor()
  more.resolve()
  await page.getByText('late 79').waitFor()
  await page.getByText('done', { exact: true }).waitFor()
  assert.equal(await scrolled(), 200)
  await jump.click()
  await jump.waitFor({ state: 'detached' })
  assert.ok(Number(await scrolled()) > 2000)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), phone.width)
  await page.close()
})

test('a conversation keeps its id and earlier turns until a new one is begun; a request may be JSON', async () => {
  const agentId = await makeAgent({ name: 'Echo' })
  const seen: { conversationId: string | undefined; messages: number; zoom: unknown }[] = []
  await serve(agentId, async ({ conversationId, messages, context, input }) => {
    seen.push({ conversationId, messages: messages?.length ?? 0, zoom: context?.zoom })
    return `heard ${input}`
  })
  const page = await stage.open(`/agents/${agentId}`)
  for (const word of ['one', 'two']) {
    await ask(page, word)
    await page.getByText(`heard ${word}`).waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
  }
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.getByText('heard one').waitFor({ state: 'detached' })
  await page.getByText('JSON', { exact: true }).click()
  await page.getByRole('textbox', { name: 'The request as JSON' }).waitFor()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('heard Which parks').waitFor()
  const [first, second, third] = seen
  assert.deepEqual([first?.messages, second?.messages, third?.messages, third?.zoom], [0, 2, 0, 12])
  assert.ok(first?.conversationId)
  assert.equal(second?.conversationId, first.conversationId)
  assert.notEqual(third?.conversationId, first.conversationId)
  assert.deepEqual([page.faults, page.foreign], [[], []])
  await page.close()
})

test('the history shows what was said to those who may, and cancels what runs', async () => {
  const agentId = await makeAgent({ name: 'Keeper', storeContent: true })
  const runs = Promise.withResolvers<void>()
  await serve(agentId, async ({ input, signal, finish }) => {
    if (input !== 'wait') {
      finish({ model: 'm-1', usage: { inputTokens: 118, outputTokens: 640 } })
      return 'The answer'
    }
    runs.resolve()
    if (!signal.aborted) await once(signal, 'abort')
    return ''
  })
  const invoke = (input: string) =>
    stage.app.call('POST', `/api/v1/agents/${agentId}/invoke`, { key: stage.tenant.developer, body: { input } })
  await invoke('The question')
  const waiting = invoke('wait')
  await runs.promise
  const page = await stage.open(`/agents/${agentId}/history`)
  await page.getByRole('cell', { name: '118 + 640 tokens' }).waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await waiting).body.code, 'cancelled')
  await page.getByRole('cell', { name: 'cancelled' }).waitFor()
  await screenshots(page, 'agent-history')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByText('Succeeded', { exact: true }).click()
  await page.waitForURL(/status=succeeded/)
  await page.getByRole('cell', { name: 'cancelled' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Details/ }).click()
  const sheet = page.getByRole('dialog', { name: 'Invocation' })
  await sheet.getByText('The question').waitFor()
  await sheet.getByText('The answer').waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])
  const reader = await stage.open(new URL(page.url()).pathname.replace('/console', '') + new URL(page.url()).search, {
    key: stage.tenant.reader,
  })
  await reader.getByText('shown only to keys with write').waitFor()
  assert.ok(!(await reader.content()).includes('The question'))
  assert.deepEqual([page.faults, page.foreign, reader.faults], [[], [], []])
  await page.close()
  await reader.close()
})

test('settings change what was changed and nothing else, and deleting asks first', async () => {
  const agentId = await makeAgent({ name: 'Old name', type: 'http', config: { url: 'https://a.example/', own: 1 } })
  const page = await stage.open(`/agents/${agentId}/settings`)
  await page.getByLabel('Name').fill('New name')
  await page.getByLabel('Headers').fill('X-Place: here')
  await page.getByLabel(/Keep inputs and outputs/).check()
  await page.getByText('Limits, model and datasets').click()
  await page.getByLabel('Invocations at once').fill('many')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').first().waitFor()
  await screenshots(page, 'agent-settings')
  assert.deepEqual(await accessibilityFaults(page), [])
  await page.getByLabel('Invocations at once').fill('4')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The agent was saved.').waitFor()
  const read = () => stage.app.call('GET', `/api/v1/agents/${agentId}`, { key: stage.tenant.developer })
  const { name, config, storeContent, maxConcurrency, timeoutMs } = (await read()).body
  assert.deepEqual(config, { url: 'https://a.example/', own: 1, headers: { 'X-Place': 'here' } })
  assert.deepEqual([name, storeContent, maxConcurrency, timeoutMs], ['New name', true, 4, 55_000])
  await page.getByRole('button', { name: 'Delete agent' }).click()
  await confirm(page, 'Cancel')
  assert.equal((await read()).status, 200)
  await page.getByRole('button', { name: 'Delete agent' }).click()
  await confirm(page, 'Delete')
  await page.waitForURL(/\/agents$/)
  assert.equal((await read()).status, 404)
  assert.deepEqual([otherFaults(page), page.foreign], [[], []])
  await page.close()
})
