// One database is enough: what is refused never reaches one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type EditWorld, editWorld } from '../testing/editing.ts'
import type { Reply } from '../testing/harness.ts'

/** As many columns as PostgreSQL tables of the largest surveys have. */
const columns = Array.from({ length: 400 }, (_, index) => `answer_to_question_${index}`)
let world: EditWorld
let id: string
before(async () => {
  world = await editWorld(
    `CREATE TABLE survey (id int4 PRIMARY KEY, ${columns.map((name) => `${name} text`).join(', ')})`,
  )
  id = await world.dataset('survey')
})
after(() => world.close())

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `answer_to_kuestion_${index}`)
const keyed = (count: number): Record<string, unknown> => Object.fromEntries(names(count).map((name) => [name, 1]))
const property = (name: string) => ({ op: 'isNull', args: [{ property: name }] })

const query = (body: object): Promise<Reply> => world.call('POST', `/api/v1/datasets/${id}/query`, { body })
const tool = (args: object): Promise<Reply> =>
  world.call('POST', '/api/v1/mcp', {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'query_dataset', arguments: { datasetId: id, ...args } },
    },
  })

/** Each sends many names that nobody knows. */
const requests: Readonly<Record<string, () => Promise<Reply>>> = {
  attributes: () => query({ attributes: names(20_000) }),
  order: () => query({ order: names(20_000) }),
  group: () => query({ group: names(20_000) }),
  distinct: () => query({ distinct: names(20_000) }),
  where: () => query({ where: keyed(9_900) }),
  'where, in a list': () => query({ where: { $or: names(20_000).map((name) => ({ [name]: 1 })) } }),
  'operators of where': () => query({ where: { id: Object.fromEntries(names(9_900).map((name) => [`$${name}`, 1])) } }),
  CQL2: () => query({ where: { op: 'and', args: names(5_000).map(property) }, 'filter-lang': 'cql2-json' }),
  'the body of a query': () => query(keyed(9_900)),
  'a row': () => world.insert('survey', keyed(9_900)),
  rows: () =>
    world.insert(
      'survey',
      Array.from({ length: 9_000 }, () => keyed(1)),
    ),
  'the header of CSV': () =>
    world.insertText('survey', `${names(10_000).join()}\n${'1,'.repeat(9_999)}1\n`, 'text/csv'),
  'classes of an ACL': () =>
    world.call('POST', '/api/v1/apikeys', { body: { type: 'app', permissions: keyedLevels(9_900) } }),
  'a list of records': () => world.call('GET', `/api/v1/datasets?fields=${names(300).join()}`),
  'parameters of a query': () => world.call('GET', `/api/v1/datasets?${names(300).join('&')}`),
  'properties of OGC features': () =>
    world.call('GET', `/ogc/collections/${id}/items?properties=${names(300).join()}&sortby=${names(20).join()}`),
  'the filter of tiles': () => world.call('GET', `/api/v1/tiles/${id}/0/0/0?attributes=${names(300).join()}`),
  'a tool': () => tool({ attributes: names(20_000) }),
  'the filter of a tool': () => tool({ where: keyed(9_900) }),
  'arguments of a tool': () => tool(keyed(9_900)),
}

const keyedLevels = (count: number): object => Object.fromEntries(names(count).map((name) => [name, { read: '*' }]))

for (const [where, send] of Object.entries(requests)) {
  test(`thousands of unknown names in ${where} are refused in a moment, with at most twenty faults`, async () => {
    const started = process.cpuUsage()
    const reply = await send()
    const { user, system } = process.cpuUsage(started)
    const isTool = reply.body?.result?.isError === true
    assert.ok(isTool || (reply.status >= 400 && reply.status < 500), reply.text.slice(0, 300))
    const faults = isTool ? reply.body.result.content[0].text.split('\n') : (reply.body.errors ?? [])
    assert.ok(faults.length <= 20, `${faults.length} faults`)
    assert.ok(reply.text.length < 20_000, `the answer has ${reply.text.length} characters`)
    // Of the test too, which makes the request. Twenty thousand names once took 37 s.
    assert.ok(user + system < 1_500_000, `took ${user + system} µs`)
  })
}
