import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import pg from 'pg'
import type { ChangeClient } from '../../../testing/changes/change-client.ts'
import { type ChangeWorld, changeWorld, listen, outliveRetention } from '../../../testing/changes/change-world.ts'
import { until } from '../../../testing/until.ts'

// Writers that overlap in every way, and listeners who come, go and change servers: each committed row is told exactly once.

const isPostgres = process.env.TEST_DATABASE_URL !== undefined

let world: ChangeWorld
before(async () => {
  world = await changeWorld()
})
after(() => world.close())

/** What one connection does, step by step; each insert takes a new key. */
type Step = 'insert' | 'savepoint' | 'rollbackTo' | 'commit' | 'rollback'
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Step>('insert') },
  { weight: 1, arbitrary: fc.constantFrom<Step>('savepoint', 'rollbackTo', 'rollback') },
  { weight: 2, arbitrary: fc.constant<Step>('commit') },
)
/** Which of the writers, or which listener, moves next. */
const move = fc.record({ writer: fc.nat(3), step, listener: fc.constantFrom('stay', 'stay', 'stay', 'leave') })

type Writer = {
  take(step: Step): Promise<void>
  end(): Promise<void>
}

/** A connection of its own, with at most one transaction. What it has committed is added to `committed`. */
async function writer(name: string, nextKey: () => number, committed: number[]): Promise<Writer> {
  const client = new pg.Client({ connectionString: world.app.url })
  await client.connect()
  let isOpen = false
  let pending: number[] = []
  let kept: number | undefined
  const close = async (how: 'COMMIT' | 'ROLLBACK') => {
    if (!isOpen) return
    await client.query(how)
    if (how === 'COMMIT') committed.push(...pending)
    ;[isOpen, pending, kept] = [false, [], undefined]
  }
  const begin = async () => {
    if (!isOpen) await client.query('BEGIN')
    isOpen = true
  }
  const steps: Record<Step, () => Promise<void>> = {
    async insert() {
      await begin()
      const key = nextKey()
      await client.query(`INSERT INTO "${world.schema}".${name} VALUES ($1)`, [key])
      pending.push(key)
    },
    async savepoint() {
      await begin()
      await client.query('SAVEPOINT s')
      kept = pending.length
    },
    async rollbackTo() {
      if (kept === undefined) return
      await client.query('ROLLBACK TO s')
      pending = pending.slice(0, kept)
    },
    commit: () => close('COMMIT'),
    rollback: () => close('ROLLBACK'),
  }
  return {
    take: (step) => steps[step](),
    async end() {
      await close('COMMIT')
      await client.end()
    },
  }
}

/** A listener that leaves and comes back, to another server each time. */
async function wanderer(id: string, ports: readonly number[]) {
  const seen: unknown[] = []
  const ids: string[] = []
  let visits = 0
  let current: ChangeClient = await world.followed(id, { port: ports[0] as number })
  function collect(): void {
    assert.ok(!current.names().includes('reset'), 'nothing is missing in the log')
    seen.push(...current.keys())
    ids.push(...current.events.flatMap((event) => (event.event === 'change' ? [String(event.id)] : [])))
  }
  return {
    ids,
    async move() {
      current.close()
      await current.over
      collect()
      visits++
      const lastEventId = current.lastId()
      current = await world.follow(id, { port: ports[visits % ports.length] as number, lastEventId })
    },
    count: () => seen.length + current.keys().length,
    async leave(): Promise<unknown[]> {
      current.close()
      await current.over
      collect()
      return seen
    },
  }
}

const positionOf = (id: string): [bigint, bigint] => {
  const [, xid = '', seq = ''] = id.split('.')
  return [BigInt(xid), BigInt(seq)]
}
const isBefore = ([a, b]: [bigint, bigint], [c, d]: [bigint, bigint]) => a < c || (a === c && b < d)

