import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { type CommandEnvironment, mainFile, runCommandLine, startServer } from '../testing/command-line.ts'
import { type TestDatabase, testDatabase } from '../testing/database.ts'
import { type Block, readDocPage } from '../testing/doc-page.ts'
import { forwardDatabase } from '../testing/peers/forwarded-database.ts'
import { type HttpSink, httpSink } from '../testing/peers/http-sink.ts'

// One database is enough: the commands see only the API, and those that need a server of PostgreSQL find one.

// Every command of the documentation, run as a reader would copy it: one shell for each page, from top to bottom.

const root = resolve(import.meta.dirname, '../../..')
const pages = ['README.md', 'SECURITY.md', ...globSync('docs/*.md', { cwd: root }).sort()]
/** Its commands need an agent that is served: agents/docs.test.ts runs them. */
const agentsPage = 'docs/agents.md'
const master = '0d3f1c52-6f0e-4c0f-9a3e-6f2b7a1c9d10'

const stations = JSON.stringify({ data: [{ id: 1, name: 'Berlin', lat: 52.5, lon: 13.4 }] })

let directory = ''
let database: TestDatabase | undefined
let foreign: Awaited<ReturnType<typeof foreignDatabase>> | undefined
let server: Awaited<ReturnType<typeof startServer>>
let sink: HttpSink
let env: CommandEnvironment
/** What the pages leave to the reader (`KEY=…`). */
let given: Record<string, string>

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-docs-'))
  sink = await httpSink(() => ({ status: 200, headers: { 'content-type': 'application/json' }, body: stations }))
  env = {
    // Debian's Python comes first: it is the one that has what Debian's packages bring.
    PATH: `${join(root, 'node_modules/.bin')}:/usr/bin:${process.env.PATH}`,
    HOME: directory,
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    MASTER_API_KEY: master,
    EGRESS_ALLOW: '127.0.0.1:*',
    AGENT_BRIDGES: 'on',
  }
  if (process.env.TEST_DATABASE_URL) {
    database = await testDatabase()
    env.DATABASE_URL = database.url ?? ''
    foreign = await foreignDatabase()
  }
  server = await startServer(env)
  const { output } = await runCommandLine(['keys'], env)
  const [KEY = '', PUBLIC = ''] = output.match(/[0-9a-f-]{36}/g) ?? []
  const POSTGRES_URL = foreign?.url ?? ''
  given = { KEY, PUBLIC, MASTER: master, HOOK: sink.url, STATIONS: sink.url, POSTGRES_URL }
})
after(async () => {
  await server?.stop('SIGTERM')
  await sink?.close()
  await database?.close()
  await foreign?.close()
  await rm(directory, { recursive: true, force: true })
})

/** A database of somebody's own, with a table to publish. */
async function foreignDatabase() {
  const own = await testDatabase()
  await own.db.script('CREATE TABLE parks (id int PRIMARY KEY, name text, geom geometry(Polygon, 4326))')
  const { url, close } = await forwardDatabase(own.url ?? '')
  return {
    url,
    async close() {
      close()
      await own.close()
    },
  }
}

for (const page of pages) {
  describe(page, () => {
    if (page !== agentsPage) test(`every command of ${page} succeeds`, () => runCommands(page))

    test(`every link of ${page} leads somewhere`, async () => {
      const { links } = await readDocPage(join(root, page))
      for (const link of links.filter((target) => !/^[a-z]+:/.test(target))) await followLink(page, link)
    })

    test(`every JSON text of ${page} is one`, async () => {
      const { blocks } = await readDocPage(join(root, page))
      for (const { language, text } of blocks) if (language === 'json') JSON.parse(text)
    })
  })
}

async function runCommands(page: string): Promise<void> {
  const { blocks } = await readDocPage(join(root, page))
  const commands = blocks.filter(({ language, needs }) => language === 'sh' && (!needs || isPresent(needs)))
  if (commands.length === 0) return
  const folder = await mkdtemp(join(directory, 'page-'))
  for (const { fileName, text } of blocks) if (fileName) await writeFile(join(folder, fileName), text)
  const script = [preamble(), ...commands.map(scriptOf)].join('\n')
  const shell = spawn('bash', ['-c', script], { cwd: folder, env: { ...env, PORT: new URL(server.url).port } })
  const [output, errors, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  assert.equal(code, 0, `${page}: ${errors.slice(-4_000)}\n${output.slice(-2_000)}`)
}

const presence: Record<string, string> = {
  postgres: `[ -n "$TEST_DATABASE_URL" ]`,
  qgis: "python3 -c 'import qgis.core'",
  owslib: "python3 -c 'import owslib'",
  geopandas: "python3 -c 'import geopandas'",
  duckdb: 'command -v duckdb',
  docker: '[ -n "$DOCS_DOCKER" ] && docker info',
  kubernetes: '[ -n "$DOCS_KUBERNETES" ] && kubectl version',
  // Starts a service of the machine, which no test does by itself.
  systemd: '[ -n "$DOCS_SYSTEMD" ]',
}

/** Whether this machine has what a block needs. */
const isPresent = (need: string): boolean =>
  spawnSync('bash', ['-c', presence[need] ?? 'exit 1'], { env: { ...process.env, ...env } }).status === 0

/** curl fails on an error's status, and npm is the command that it would start. */
const preamble = (): string => `
set -euo pipefail
trap 'jobs -p | xargs -r kill' EXIT
curl() { command curl --fail-with-body --silent --show-error "$@"; }
npm() {
  case "$*" in
    start|'-s start') ;;
    # What the packages are once they are installed, their own tests see.
    'install @graticule/'*) ;;
    'start -- '*) "${process.execPath}" "${mainFile}" "\${@:3}" ;;
    '-s start -- '*) "${process.execPath}" "${mainFile}" "\${@:4}" ;;
    *) command npm --prefix "${root}" pkg get "scripts.$([ "$1" = run ] && echo "$2" || echo "$1")" | grep -qv '^{}$' ;;
  esac
}
`

function scriptOf({ text, line }: Block): string {
  const own = text
    .replaceAll('http://localhost:8080', server.url)
    .replaceAll('localhost:8080', new URL(server.url).host)
    .replaceAll(/^([A-Z_]+)=…/gm, (_, name: string) => {
      assert.ok(name in given, `line ${line}: nobody says what ${name} is`)
      return `${name}='${given[name]}'`
    })
  return `echo "-- line ${line}" >&2\n${own}`
}

async function followLink(page: string, link: string): Promise<void> {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? join(root, page) : resolve(root, dirname(page), path)
  assert.ok(existsSync(target), `${link}: there is no such file`)
  if (anchor) assert.ok((await readDocPage(target)).anchors.has(anchor), `${link}: there is no such heading`)
}
