import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type ClientServer, clientServer } from '../testing/client-server.ts'
import { createClient } from './client.ts'

let server: ClientServer
let manyRows: string
const rowCount = 200_000
/** The embedded database stops a query after 10 s. */
const datasetRows = process.env.TEST_DATABASE_URL ? rowCount : 10_000
before(async () => {
  server = await clientServer()
  const source = `SELECT n, 'Zoë "${'x'.repeat(60)}" \\ 日本' || n AS name FROM generate_series(1, ${datasetRows}) AS t(n)`
  manyRows = (await server.client().datasets.create({ type: 'sql', name: 'Many', source })).id
})
after(() => server.close())

/** A server that answers every request so. */
async function serve(answer: (response: ServerResponse) => void) {
  const http = createServer((_, response) => answer(response.setHeader('content-type', 'application/json')))
  await once(http.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close() {
      http.closeAllConnections()
      http.close()
    },
  }
}

describe('rows', () => {
  test(`${datasetRows} rows of a dataset are read one by one`, async () => {
    let count = 0
    for await (const { n, name } of server.client().datasets.rows<{ n: number; name: string }>(manyRows)) {
      count++
      assert.ok(n === count && name.endsWith(`日本${n}`))
    }
    assert.equal(count, datasetRows)
  })

  test(`${rowCount} rows are read in constant memory`, async (t) => {
    const text = 'x'.repeat(300)
    function* answer(): Generator<string, void> {
      for (let n = 1; n <= rowCount; n++) yield `${n === 1 ? '[' : ',\n'}{"n":${n},"text":"${text}"}`
      yield ']\n'
    }
    // A server without a database, so that what is measured is the client.
    const { url, close } = await serve((response) => Readable.from(answer()).pipe(response))
    t.after(close)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    let count = 0
    let before = 0
    let most = 0
    for await (const { n } of createClient(url).datasets.rows<{ n: number }>('1')) {
      assert.equal(n, ++count)
      if (count === 10_000) before = used()
      if (count % 20_000 === 0) most = Math.max(most, used() - before)
    }
    assert.equal(count, rowCount)
    // All rows together are 65 MB.
    assert.ok(most < 40e6, `${most} bytes more than at the beginning`)
  })

  test('leaving the loop ends the request', async () => {
    let closed = false
    const client = server.client({
      fetch: (input, init) => {
        init?.signal?.addEventListener('abort', () => {
          closed = true
        })
        return fetch(input, init)
      },
    })
    for await (const { n } of client.datasets.rows(manyRows)) if (n === 3) break
    assert.ok(closed)
    // The application has its slot again: more such reads than slots go one after the other.
    for (let read = 0; read < 20; read++) for await (const _ of client.datasets.rows(manyRows, { limit: 5_000 })) break
  })

  test('a signal ends the reading with its reason', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    const read = async () => {
      for await (const { n } of server.client().datasets.rows(manyRows, {}, { signal: controller.signal })) {
        if (n === 5) controller.abort(reason)
      }
    }
    await assert.rejects(read, (error) => error === reason)
  })

  test('a refusal rejects before the first row', async () => {
    const rows = server.client().datasets.rows(manyRows, { where: { nothing: 1 } })
    await assert.rejects(Array.fromAsync(rows), { status: 400, code: 'invalid_filter' })
  })

  test('an answer that breaks off rejects, whether the connection breaks or ends', async () => {
    const endings: ((response: ServerResponse) => void)[] = [
      (response) => response.destroy(),
      (response) => response.end(),
    ]
    const codes = ['network_error', 'truncated']
    for (const [index, ending] of endings.entries()) {
      let breakOff = () => {}
      const broken = await serve((response) => {
        breakOff = () => ending(response)
        response.write('[{"n":1},\n{"n":2},\n{"n"')
      })
      const client = createClient(broken.url)
      const seen: unknown[] = []
      const read = async () => {
        for await (const { n } of client.datasets.rows('1')) if (seen.push(n) === 2) breakOff()
      }
      await assert.rejects(read, { name: 'ApiError', status: 0, code: codes[index] })
      assert.deepEqual(seen, [1, 2])
      broken.close()
    }
  })
})