test('every committed row is told once and in one order, whatever the transactions, and nothing of what was rolled back', {
  skip: !isPostgres && 'embedded there is one session',
}, async () => {
  const other = await world.app.replica()
  const ports = [world.port, await listen(other)]
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 20, maxLength: 60 }), async (moves) => {
      const { name, id } = await world.table('id int PRIMARY KEY')
      const committed: number[] = []
      let keys = 0
      const listeners = [await wanderer(id, ports), await wanderer(id, [...ports].reverse())]
      const writers = await Promise.all([0, 1, 2, 3].map(() => writer(name, () => ++keys, committed)))
      for (const { writer: index, step, listener } of moves) {
        await writers[index]?.take(step)
        if (listener === 'leave') await listeners[index % 2]?.move()
      }
      for (const one of writers) await one.end()
      await until(() => listeners.every((one) => one.count() >= committed.length))
      for (const one of listeners) {
        const seen = (await one.leave()) as number[]
        assert.deepEqual([...seen].sort(byValue), [...committed].sort(byValue))
        const positions = one.ids.map(positionOf)
        for (const [index, position] of positions.slice(1).entries()) {
          assert.ok(isBefore(positions[index] ?? [0n, 0n], position), 'ids grow')
        }
      }
    }),
    { numRuns: process.env.TEST_RANDOM ? 30 : 6, seed: Number(process.env.TEST_SEED) },
  )
})

const byValue = (one: number, other: number): number => one - other

test('a transaction that is open for long holds back what came later, and is told before it', {
  skip: !isPostgres && 'embedded there is one session',
}, async () => {
  const { name, id } = await world.table('id int PRIMARY KEY')
  const client = await world.followed(id)
  const long = new pg.Client({ connectionString: world.app.url })
  await long.connect()
  await long.query('BEGIN')
  await long.query(`INSERT INTO "${world.schema}".${name} VALUES (1)`)
  await world.script(`INSERT INTO $.${name} VALUES (2)`)
  // A client that comes now, and one that resumes, wait for it too.
  const late = await world.followed(id)
  const resumed = await world.follow(id, { lastEventId: client.lastId() })
  assert.deepEqual([client.keys(), late.keys(), resumed.keys()], [[], [], []])
  await long.query('COMMIT')
  await long.end()
  for (const one of [client, late, resumed]) {
    await until(() => one.keys().length >= 2)
    assert.deepEqual(one.keys(), [1, 2])
  }
})

test('what a long transaction holds back is told in the end, though it was written longer ago than the retention', {
  skip: !isPostgres && 'embedded there is one session',
}, async () => {
  const { name, id } = await world.table('id int PRIMARY KEY')
  const client = await world.followed(id)
  const long = new pg.Client({ connectionString: world.app.url })
  await long.connect()
  await long.query('BEGIN')
  await long.query(`INSERT INTO "${world.schema}".${name} VALUES (1)`)
  await world.script(`INSERT INTO $.${name} VALUES (2)`)
  await outliveRetention(world.app.db)
  await long.query('COMMIT')
  await long.end()
  await world.script(`SELECT svc.sweep_changes('24 hours', 1000)`)
  const resumed = await world.follow(id, { lastEventId: client.lastId() })
  for (const one of [client, resumed]) {
    await until(() => one.keys().length >= 2)
    assert.deepEqual([one.keys(), one.names().includes('reset')], [[1, 2], false])
  }
})

test('what is written between two visits is told once, on either database, also after a restart of the server', async () => {
  const { name, id } = await world.table('id int PRIMARY KEY')
  const first = await world.followed(id)
  const seen: unknown[] = []
  let client = first
  for (let round = 0; round < 4; round++) {
    const keys = [1, 2, 3].map((n) => round * 3 + n)
    for (const key of keys.slice(0, 2)) await world.script(`INSERT INTO $.${name} VALUES (${key})`)
    await assert.rejects(world.script(`BEGIN; INSERT INTO $.${name} VALUES (99); SELECT 1 / 0; COMMIT`))
    await until(() => client.keys().length >= (round === 0 ? 2 : 3))
    client.close()
    await client.over
    seen.push(...client.keys())
    await world.script(`INSERT INTO $.${name} VALUES (${keys[2]})`)
    // Each visit is to a server that was just started.
    const fresh = await world.app.replica()
    client = await world.follow(id, { port: await listen(fresh), lastEventId: client.lastId() })
  }
  await until(() => client.keys().length >= 1)
  seen.push(...client.keys())
  assert.deepEqual(
    seen,
    Array.from({ length: 12 }, (_, index) => index + 1),
  )
})
