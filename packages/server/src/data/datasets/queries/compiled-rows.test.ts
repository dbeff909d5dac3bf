import assert from 'node:assert/strict'
import { get } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { later } from '../../../../testing/processes/clock.ts'
import { immediateClient } from '../../../../testing/requests/immediate.ts'
import { type TileApp, tileApp } from '../../../../testing/tiles.ts'
import { until } from '../../../../testing/until.ts'
import { createRandom } from '../../../../testing/uploads/random.ts'
import { sql } from '../../../kernel/db/sql.ts'
import { listen } from '../../../kernel/events.ts'

// Only a server has lanes, the connections that carry several statements.
const skip = process.env.TEST_DATABASE_URL === undefined ? 'needs a PostgreSQL server' : false
const random = createRandom(Number(process.env.TEST_SEED ?? 1))

let maps: TileApp
let client: Awaited<ReturnType<typeof immediateClient>>
let path: string

before(async () => {
  maps = await tileApp()
  await maps.script(`
    CREATE TABLE places (
      id int PRIMARY KEY, name text, population bigint, share numeric, is_capital boolean, founded timestamptz,
      tags text[], note text, geom geometry(Point, 4326));
    INSERT INTO places SELECT g, 'place "' || g || '" ü', 9007199254740993 + g, g / 7.0, g % 2 = 0,
      timestamptz '2020-01-31 10:00:00.5+00' + g * interval '1 day', ARRAY['a', 'b'], NULL, ST_Point(g, g % 50, 4326)
      FROM generate_series(1, 50) g;
    UPDATE places SET note = repeat('a long note, ', 500) WHERE id = 40;
    UPDATE places SET note = repeat('a very long note, ', 5000) WHERE id = 41;
    CREATE TABLE codes (code text PRIMARY KEY, geom geometry(Polygon, 3857));
    INSERT INTO codes VALUES ('a/b c&d=ü', ST_MakeEnvelope(0, 0, 1000, 1000, 3857)), ('null', NULL), ('7', NULL);
    CREATE TYPE kind AS ENUM ('a', 'b', 'c', 'd', 'e');
    CREATE TABLE ids (id uuid PRIMARY KEY, number int);
    INSERT INTO ids VALUES ('6f0c2d4e-0000-4000-8000-0000000000aa', 1)`)
  client = await immediateClient(maps.app.http)
  path = await pathTo('places')
})
after(async () => {
  client.close()
  await maps.close()
})

const pathTo = async (source: string): Promise<string> => `/api/v1/datasets/${await maps.dataset({ source })}/query`

const keyed = (key = maps.tenant.developer): Record<string, string> => ({ 'x-api-key': key })

describe('a row by its key has the same status, headers and bytes before and behind the framework', { skip }, () => {
  const requests: [what: string, query: string, headers: Record<string, string>][] = [
    ['as JSON', 'filter[id]=7', {}],
    ['as GeoJSON', 'format=geojson&filter[id]=8', {}],
    ['as GeoJSON by Accept', 'filter[id]=9', { accept: 'application/geo+json' }],
    ['with some attributes', 'attributes=name,population&filter%5Bid%5D=10', {}],
    ['without the key among the attributes', 'attributes=name&format=geojson&filter[id]=11', {}],
    ['that does not exist', 'filter[id]=51', {}],
    ['written otherwise', 'filter[id]=%2B12', {}],
    ['that is compressed', 'filter[id]=40', { 'accept-encoding': 'gzip' }],
    ['that could be compressed', 'filter[id]=40', { 'accept-encoding': 'identity' }],
  ]
  for (const [what, query, headers] of requests) {
    test(what, async () => {
      const url = `${path}?${query}`
      const all = { ...keyed(), ...headers }
      const usual = await client.throughFramework(url, all)
      assert.equal(usual.status, 200, `${usual.body}`)
      assert.deepEqual(await client.immediately(url, all), usual)
    })
  }

  test('by texts and UUIDs, and in another reference system', async () => {
    const [codes, ids] = [await pathTo('codes'), await pathTo('ids')]
    const urls = [
      ...['a/b c&d=ü', 'null', '7', "' OR true --"].map(
        (code) => `${codes}?format=geojson&filter[code]=${encodeURIComponent(code)}`,
      ),
      ...['6f0c2d4e-0000-4000-8000-0000000000aa', '6F0C2D4E-0000-4000-8000-0000000000AA'].map(
        (id) => `${ids}?filter[id]=${id}`,
      ),
    ]
    for (const url of urls) {
      const usual = await client.throughFramework(url, keyed())
      assert.deepEqual(await client.immediately(url, keyed()), usual, url)
    }
  })
})

