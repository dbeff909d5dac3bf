import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostgresConnection } from '../../../query/execution/connection.ts'
import { estimateTable } from './estimate.ts'
import { fingerprintTable } from './fingerprint.ts'
import { describeTable } from './introspect.ts'
import { listTables } from './tables.ts'

// A server that only sounds like PostgreSQL may say anything where a number or a list is due.

const texts = [
  '',
  'x',
  '-1',
  '1.5',
  '1e999',
  'NaN',
  '9'.repeat(40),
  'null',
  '{}',
  '[1',
  '[1,2,3,"x"]',
  '[null,1,2,3]',
  null,
]

const numbers = 'rows bytes parts modifier baseModifier srid dimension outside extent columns counts position'.split(
  ' ',
)
const sane = { oid: '1', relkind: 'r', name: 'geom', type: 'geometry', base: null, key: 't', nullable: 't' }

/** Answers every statement with one row, whose numbers are `text`. */
const serverThatSays = (text: string | null): PostgresConnection => ({
  schema: 'public',
  isExternal: true,
  async select() {
    const cells = { ...sane, ...Object.fromEntries(numbers.map((name) => [name, text])) }
    const columns = Object.keys(cells).map((name) => ({ name, type: 25, modifier: -1 }))
    const batches = (async function* () {
      yield [Object.values(cells)]
    })()
    return { columns, batches } as unknown as Awaited<ReturnType<PostgresConnection['select']>>
  },
})

test('numbers that are none are unknown, not stored and not an error', async () => {
  const options = { timeoutMs: 1000, mayListTables: true }
  const geometry = { name: 'geom', type: 'geometry', srid: 4326 } as never
  for (const text of texts) {
    const server = serverThatSays(text)
    const described = await describeTable(server, 'things', options as never)
    const estimate = await estimateTable(server, 'things', geometry, options)
    const fingerprint = await fingerprintTable(server, 'things', options)
    const listed = await listTables(server, { limit: 1, offset: 0 }, new AbortController().signal)
    const told = { described, estimate, rows: fingerprint?.rowEstimate, listed }
    assert.deepEqual(badNumbers(told), [], `${text}: ${JSON.stringify(told)}`)
    assert.ok(estimate.extent === null || estimate.extent.length === 4, String(text))
  }
})

const badNumbers = (value: unknown): unknown[] => {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(badNumbers) : []
}
