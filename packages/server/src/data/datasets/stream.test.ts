import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { runningQueries } from '../../../testing/processes/running-queries.ts'
import { until } from '../../../testing/until.ts'

const isPostgres = process.env.TEST_DATABASE_URL !== undefined
const onPostgres = { skip: isPostgres ? false : 'a statement of the embedded database cannot be cancelled' }
/** Few and wide rows: what is tested is how bytes flow, and each row costs both sides time. 80 MB, and 8 embedded. */
const count = isPostgres ? 200_000 : 20_000
const width = 400
const streams = 2
/** More than there are streams: one that is not given back is missed. The embedded database reads each answer to its end. */
const departures = isPostgres ? 15 : 3 * streams

let app: TestApp
let tenant: Tenant
let other: Tenant
let port: number
let many: string
before(async () => {
  app = await testApp({ STREAMS_PER_APPLICATION: String(streams) })
  tenant = await app.tenant('streams')
  other = await app.tenant('others')
  await app.http.listen({ port: 0, host: '127.0.0.1' })
  port = (app.http.server.address() as AddressInfo).port
  many = await create(`SELECT g AS id, repeat('x', ${width}) AS t FROM generate_series(1, ${count}) g`)
})
after(async () => {
  // Their roles outlive the database that they were made for.
  for (const { id } of [tenant, other]) await app.call('DELETE', `/api/v1/applications/${id}`)
  await app.close()
})

