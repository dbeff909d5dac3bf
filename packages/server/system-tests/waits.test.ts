import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

// One database is enough: this reads the sources of tests.
const root = join(import.meta.dirname, '../../..')

/** Why time passes, in which tests, and how often: nothing else would serve there. */
const allowed: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'a peer that takes its time': {
    'packages/agent/src/bridges/openai-compatible.test.ts': 1,
    'packages/map/src/live/live.test.ts': 1,
    'packages/server/src/agents/clients.test.ts': 2,
    'packages/server/src/agents/failures.test.ts': 3,
    'packages/server/src/agents/workers/workers.test.ts': 1,
    'packages/server/src/api/http/failed-answers.test.ts': 1,
    'packages/server/src/tenants/outbox/outbox.test.ts': 3,
  },
  'a client or a program that sends, reads or asks at a pace': {
    'packages/agent/src/serve-agent.test.ts': 1,
    'packages/server/src/agents/clients.test.ts': 3,
    'packages/server/src/api/http/answers/event-stream.test.ts': 2,
    'packages/server/src/data/databases/postgres/wire-fuzz.test.ts': 1,
    'packages/server/src/data/datasets/stream.test.ts': 1,
    'packages/server/src/data/datasets/stuck-reader.test.ts': 2,
    'packages/server/src/data/uploads/arriving.test.ts': 1,
    'packages/server/src/data/uploads/http/receive-file.test.ts': 1,
    'packages/server/src/kernel/db/db.test.ts': 1,
    'packages/server/system-tests/hostile-queries.test.ts': 1,
  },
  'a moment in the middle of work that tells nobody how far it is': {
    'packages/server/src/agents/clients.test.ts': 1,
    'packages/server/src/boot/cluster/workers.test.ts': 1,
    'packages/server/src/data/datasets/stream.test.ts': 1,
    'packages/server/src/data/uploads/crash.test.ts': 1,
    'packages/server/src/data/uploads/http/status-watch.test.ts': 1,
    'packages/server/src/data/uploads/record/upload.test.ts': 1,
    'packages/server/src/kernel/db/db.test.ts': 1,
    'packages/server/src/kernel/db/postgres/postgres.test.ts': 1,
    'packages/server/src/tenants/auth/races.test.ts': 1,
    'packages/server/system-tests/client-disconnect.test.ts': 1,
    'packages/server/system-tests/hostile-queries.test.ts': 1,
  },
  'a reader that takes nothing for longer than another process would wait': {
    'packages/driver-duckdb/src/limits.test.ts': 1,
    'packages/server/src/agents/bridges/bridges.test.ts': 1,
    'packages/server/src/data/uploads/watchdog.test.ts': 1,
    'packages/server/src/kernel/db/postgres/postgres-stream.test.ts': 2,
  },
  'the clock of another program: PostgreSQL, nginx, a balancer, a lease': {
    'packages/agent/src/rolling-restart.test.ts': 3,
    'packages/server/src/agents/replicas.test.ts': 1,
    'packages/server/src/data/uploads/fair-turns.test.ts': 1,
    'packages/server/src/kernel/db/embedded/embedded.test.ts': 1,
    'packages/server/src/tenants/contactpoints/deliveries.test.ts': 1,
    'packages/server/system-tests/behind-nginx.test.ts': 1,
  },
  'what replicas and polls of this process have to know within a second': {
    'packages/server/src/data/tiles/tile-freshness.test.ts': 1,
    'packages/server/src/tenants/auth/session.test.ts': 4,
  },
  'the samples of the test below': {
    'packages/server/system-tests/waits.test.ts': 5,
  },
}

/** A pause of a promise, by whatever name it was imported, and that of a page. */
function waitsIn(source: string): number {
  const { groups: { as = 'setTimeout' } = {} } =
    /import \{ setTimeout(?: as (?<as>\w+))? \} from 'node:timers\/promises'/.exec(source) ?? {}
  const isImported = source.includes("} from 'node:timers/promises'") && /import \{ setTimeout\b/.test(source)
  const calls = isImported ? source.match(new RegExp(`(?<![.\\w'])${as}\\(`, 'g')) : undefined
  const promises = source.match(/new Promise(?:<\w+>)?\(\((\w+)\) => setTimeout\(\1,/g)
  return (calls?.length ?? 0) + (promises?.length ?? 0) + (source.match(/\.waitForTimeout\(/g)?.length ?? 0)
}

const counted = globSync(['packages/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
}).flatMap((file) => {
  const waits = waitsIn(readFileSync(join(root, file), 'utf8'))
  return waits > 0 ? [[file, waits] as const] : []
})

test('no test waits for time to pass but those that say why: until() takes a condition, later() a clock, stays() what must not happen', () => {
  const expected: Record<string, number> = {}
  for (const files of Object.values(allowed))
    for (const [file, waits] of Object.entries(files)) expected[file] = (expected[file] ?? 0) + waits
  assert.deepEqual(Object.fromEntries(counted), expected)
})

test('a wait is found in each form', () => {
  for (const source of [
    "import { setTimeout } from 'node:timers/promises'\nawait setTimeout(5)",
    "import { setTimeout as sleep } from 'node:timers/promises'\nawait sleep(5)",
    'await new Promise((resolve) => setTimeout(resolve, 5))',
    'await page.waitForTimeout(5)',
  ])
    assert.equal(waitsIn(source), 1, source)
  for (const source of [
    "import { setImmediate } from 'node:timers/promises'\nsetTimeout(() => stop.abort(), 5)",
    "import { setTimeout as sleep } from 'node:timers/promises'\nt.mock.timers.enable({ apis: ['setTimeout'] })",
  ])
    assert.equal(waitsIn(source), 0, source)
})