const pick = <T>(items: readonly [T, ...T[]]): T => items[Math.floor(random() * items.length)] ?? items[0]

describe('rows of random tables, keys, forms and moments', { skip }, () => {
  const keys = {
    int: { of: 'n', values: ['1', '7', '+12', '007', '399', '-1', '2147483647', '2147483648', 'x', '', 'null', '1.0'] },
    bigint: { of: 'n * 9007199254740', values: ['9007199254740', '0', '9223372036854775808'] },
    text: { of: `'key ' || n`, values: ['key 1', 'key 7', 'key', 'null', '', 'ü"\\', "' OR true --", '\u{1f5fa}'] },
    uuid: {
      of: `('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid`,
      values: ['00000000-0000-4000-8000-000000000007', '{00000000-0000-4000-8000-000000000008}', '7'],
    },
    date: { of: `date '2020-01-01' + n`, values: ['2020-01-08', '2020-1-8', '2020-02-31', 'infinity'] },
    numeric: { of: 'n / 4.0', values: ['0.25', '1', '1.750', 'NaN', '1e0'] },
    kind: { of: `(ARRAY['a', 'b', 'c', 'd', 'e'])[n]::kind`, values: ['a', 'e', 'z', ''] },
  } as const
  const geometries = [
    'ST_Point(n % 180, n % 80, 4326)::geometry(Point, 4326)',
    'ST_Transform(ST_Point(n % 60, n % 60, 4326), 3857)::geometry(Point, 3857)',
    'CASE WHEN n % 3 > 0 THEN ST_Buffer(ST_Point(n % 60, n % 60, 4326), 1) END',
    'ST_Point(n % 60, n % 60, 4326)::geography',
    'NULL::int',
  ] as const

  async function tableOf(type: string, of: string, rows: number): Promise<string> {
    await maps.script(`
      CREATE TABLE of_${type} AS SELECT (${of})::${type} AS key, n / 3.0 AS share, n * 1e300 AS large, n % 2 = 0 AS even,
        timestamp '2024-02-29' + n * interval '61 seconds' AS at, ARRAY[n, NULL] AS list, jsonb_build_object('n', n) AS doc,
        decode('00ff', 'hex') AS bytes, repeat('text "ü" ', n % 300) AS text, ${pick(geometries)} AS geom
        FROM generate_series(1, ${rows}) n;
      ALTER TABLE of_${type} ADD PRIMARY KEY (key)`)
    return pathTo(`of_${type}`)
  }

  const forms = [
    '',
    '&format=json',
    '&format=geojson',
    '&format=geojson&attributes=share,text',
    '&attributes=list',
  ] as const
  const headersNow = (): Record<string, string> => ({
    ...keyed(),
    'accept-encoding': pick(['identity', 'gzip', 'br', 'zstd, gzip;q=0.5']),
    accept: pick(['application/geo+json', '*/*', 'text/csv', 'application/json']),
  })

  async function compare(path: string): Promise<boolean> {
    const headers = headersNow()
    const usual = await client.throughFramework(path, headers)
    const { isImmediate, ...sent } = await client.ask(path, headers)
    // A problem has the id of its request.
    if (usual.status < 400) assert.deepEqual(sent, usual, path)
    else assert.equal(sent.status, usual.status, path)
    return isImmediate
  }

  for (const [type, { of, values }] of Object.entries(keys))
    test(`with a key of type ${type} are answered alike`, async (t) => {
      const rows = await tableOf(type, of, type === 'kind' ? 5 : 400)
      let quick = 0
      for (let n = 0; n < 60; n++) {
        if (n === 30) await maps.script(`UPDATE of_${type} SET share = 77, text = NULL`)
        if (await compare(`${rows}?filter[key]=${encodeURIComponent(pick(values))}${pick(forms)}`)) quick++
      }
      t.diagnostic(`${quick} of 60 without the framework`)
      assert.ok(quick >= 10, `only ${quick} of 60 took the short cut`)
    })
})