async function create(source: string, key = tenant.developer): Promise<string> {
  const reply = await app.call('POST', '/api/v1/datasets', { key, body: { type: 'sql', name: 'a', source } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const pathOf = (id: string, query = ''): string => `/api/v1/datasets/${id}/query?${query}`

/** The answer as soon as its head is there; on a connection of its own. */
function open(id: string, query = '', key = tenant.developer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': key }
    get({ port, host: '127.0.0.1', path: pathOf(id, query), headers, agent: false }, resolve).on('error', reject)
  })
}

async function statusOf(id: string, query = '', key = tenant.developer): Promise<number | undefined> {
  const answer = await open(id, query, key)
  await readAll(answer)
  return answer.statusCode
}

/** Begins an answer, takes its first piece and then nothing more. */
async function hold(id: string, query = '', key = tenant.developer): Promise<IncomingMessage> {
  const answer = await open(id, query, key)
  assert.equal(answer.statusCode, 200)
  await new Promise((resolve) => answer.once('data', resolve))
  answer.pause()
  answer.on('error', () => {})
  return answer
}

/** All that came, and whether the answer ended as HTTP says it must. */
async function readAll(answer: IncomingMessage): Promise<{ text: string; isWhole: boolean }> {
  let text = ''
  answer.setEncoding('utf8')
  try {
    for await (const piece of answer) text += piece
    return { text, isWhole: answer.complete }
  } catch {
    return { text, isWhole: false }
  }
}

const running = (): Promise<number> => runningQueries(app.admin)

/** Less than queries may take, so that none of those that are waited for has ended by itself. */
const soonMs = 25_000

const soon = (isSo: () => Promise<boolean>, what: string): Promise<void> =>
  until(isSo, soonMs).catch((cause) => assert.fail(`${what}: ${cause}`))

const slotsAreFree = (key = tenant.developer) =>
  soon(async () => {
    const answers = await Promise.all(Array.from({ length: streams }, () => open(many, '', key)))
    for (const answer of answers) {
      answer.on('error', () => {})
      answer.destroy()
    }
    return answers.every(({ statusCode }) => statusCode === 200)
  }, 'the slots are not free')

describe('a large answer', () => {
  test('is read completely as JSON, every row once', async () => {
    const { text, isWhole } = await readAll(await open(many, 'format=json'))
    assert.ok(isWhole)
    const rows: { id: number; t: string }[] = JSON.parse(text)
    assert.equal(rows.length, count)
    assert.equal(new Set(rows.map(({ id }) => id)).size, count)
    assert.ok(rows.every(({ t }) => t.length === width))
  })

  test('is read completely as CSV, every row once', async () => {
    const { text, isWhole } = await readAll(await open(many, 'format=csv'))
    assert.ok(isWhole)
    const [head, ...lines] = text.split('\r\n')
    assert.equal(head, 'id,t')
    assert.equal(lines.pop(), '')
    assert.equal(new Set(lines).size, count)
    assert.equal(lines.length, count)
  })

  test('is read completely as GeoJSON', async () => {
    const id = await create(`SELECT g AS id, ST_Point(g % 180, 1, 4326) AS geom FROM generate_series(1, 10000) g`)
    const { text, isWhole } = await readAll(await open(id, 'format=geojson'))
    assert.ok(isWhole)
    assert.equal(JSON.parse(text).features.length, 10_000)
  })

  test('is nothing more than an end when there are no rows', async () => {
    const id = await create('SELECT g AS id FROM generate_series(1, 5) g WHERE g > 9')
    assert.deepEqual(await readAll(await open(id)), { text: '[]\n', isWhole: true })
    assert.deepEqual(await readAll(await open(id, 'format=csv')), { text: 'id\r\n', isWhole: true })
  })
})

describe('a slow reader', () => {
  test('holds no memory, keeps nobody waiting, and gets every row in the end', async () => {
    await readAll(await open(many))
    global.gc?.()
    const memory = process.memoryUsage.rss()
    const answer = await hold(many)
    for (let round = 0; round < 30; round++) {
      assert.equal((await app.call('GET', '/api/v1/databases', { key: tenant.developer })).status, 200)
      assert.equal((await app.call('GET', pathOf(many, 'limit=1'), { key: app.master })).status, 200)
      await wait(30)
    }
    const grown = (process.memoryUsage.rss() - memory) / 1024 / 1024
    assert.ok(grown < 50, `grown by ${Math.round(grown)} MB`)
    let length = 0
    for await (const piece of answer) length += piece.length
    assert.ok(answer.complete)
    assert.ok(length > count * width)
  })
})

describe('a reader who leaves', () => {
  test('in the middle frees the slot, and the database', async () => {
    const held = await Promise.all(Array.from({ length: streams }, () => hold(many)))
    assert.equal(await running(), streams)
    assert.equal(await statusOf(many), 429)
    for (const answer of held) answer.destroy()
    await soon(async () => (await running()) === 0, 'the query goes on')
    await slotsAreFree()
  })

  test('many times over leaves nothing behind', async () => {
    for (let round = 0; round < departures; round++) {
      const answer = await open(many, round % 2 === 0 ? '' : 'format=csv')
      assert.equal(answer.statusCode, 200, `round ${round}`)
      answer.on('error', () => {})
      answer.destroy()
      await soon(async () => {
        const next = await open(many, 'limit=1')
        return (await readAll(next)).isWhole && next.statusCode === 200
      }, 'no answer any more')
    }
    await soon(async () => (await running()) === 0, 'a query goes on')
    await slotsAreFree()
  })

  test('at the very moment of the answer leaves nothing behind', async () => {
    for (let delay = 0; delay < 30; delay++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      const lines = [`GET ${pathOf(many)} HTTP/1.1`, 'Host: a', `X-Api-Key: ${tenant.developer}`, '', '']
      socket.write(lines.join('\r\n'))
      await wait(delay)
      socket.resetAndDestroy()
    }
    await soon(async () => (await running()) === 0, 'a query goes on')
    await slotsAreFree()
  })

  test('before the query has answered ends it', onPostgres, async () => {
    const id = await create('SELECT count(*) AS n FROM generate_series(1, 1000000000) g')
    const request = get({
      port,
      host: '127.0.0.1',
      path: pathOf(id, 'timeout=20000'),
      headers: { 'x-api-key': tenant.developer },
      agent: false,
    })
    request.on('error', () => {})
    await soon(async () => (await running()) === 1, 'the query has not begun')
    request.destroy()
    await soon(async () => (await running()) === 0, 'the query goes on')
    await slotsAreFree()
  })
})

describe('an error', () => {
  /** Whatever the server sends until it closes the connection. */
  function rawAnswer(path: string): Promise<string> {
    return new Promise((resolve) => {
      let text = ''
      const socket = connect(port, '127.0.0.1')
      const lines = [`GET ${path} HTTP/1.1`, 'Host: a', `X-Api-Key: ${tenant.developer}`, 'Connection: close', '', '']
      socket.write(lines.join('\r\n'))
      socket.on('data', (piece) => {
        text += piece
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
    })
  }

  test('in the first rows is 400, in the words of the database', async () => {
    const id = await create('SELECT 1 / (5 - g) AS x FROM generate_series(1, 10000) g')
    const answer = await open(id)
    assert.equal(answer.statusCode, 400)
    assert.match((await readAll(answer)).text, /division by zero/)
  })

  test('in the middle ends the connection, and what came is no whole answer', onPostgres, async () => {
    const id = await create(`SELECT 1 / (5000 - g) AS x, repeat('x', 100) AS t FROM generate_series(1, 10000) g`)
    for (const format of ['json', 'geojson', 'csv']) {
      const answer = await open(id, `format=${format}`)
      assert.equal(answer.statusCode, 200)
      const { text, isWhole } = await readAll(answer)
      assert.equal(isWhole, false, format)
      if (format !== 'csv') assert.throws(() => JSON.parse(text), format)
      const bytes = await rawAnswer(pathOf(id, `format=${format}`))
      assert.match(bytes, /^HTTP\/1\.1 200 /)
      assert.match(bytes, /transfer-encoding: chunked/i)
      assert.ok(!bytes.endsWith('0\r\n\r\n'), format)
      assert.doesNotMatch(bytes, /division/)
    }
    await soon(async () => (await running()) === 0, 'the query goes on')
    await slotsAreFree()
  })

  test('in a later row is 400 as well, as long as nothing has been sent', async () => {
    const id = await create('SELECT 1 / (3000 - g) AS x FROM generate_series(1, 10000) g')
    const answer = await open(id)
    assert.equal(answer.statusCode, 400)
    assert.match((await readAll(answer)).text, /division by zero/)
  })

  test('in any row is 400 on the embedded database, which has all rows before the first is sent', {
    skip: isPostgres,
  }, async () => {
    const id = await create('SELECT 1 / (5000 - g) AS x FROM generate_series(1, 10000) g')
    assert.equal(await statusOf(id), 400)
  })
})

describe('the streams of an application', () => {
  test('have a limit: one more is 429 with Retry-After, and other applications do not notice', async () => {
    const theirs = await create('SELECT 1 AS one', other.developer)
    const held = await Promise.all(Array.from({ length: streams }, () => hold(many)))
    const refused = await open(many)
    assert.equal(refused.statusCode, 429)
    assert.match(String(refused.headers['retry-after']), /^\d+$/)
    const problem = JSON.parse((await readAll(refused)).text)
    assert.equal(problem.code, 'busy')
    assert.equal(problem.detail, `This application already runs ${streams} queries, its limit. Try again in a moment.`)
    assert.equal(await statusOf(theirs, '', other.developer), 200)
    for (const answer of held) answer.destroy()
    await slotsAreFree()
  })

  test(
    'are taken before the first row, so that one query more is told the limit and not that the database is away',
    onPostgres,
    async () => {
      const slow = await create('SELECT count(*) AS n FROM (SELECT generate_series(1, 1000000000000)) g')
      const quick = await create('SELECT 1 AS one')
      const asked = Array.from({ length: streams }, () =>
        get({ port, host: '127.0.0.1', path: pathOf(slow), headers: { 'x-api-key': tenant.developer }, agent: false }),
      )
      for (const request of asked) request.on('error', () => {})
      await soon(async () => (await running()) === streams, 'the queries have not begun')
      for (const query of ['', 'explain=true']) {
        const refused = await open(quick, query)
        assert.equal(refused.statusCode, 429)
        assert.match((await readAll(refused)).text, /already runs 2 queries, its limit/)
      }
      for (const request of asked) request.destroy()
      await soon(async () => (await running()) === 0, 'the queries go on')
      assert.equal(await statusOf(quick), 200)
    },
  )

  test('are waited for by short queries, which all get their turn', async () => {
    const quick = await create('SELECT 1 AS one')
    const statuses = await Promise.all(Array.from({ length: 3 * streams }, () => statusOf(quick)))
    assert.deepEqual(
      statuses,
      statuses.map(() => 200),
    )
  })

  test('are not used up by requests that fail', async () => {
    const fails = await create('SELECT 1 / (5 - g) AS x FROM generate_series(1, 10) g')
    for (let round = 0; round < streams * 3; round++) assert.equal(await statusOf(fails), 400)
    for (let round = 0; round < streams * 3; round++) {
      assert.equal(await statusOf(many, 'filter[nothing]=1'), 400)
    }
    await slotsAreFree()
  })

  test(
    'are all there by default: sixteen slow readers at once, and the seventeenth is refused',
    onPostgres,
    async () => {
      const roomy = await testApp()
      try {
        const { id, developer } = await roomy.tenant('readers')
        await roomy.http.listen({ port: 0, host: '127.0.0.1' })
        const address = { port: (roomy.http.server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }
        const made = await roomy.call('POST', '/api/v1/datasets', {
          key: developer,
          body: { type: 'sql', name: 'a', source: `SELECT g, repeat('x', 1000) AS t FROM generate_series(1, 50000) g` },
        })
        const ask = async (): Promise<IncomingMessage> => {
          const request = { ...address, path: pathOf(made.body.id), headers: { 'x-api-key': developer } }
          const [answer] = (await once(get(request), 'response')) as [IncomingMessage]
          if (answer.statusCode !== 503) return answer
          // Sixteen new connections at once take a busy machine longer than a request waits for one, which it is told to repeat.
          assert.ok(Number(answer.headers['retry-after']) > 0)
          answer.resume()
          return ask()
        }
        const answers = await Promise.all(Array.from({ length: 16 }, ask))
        const last = await ask()
        for (const answer of [...answers, last]) answer.on('error', () => {}).destroy()
        assert.deepEqual(
          answers.map(({ statusCode }) => statusCode),
          Array(16).fill(200),
        )
        assert.equal(last.statusCode, 429)
        await roomy.call('DELETE', `/api/v1/applications/${id}`)
      } finally {
        await roomy.close()
      }
    },
  )
})

describe('a query that takes too long', () => {
  test('is 504 in time, and the server goes on', async () => {
    const id = await create('SELECT count(*) AS n FROM generate_series(1, 1000000000) g')
    const start = performance.now()
    const answer = await open(id, 'timeout=500')
    const { text } = await readAll(answer)
    assert.ok(performance.now() - start < soonMs)
    assert.equal(answer.statusCode, 504, text)
    assert.equal(JSON.parse(text).code, 'query_timeout')
    if (isPostgres) await soon(async () => (await running()) === 0, 'the query goes on')
    await until(async () => {
      const next = await open(many, 'limit=1')
      const { text } = await readAll(next)
      if (next.statusCode === 200) assert.equal(JSON.parse(text).length, 1)
      else assert.equal(next.statusCode, 503, text)
      return next.statusCode === 200
    }, 60_000)
    await slotsAreFree()
  })
})
