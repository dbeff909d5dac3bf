import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { type ChangeWorld, changeWorld } from '../../server/testing/changes/change-world.ts'
import { type Client, createClient, type DatasetEvent } from './client.ts'

let world: ChangeWorld
let client: Client
before(async () => {
  world = await changeWorld()
  client = createClient(`http://127.0.0.1:${world.port}`, world.tenant.public)
})
after(() => world.close())

/** A client whose connections each say what they are given, and then break or end. */
function scripted(connections: (readonly (string | Error)[] | Response)[]) {
  const asked: (string | null)[] = []
  const fetch = async (url: string): Promise<Response> => {
    asked.push(new URL(url).searchParams.get('lastEventId'))
    const next = connections.shift()
    if (!next) throw new Error('asked too often')
    if (next instanceof Response) return next
    return new Response(Readable.toWeb(Readable.from(piecesOf(next))) as BodyInit)
  }
  return { asked, client: createClient('https://host', 'KEY', { fetch: fetch as typeof globalThis.fetch, retries: 0 }) }
}

async function* piecesOf(pieces: readonly (string | Error)[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) {
    if (piece instanceof Error) throw piece
    yield new TextEncoder().encode(piece)
  }
}

const ready = 'id: a.1.0\nevent: ready\ndata: {"resumed":false}\n\n'
const change = (id: string) => `id: ${id}\nevent: change\ndata: {"version":"${id}"}\n\n`
const problem = (status: number, code: string) =>
  new Response(JSON.stringify({ status, code, detail: code }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  })

async function take(events: AsyncGenerator<DatasetEvent>, count: number): Promise<DatasetEvent[]> {
  const taken: DatasetEvent[] = []
  for await (const event of events) if (taken.push(event) === count) break
  return taken
}

describe('datasets.watch', () => {
  test('yields the changes of a dataset, and lets go when the loop is left', async () => {
    const { name, id } = await world.table()
    const seen: DatasetEvent<number>[] = []
    for await (const event of client.datasets.watch<number>(id)) {
      seen.push(event)
      if (event.type === 'change') break
      await world.script(`INSERT INTO $.${name} VALUES (5, ST_Point(6, 50, 4326))`)
    }
    const [first, second] = seen
    assert.deepEqual(first, { type: 'ready', resumed: false })
    assert.ok(second?.type === 'change')
    assert.deepEqual([second.operations, second.keys, second.boxes], [['insert'], [5], [[6, 50, 6, 50]]])
  })

  test('goes on behind an event of an earlier watch', async () => {
    const { name, id } = await world.table()
    const add = (key: number) => world.script(`INSERT INTO $.${name} VALUES (${key})`)
    let lastEventId: string | undefined
    for await (const event of client.datasets.watch(id)) {
      if (event.type === 'ready') await add(1)
      if (event.type !== 'change') continue
      lastEventId = event.id
      break
    }
    await add(2)
    const [, missed] = await take(client.datasets.watch(id, { lastEventId }), 2)
    assert.ok(missed?.type === 'change')
    assert.deepEqual(missed.keys, [2])
  })

  test('rejects when the server refuses', async () => {
    const id = await world.dataset('SELECT 1 AS id', { type: 'sql' })
    await assert.rejects(take(client.datasets.watch(id), 1), { status: 409, code: 'conflict' })
  })

  test('connects again behind the last id when a connection breaks or ends, also behind one without an event', async () => {
    const { client, asked } = scripted([
      [ready, change('a.2.1'), new Error('broken')],
      [change('a.3.1'), 'id: a.9.0\n\n'],
      problem(503, 'unavailable'),
      ['event: error\ndata: {"status":503,"code":"shutting_down"}\n\n'],
      [change('a.10.1')],
    ])
    let breaks = 0
    const onDisconnect = () => {
      breaks++
    }
    const events = await take(client.datasets.watch('x', { onDisconnect }), 4)
    assert.deepEqual(
      events.map((event) => ('id' in event ? event.id : event.type)),
      ['ready', 'a.2.1', 'a.3.1', 'a.10.1'],
    )
    assert.equal(breaks, 4, 'each connection that broke, ended or was refused for now is told')
    assert.deepEqual(asked, [null, 'a.2.1', 'a.9.0', 'a.9.0', 'a.9.0'])
  })

  test('rejects when the key is revoked meanwhile, and when the first connection fails', async () => {
    const revoked = scripted([[ready, 'event: error\ndata: {"status":401,"code":"key_revoked"}\n\n']])
    await assert.rejects(take(revoked.client.datasets.watch('x'), 2), { status: 401, code: 'key_revoked' })
    await assert.rejects(take(scripted([problem(503, 'unavailable')]).client.datasets.watch('x'), 1), { status: 503 })
    await assert.rejects(take(scripted([[]]).client.datasets.watch('x'), 1), { code: 'truncated' })
  })

  test('rejects with the reason of its signal, also between two connections', async () => {
    const { id } = await world.table()
    const leaving = new AbortController()
    const events = client.datasets.watch(id, { signal: leaving.signal })
    await events.next()
    setImmediate(() => leaving.abort(new Error('enough')))
    await assert.rejects(events.next(), { message: 'enough' })
    const between = new AbortController()
    const broken = scripted([[ready]]).client.datasets.watch('x', { signal: between.signal })
    await broken.next()
    setImmediate(() => between.abort(new Error('enough')))
    await assert.rejects(broken.next(), { message: 'enough' })
  })
})
