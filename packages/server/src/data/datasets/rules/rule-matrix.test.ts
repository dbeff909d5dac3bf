import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mapDoors } from '../../../../testing/rules/map-doors.ts'
import {
  type MatrixWorld,
  matrixWorld,
  type Sight,
  type Subject,
  sightOf,
} from '../../../../testing/rules/matrix-world.ts'
import type { Rules } from '../../../../testing/rules/oracle.ts'
import { randomTable, tableSql } from '../../../../testing/rules/plain-table.ts'
import { randomRules } from '../../../../testing/rules/random-rules.ts'
import { readingDoors, secondPage } from '../../../../testing/rules/reading-doors.ts'
import { continuePage, toolDoors } from '../../../../testing/rules/tool-doors.ts'
import { createRandom, type Random } from '../../../../testing/uploads/random.ts'

// Whoever asks, by whatever way: nothing is shown that rules hide, and all that they show. Rules, tables and values of callers are random; what is
// seen is compared with an oracle that has nothing of the product.

const seed = Number(process.env.TEST_SEED ?? 1)
const isEverything = process.env.TEST_ALL && process.env.TEST_DATABASE_URL
const tables = isEverything ? 4 : 1
const rulesOfEach = isEverything ? 4 : 2

let world: MatrixWorld
before(async () => {
  world = await matrixWorld()
})
after(() => world.close())

async function makeSubject(random: Random, name: string): Promise<Subject> {
  const table = randomTable(random, name, 24)
  await world.script(tableSql(table))
  const made = await world.call('POST', '/api/v1/datasets', {
    body: { type: 'table', name, source: name, ownerId: world.adaId },
  })
  assert.equal(made.status, 201, made.text)
  const { body } = await world.call('GET', `/api/v1/datasets/${made.body.id}/query`)
  const written = new Map((body as { mark_qz: string }[]).map((row) => [row.mark_qz, row]))
  const source = await world.call('POST', '/api/v1/tilesources', { body: { type: 'dataset', source: made.body.id } })
  assert.equal(source.status, 201, source.text)
  return { world, id: made.body.id, tileSourceId: source.body.id, table, written }
}

async function giveRules(id: string, rules: Rules): Promise<void> {
  const reply = await world.call('PATCH', `/api/v1/datasets/${id}`, { body: rules })
  assert.equal(reply.status, 200, `${reply.text} ${JSON.stringify(rules)}`)
}

/** Each caller by each way, in an order that lets the answer for one lie in a cache when another asks. */
async function walk(random: Random, subject: Subject, rules: Rules, label: string): Promise<string[]> {
  const sights = world.callers.map((caller) => sightOf(subject, rules, caller, label))
  const failures: string[] = []
  const note = (error: Error): void => void failures.push(error.message)
  for (const door of [...readingDoors, ...mapDoors, ...toolDoors])
    for (const sight of sights) await door(sight, random).catch(note)
  await sharePages(sights).catch(note)
  return failures
}

async function sharePages(sights: readonly Sight[]): Promise<void> {
  for (const sight of sights) {
    const url = await secondPage(sight)
    if (url) for (const other of sights) await continuePage(other, url)
  }
}

describe(`what rules leave of random tables (TEST_SEED=${seed})`, () => {
  for (let n = 0; n < tables; n++) {
    test(`is all that callers see of table ${n}`, async () => {
      const random = createRandom(1_000 * seed + n)
      const subject = await makeSubject(random, `matrix${n}`)
      for (let turn = 0; turn < rulesOfEach; turn++) {
        const rules: Rules = { rules: randomRules(random, subject.table), rulesFor: random() < 0.5 ? 'all' : 'users' }
        await giveRules(subject.id, rules)
        const failures = await walk(random, subject, rules, `table ${n}`)
        assert.equal(failures.length, 0, `${JSON.stringify(rules)}\n\n${failures.slice(0, 12).join('\n\n')}`)
      }
      // Lists show keys without a user all rules of other datasets, which may name what is hidden in the next.
      await giveRules(subject.id, { rules: null, rulesFor: 'users' })
    })
  }
})
