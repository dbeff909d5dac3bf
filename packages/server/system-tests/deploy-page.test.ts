import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { mainFile, unoptimized } from '../testing/command-line.ts'
import { type Block, readDocPage } from '../testing/doc-page.ts'
import { type ScramCluster, startScramCluster } from '../testing/peers/scram-cluster.ts'
import { demandWork } from '../testing/processes/demand-work.ts'

// The first lines of docs/deploy.md, copied as a reader copies them, on a fresh cluster whose every login needs a password.

const skip = process.env.TEST_DATABASE_URL ? false : 'needs PostgreSQL'
const page = resolve(import.meta.dirname, '../../../docs/deploy.md')

let cluster: ScramCluster
let directory = ''
before(async () => {
  if (skip) return
  cluster = await startScramCluster()
  directory = await mkdtemp(join(tmpdir(), 'graticule-deploy-'))
})
after(async () => {
  await cluster?.close()
  await rm(directory, { recursive: true, force: true })
})

/** A shell in which `sudo -u postgres` is the cluster's administrator, and npm starts this server. */
function shell(script: string) {
  const run = `"${process.execPath}" ${unoptimized.join(' ')} "${mainFile}"`
  const preamble = `
set -euo pipefail
sudo() { shift 2; PGHOST='${cluster.socket}' PGUSER=postgres PGPASSWORD="$ADMIN_PASSWORD" command "$@"; }
npm() {
  case "$*" in
    start) exec ${run} ;;
    'start -- '*) ${run} "\${@:3}" ;;
    'start --silent -- '*) ${run} "\${@:4}" ;;
    *) return 1 ;;
  esac
}
`
  const env = {
    PATH: process.env.PATH,
    ADMIN_PASSWORD: cluster.password,
    HOME: directory,
    DATA_DIR: join(directory, 'data'),
    // Where other servers may run already.
    PORT: '0',
    PGPORT: String(cluster.port),
    WORKERS: '1',
  }
  return spawn('bash', ['-c', `${preamble}\n${script}`], { cwd: directory, env })
}

const blockOf = async (need: string): Promise<Block> => {
  const found = (await readDocPage(page)).blocks.find(({ needs }) => needs === need)
  assert.ok(found, `docs/deploy.md has no block that needs ${need}`)
  return found
}

test('the ten lines that docs/deploy.md begins with start a server that is ready, loads a file and makes a tile', {
  skip,
}, async () => {
  const { blocks } = await readDocPage(page)
  const [first] = blocks
  assert.equal(first?.needs, 'cluster', 'the page begins with them')
  assert.ok((first?.text.trim().split('\n').length ?? 0) <= 10)
  const server = shell(first?.text ?? '')
  let output = ''
  const ended = once(server, 'exit')
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  try {
    const greeting = /Graticule +(\S+)[\s\S]*Master key +([0-9a-f-]{36})/
    while (!greeting.test(output)) {
      assert.equal(server.exitCode, null, output)
      await Promise.race([once(server.stdout, 'data'), ended])
    }
    const [, url = '', key = ''] = greeting.exec(output) ?? []
    await demandWork(url, key)
    const hardening = shell((await blockOf('cluster-hardening')).text)
    const [said, [code]] = await Promise.all([text(hardening.stderr), once(hardening, 'close')])
    assert.equal(code, 0, said)
    assert.doesNotMatch(said, /ERROR/)
    await demandWork(url, key)
  } finally {
    server.kill('SIGTERM')
    await ended
  }
})
