import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { launchChromium } from '../../packages/server/testing/chromium.ts'
import { runCommandLine, startServer } from '../../packages/server/testing/command-line.ts'
import { makeProject, type Project } from './empty-project.ts'
import { nodeOf, nodeVersions } from './node-versions.ts'
import { serveFolder } from './serve-folder.ts'

// What a stranger gets: the tarballs, in a project that knows nothing of this repository.

// npm may have to fetch what its cache lacks.
const slow = { timeout: 600_000 }
const readme = readFileSync(new URL('../../packages/agent/README.md', import.meta.url), 'utf8')
const [, fiveLines = ''] = /```ts\n(.*?)\n```/s.exec(readme) ?? []

type World = { project: Project; url: string; key: string; close(): Promise<void> }
let world: Promise<World> | undefined
// In the tests and not before them all: a hook is given less time than npm may need.
const theWorld = (): Promise<World> => {
  world ??= makeWorld()
  return world
}
after(async () => (await world)?.close())

async function makeWorld(): Promise<World> {
  const project = await makeProject()
  await writeFile(join(project.folder, 'agent.js'), fiveLines)
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: join(project.folder, 'data'), PORT: '0' }
  const server = await startServer(env)
  const { output } = await runCommandLine(['keys'], env)
  const [key = ''] = output.match(/[0-9a-f-]{36}/) ?? []
  return {
    project,
    url: server.url,
    key,
    async close() {
      await server.stop('SIGTERM')
      await project.remove()
    },
  }
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const { url, key } = await theWorld()
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`)
  return response.json() as Promise<Answer>
}

/** A program in the project, run by this Node; it ends with the test. */
async function start(t: TestContext, node: string, args: readonly string[], env: Record<string, string> = {}) {
  const { project } = await theWorld()
  const child = spawn(node, args, { cwd: project.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const changed = new EventTarget()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      changed.dispatchEvent(new Event('output'))
    })
  }
  const exited = once(child, 'close').then(() => child.exitCode)
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    child,
    exited,
    output: () => output,
    async says(words: RegExp) {
      const ended = exited.then(() => {
        throw new Error(`Ended without ${words}:\n${output}`)
      })
      while (!words.test(output)) await Promise.race([once(changed, 'output'), ended])
    },
  }
}

test('each tarball has its licence, its README and what its package.json promises', slow, async () => {
  const { project } = await theWorld()
  for (const [name, tarball] of Object.entries(project.tarballs)) {
    const { buffer } = Uint8Array.from(await readFile(tarball))
    const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true })
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    )
    const folder = join(project.folder, 'node_modules/@graticule', name)
    for (const file of ['LICENSE', 'README.md']) assert.ok(existsSync(join(folder, file)), `${name} has no ${file}`)
    assert.ok(!existsSync(join(folder, 'testing')), `${name} has what only tests need`)
  }
})

for (const [name, options] of Object.entries({
  nodenext: ['--module', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
})) {
  test(`a strict TypeScript program compiles against the tarballs, resolved as ${name}`, slow, async () => {
    const { project } = await theWorld()
    const output = await project.run('tsc', options).catch(({ message }: Error) => {
      assert.match(message, /error TS/)
      return message
    })
    const errors = output.split('\n').filter((line) => line.includes('error TS'))
    // The declarations of MapLibre's own packages do not compile with nodenext, which is not for us to mend.
    const ours = errors.filter((line) => !/^node_modules\/(?!@graticule\/)/.test(line))
    assert.deepEqual(ours, [])
  })
}

test('a page that Vite builds with client and map draws a dataset in Chromium', slow, async (t) => {
  const { project, url, key } = await theWorld()
  await project.run('vite', ['build', 'page'])
  const { origin, close } = await serveFolder(join(project.folder, 'page/dist'))
  t.after(close)
  const source = 'SELECT 1 AS id, ST_SetSRID(ST_MakePoint(13.4, 52.5), 4326) AS geometry'
  const { id: dataset } = await post<{ id: string }>('datasets', { type: 'sql', name: 'points', source })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
  await page.goto(`${origin}/?${new URLSearchParams({ url, key, dataset })}`)
  await page.waitForFunction("document.title === '1 drawn'", undefined, { timeout: 60_000 }).catch((error) => {
    throw new Error(`The point was not drawn: ${faults.join('; ')}`, { cause: error })
  })
  assert.deepEqual(faults, [])
})

for (const version of nodeVersions) {
  test(`on Node ${version} the client asks a dataset`, slow, async (t) => {
    const { url, key } = await theWorld()
    const source = "SELECT 1 AS id, 'Berlin' AS name"
    const { id } = await post<{ id: string }>('datasets', { type: 'sql', name: `cities ${version}`, source })
    const program = await start(t, await nodeOf(version), ['query.js', url, key, id])
    assert.equal(await program.exited, 0, program.output())
    assert.equal(program.output(), '[{"name":"Berlin"}]\n{"id":1,"name":"Berlin"}\ntrue 404 not_found\n')
  })

  test(`on Node ${version} the example of the agent's README serves, and ends on SIGTERM`, slow, async (t) => {
    const { url, key } = await theWorld()
    const { id } = await post<{ id: string }>('agents', { name: `Shouter ${version}` })
    const env = { GRATICULE_URL: url, GRATICULE_API_KEY: key, AGENT_ID: id }
    const worker = await start(t, await nodeOf(version), ['agent.js'], env)
    await worker.says(/Serving\./)
    const { output } = await post<{ output: string }>(`agents/${id}/invoke`, { input: 'hello world' })
    assert.equal(output, 'HELLO WORLD ')
    worker.child.kill('SIGTERM')
    assert.equal(await worker.exited, 0, worker.output())
  })

  test(`on Node ${version} a refused worker ends with one line`, slow, async (t) => {
    const { url, key } = await theWorld()
    const { id } = await post<{ id: string }>('agents', {})
    const refused: [RegExp, Record<string, string>][] = [
      [/^The API key was refused\. .*\n$/, { GRATICULE_API_KEY: crypto.randomUUID() }],
      [/^The application of this API key has no such agent\. .*\n$/, { AGENT_ID: crypto.randomUUID() }],
    ]
    for (const [words, wrong] of refused) {
      const env = { GRATICULE_URL: url, GRATICULE_API_KEY: key, AGENT_ID: id, ...wrong }
      const worker = await start(t, await nodeOf(version), ['agent.js'], env)
      assert.equal(await worker.exited, 1)
      assert.match(worker.output(), words)
    }
  })

  test(`on Node ${version} graticule-agent serves a command`, slow, async (t) => {
    const { url, key } = await theWorld()
    const { id } = await post<{ id: string }>('agents', {})
    const command = ['node_modules/.bin/graticule-agent', 'serve', '--agent', id, '--command', 'tr a-z A-Z']
    const worker = await start(t, await nodeOf(version), command, {
      PATH: process.env.PATH ?? '',
      GRATICULE_URL: url,
      GRATICULE_API_KEY: key,
    })
    await worker.says(/Serving\./)
    const { output } = await post<{ output: string }>(`agents/${id}/invoke`, { input: 'hello' })
    assert.equal(output, 'HELLO')
  })
}