describe('a request that only looks like one for a row by its key goes the usual way:', { skip }, () => {
  const requests: [what: string, query: string, status: number][] = [
    ['another attribute', 'filter[name]=none', 200],
    ['null', 'filter[id]=null', 200],
    ['an operator', 'filter[id][$gt]=49', 200],
    ['a second condition', 'filter[id]=7&filter[is_capital]=true', 200],
    ['two values', 'filter[id]=7&filter[id]=8', 200],
    ['a limit', 'filter[id]=7&limit=0', 200],
    ['another format', 'filter[id]=7&format=csv', 200],
    ['a download', 'filter[id]=7&filename=a.json', 200],
    ['a count', 'filter[id]=7&count=exact', 200],
    ['a plan', 'filter[id]=7&explain=true', 200],
    ['a key in the address', `filter[id]=7&api-key=KEY`, 200],
    ['a row that is longer than a piece of a stream', 'filter[id]=41', 200],
    ['no number', 'filter[id]=seven', 400],
    ['a number that is too large', 'filter[id]=99999999999999999999', 400],
    ['an unknown parameter', 'filter[id]=7&colour=red', 400],
    ['a filter in another language', 'filter-lang=cql2-text&filter=id=7', 200],
  ]
  for (const [what, query, status] of requests) {
    test(what, async () => {
      await client.immediately(`${path}?filter[id]=1`, keyed())
      const url = `${path}?${query.replace('KEY', maps.tenant.developer)}`
      const all = query.includes('KEY') ? {} : keyed()
      for (let attempt = 0; attempt < 2; attempt++) {
        const { isImmediate, ...sent } = await client.ask(url, all)
        assert.equal(isImmediate, false)
        assert.equal(sent.status, status, `${sent.body}`)
      }
    })
  }
})

describe('a row by its key is', { skip }, () => {
  const url = (id = 7) => `${path}?filter[id]=${id}`

  test('as it is now', async () => {
    for (const name of ['one', 'two']) {
      await maps.script(`UPDATE places SET name = '${name}' WHERE id = 13`)
      const { body } = await client.immediately(url(13), keyed())
      assert.equal(JSON.parse(`${body}`)[0].name, name)
    }
  })

  test('answered the usual way after the table lost a column', async () => {
    await maps.script('CREATE TABLE losing (id int PRIMARY KEY, a int, b int); INSERT INTO losing VALUES (1, 2, 3)')
    const losing = `${await pathTo('losing')}?filter[id]=1`
    for (let count = 0; count < 3; count++) await client.immediately(losing, keyed())
    await maps.script('ALTER TABLE losing DROP COLUMN b')
    const { isImmediate, status, body } = await client.ask(losing, keyed())
    assert.deepEqual([isImmediate, status], [false, 400], `${body}`)
    assert.match(`${body}`, /column.*does not exist/)
  })

  test('read again by the same connection after the type of a column was changed', async () => {
    await maps.script('CREATE TABLE retyped (id int PRIMARY KEY, a int); INSERT INTO retyped VALUES (1, 2)')
    const retyped = `${await pathTo('retyped')}?filter[id]=1`
    await client.immediately(retyped, keyed())
    await maps.script('ALTER TABLE retyped ALTER a TYPE bigint')
    for (let n = 0; n < 3; n++) {
      const { status, body } = await client.overSocket(retyped, keyed())
      assert.deepEqual([status, `${body}`], [200, '[{"id":1,"a":2}]\n'])
    }
    await client.immediately(retyped, keyed())
  })

  test('answered as before after its record was read again and had not changed, and anew if it had', async () => {
    const key = maps.tenant.developer
    await maps.script('CREATE TABLE renamed (id int PRIMARY KEY, a int); INSERT INTO renamed VALUES (1, 2)')
    const id = await maps.dataset({ source: 'renamed' })
    const renamed = `/api/v1/datasets/${id}/query?filter[id]=1`
    await client.immediately(renamed, keyed())
    await until(async () => {
      later(1_000)
      // Reads the record.
      await client.ask(`/api/v1/datasets/${id}/query?filter[a]=2`, keyed())
      return (await client.ask(renamed, keyed())).isImmediate
    })
    const body = { source: 'codes' }
    assert.equal((await maps.app.call('PATCH', `/api/v1/datasets/${id}`, { key, body })).status, 200)
    assert.equal((await client.overSocket(renamed, keyed())).status, 400, 'codes have no id')
  })

  test('given to others while one asks for keys that no key can be', async () => {
    await maps.script(
      "CREATE TYPE mood AS ENUM ('good'); CREATE TABLE moods (mood mood PRIMARY KEY); INSERT INTO moods VALUES ('good')",
    )
    const moods = await pathTo('moods')
    const good = `${moods}?filter[mood]=good`
    await client.immediately(good, keyed())
    const asked = Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? good : `${moods}?filter[mood]=bad`))
    const sessions = (): Promise<unknown[]> =>
      maps.app.admin.query(sql`
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = ${maps.schema} ORDER BY 1`)
    const before = await sessions()
    const answers = await Promise.all(asked.map((one) => fetch(`${client.address}${one}`, { headers: keyed() })))
    for (const [n, answer] of answers.entries())
      assert.equal(answer.status, n % 2 === 0 ? 200 : 400, await answer.text())
    const now = JSON.stringify(await sessions())
    for (const session of before) assert.ok(now.includes(JSON.stringify(session)), 'a connection was lost')
  })

  test('counted once by the limit of the rate, whichever way it takes in the end', async () => {
    const limited = await tileApp({ REQUESTS_PER_SECOND: '100' })
    const asking = await immediateClient(limited.app.http)
    const headers = { 'x-api-key': limited.tenant.developer }
    await limited.script(`CREATE TABLE long AS SELECT n AS id, repeat('a', n * 70000) AS text FROM generate_series(0, 1) n;
      ALTER TABLE long ADD PRIMARY KEY (id)`)
    const long = `/api/v1/datasets/${await limited.dataset({ source: 'long' })}/query?filter[id]=`
    await asking.immediately(`${long}0`, headers)
    // A query counts as four requests, and twice the rate may come at once.
    for (let n = 0; n < 40; n++) assert.equal((await asking.overSocket(`${long}1`, headers)).status, 200)
    asking.close()
    await limited.close()
  })

  test('not found once its dataset is deleted', async () => {
    const id = await maps.dataset({ source: 'ids' })
    const gone = `/api/v1/datasets/${id}/query?filter[id]=6f0c2d4e-0000-4000-8000-0000000000aa`
    await client.immediately(gone, keyed())
    await maps.app.call('DELETE', `/api/v1/datasets/${id}?keepData=true`, { key: maps.tenant.developer })
    assert.equal((await client.overSocket(gone, keyed())).status, 404)
  })

  test('refused without a key, to an unknown one, to a deleted one, and to one that may not ask', async () => {
    const make = async (permissions: object): Promise<string> => {
      const body = { type: 'app', permissions }
      return (await maps.app.call('POST', '/api/v1/apikeys', { key: maps.tenant.developer, body })).body.id
    }
    const [reader, deleted] = [await make({ datasets: { read: '*' } }), await make({ '*': { '*': '*' } })]
    await client.immediately(url(), keyed(deleted))
    await maps.app.call('DELETE', `/api/v1/apikeys/${deleted}`, { key: maps.tenant.developer })
    for (const headers of [{}, keyed(crypto.randomUUID()), keyed(deleted), keyed(reader)])
      assert.equal((await client.overSocket(url(), headers)).status, 401)
  })

  test('not found with a key of another application', async () => {
    await client.immediately(url(), keyed())
    const stranger = await maps.app.tenant('strangers')
    for (let attempt = 0; attempt < 3; attempt++)
      assert.equal((await client.overSocket(url(), keyed(stranger.developer))).status, 404)
  })

  test('given up when its client leaves', {
    skip: !process.env.TEST_DATABASE_URL && 'the embedded database has one session',
  }, async () => {
    const running = async (): Promise<number> => {
      const found = await maps.app.admin.query(sql`
        SELECT 1 FROM pg_stat_activity WHERE query LIKE '%"places"%' AND wait_event_type = 'Lock' AND state = 'active'
          AND datname = current_database()`)
      return found.length
    }
    const answered: number[] = []
    const stop = listen('request', ({ status }) => answered.push(status))
    const isGivenUp = (): Promise<boolean> =>
      maps.app.db.transaction(async (tx) => {
        await tx.script(`LOCK TABLE ${maps.schema}.places`)
        let isOver = false
        const request = get(`${client.address}${url()}`, { headers: keyed() }, () => {
          isOver = true
        }).on('error', () => {})
        await until(async () => isOver || (await running()) > 0)
        if (isOver) return false
        assert.equal(maps.app.services.slots.taken, 1)
        const before = answered.length
        request.destroy()
        const isOut = async () => (await running()) === 0 && answered.length > before
        // Work in the background may wait for the table as well, for as long as it is locked.
        const hasEnded = await until(isOut, 20_000).then(
          () => true,
          () => false,
        )
        return hasEnded && answered.at(-1) === 499
      })
    // On a busy machine what is cached of the table may expire first; finding it locked is answered with 503.
    await until(async () => {
      await client.immediately(url(), keyed())
      return isGivenUp()
    })
    await until(() => maps.app.services.slots.taken === 0)
    stop()
  })
})
