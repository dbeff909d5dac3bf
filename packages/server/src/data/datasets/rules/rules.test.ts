import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type EditWorld, editWorld, faultsOf } from '../../../../testing/editing.ts'
import type { TestUser } from '../../../../testing/harness.ts'

// Each customer sees their parcels: what rules leave of a dataset, at the doors that lead to its rows.

let world: EditWorld
let id: string
type Headers = { authorization: string }
const users = {} as Record<'ada' | 'bob' | 'clerk' | 'chief' | 'nobody', Headers>

before(async () => {
  world = await editWorld(
    `
    CREATE TABLE plots (canton int, number int, owner text, PRIMARY KEY (canton, number));
    INSERT INTO plots SELECT n % 2, n, 'ada@example.org' FROM generate_series(1, 20) AS n;
    CREATE TABLE parcels (
      id int PRIMARY KEY, owner text, town text NOT NULL, price int, note text, geom geometry(Point, 4326));
    INSERT INTO parcels
      SELECT n, CASE WHEN n % 3 = 0 THEN NULL WHEN n % 2 = 0 THEN 'ada@example.org' ELSE 'bob@example.org' END,
        CASE WHEN n <= 20 THEN 'Bern' ELSE 'Thun' END, n * 100, 'note ' || n, ST_Point(7 + n * 0.01, 47, 4326)
      FROM generate_series(1, 40) AS n;
    CREATE INDEX ON parcels USING gist (geom); ANALYZE parcels`,
    { EGRESS_ALLOW: '127.0.0.1:*' },
  )
  id = await world.dataset('parcels')
  const people: [keyof typeof users, object][] = [
    ['ada', { email: 'ada@example.org', roles: ['customer'], metadata: { town: 'Bern' } }],
    ['bob', { email: 'bob@example.org', roles: ['customer'] }],
    ['clerk', { email: 'clerk@example.org', roles: ['clerk'], metadata: { town: 'Thun' } }],
    ['chief', { email: 'chief@example.org', roles: ['chief'] }],
    ['nobody', { email: 'nobody@example.org' }],
  ]
  for (const [name, rest] of people) {
    const user: TestUser = await world.app.user(world.tenant.id, rest)
    users[name] = (await world.app.login(user)).headers
  }
  const roles = ['customer']
  await rule([
    { roles, levels: ['read'], where: { owner: '$user.email' } },
    { roles, levels: ['change'], where: { owner: '$user.email' }, attributes: ['note'] },
    {
      ...{ roles, levels: ['append'], where: { owner: '$user.email' } },
      ...{ attributes: ['id', 'town', 'note', 'geom'], set: { owner: '$user.email' } },
    },
    { roles, levels: ['delete'], where: { owner: '$user.email', town: 'Thun' } },
    { roles: ['clerk'], levels: ['read'], where: { town: '$user.metadata.town' }, attributes: ['id', 'town', 'geom'] },
    { roles: ['chief'], levels: ['read', 'append', 'change', 'delete'] },
  ])
})
after(() => world.close())

/** To ada; by the interface, which forgets what it knew of her. */
async function giveRoles(roles: string[]): Promise<void> {
  const [ada] = (await world.call('GET', '/api/v1/auth/users?filter[email]=ada@example.org')).body
  const reply = await world.call('PATCH', `/api/v1/auth/users/${ada.id}`, { body: { roles } })
  assert.equal(reply.status, 200, reply.text)
}

async function rule(rules: object[] | null, rest: object = {}) {
  const reply = await world.call('PATCH', `/api/v1/datasets/${id}`, { body: { rules, ...rest } })
  assert.equal(reply.status, 200, reply.text)
}

const as = (who: keyof typeof users, method: string, path: string, request: object = {}) =>
  world.call(method, path, { headers: users[who], ...request })
const rowsOf = async (who: keyof typeof users, query = '') => {
  const reply = await as(who, 'GET', `/api/v1/datasets/${id}/query?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as Record<string, unknown>[]
}
const numbers = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => row.id).sort((a, b) => Number(a) - Number(b))

const adas = [2, 4, 8, 10, 14, 16, 20, 22, 26, 28, 32, 34, 38, 40]

describe('rows', () => {
  test('are those of the rules that fit; none where no rule fits; all for keys without a user', async () => {
    assert.deepEqual(numbers(await rowsOf('ada')), adas)
    assert.deepEqual(numbers(await rowsOf('nobody')), [])
    assert.equal((await rowsOf('chief')).length, 40)
    assert.equal((await world.rows('parcels')).length, 40)
    assert.deepEqual(
      numbers(await rowsOf('ada', 'filter[town]=Thun')),
      adas.filter((n) => n > 20),
    )
    assert.deepEqual(numbers(await rowsOf('ada', 'filter[owner]=bob@example.org')), [])
    assert.deepEqual(numbers(await rowsOf('ada', 'filter={"$not":{"owner":"ada@example.org"}}')), [])
  })

  test('are counted, grouped, sorted and paged as if there were no others', async () => {
    const counted = await as('ada', 'GET', `/api/v1/datasets/${id}/query?count=exact&limit=3&sort=-id`)
    assert.equal(counted.headers['x-total-count'], '14')
    assert.deepEqual(
      counted.body.map((row: { id: number }) => row.id),
      [40, 38, 34],
    )
    const estimated = await as('ada', 'GET', `/api/v1/datasets/${id}/query?count=estimated&limit=3`)
    assert.equal(estimated.headers['x-total-count'], '14')
    const grouped = await as('ada', 'POST', `/api/v1/datasets/${id}/query`, {
      body: { attributes: ['town', 'count(*) as n', 'max(price) as most'], group: ['town'], order: ['town'] },
    })
    assert.deepEqual(grouped.body, [
      { town: 'Bern', n: 7, most: 2000 },
      { town: 'Thun', n: 7, most: 4000 },
    ])
    const cells = await as('ada', 'GET', `/api/v1/datasets/${id}/query?aggregate=h3:1`)
    assert.equal(
      cells.body.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
      14,
    )
    const statistics = await as('ada', 'GET', `/api/v1/datasets/${id}/attributes/price/statistics`)
    assert.deepEqual([statistics.body.count, statistics.body.min, statistics.body.max], [14, 200, 4000])
    const plan = await as('ada', 'GET', `/api/v1/datasets/${id}/query?explain=true`)
    assert.deepEqual(Object.keys(plan.body.plan), ['hidden'])
  })

  test('of both rules are seen by whom both fit, each attribute in the rows whose rule shows it', async () => {
    await giveRoles(['customer', 'clerk'])
    const rows = await rowsOf('ada', 'sort=id')
    const bern = Array.from({ length: 20 }, (_, n) => n + 1)
    assert.deepEqual(numbers(rows), [...bern, ...adas.filter((n) => n > 20)])
    for (const row of rows) assert.equal(row.price, adas.includes(Number(row.id)) ? Number(row.id) * 100 : null)
    assert.deepEqual(numbers(await rowsOf('ada', 'filter[price][$gte]=0')), adas)
    assert.equal((await rowsOf('ada', 'filter={"price":{"$is":null}}')).length, 13)
    const tile = await as('ada', 'GET', `/tiles/${id}/0/0/0.geojson`)
    assert.equal(tile.status, 200, tile.text)
    const seen = tile.body.features.map(
      ({ properties }: { properties: { price?: number } }) => properties.price ?? null,
    )
    assert.deepEqual([seen.length, seen.filter((price: unknown) => price !== null).length], [27, 14])
    await giveRoles(['customer'])
  })
})

describe('attributes that are hidden', () => {
  test('leave no key of their other part', async () => {
    const plots = await world.dataset('plots')
    await world.call('PATCH', `/api/v1/datasets/${plots}`, {
      body: { rules: [{ levels: ['read'], attributes: ['canton', 'owner'] }] },
    })
    const ask = (rest: string) => as('ada', 'GET', `/api/v1/datasets/${plots}/${rest}`)
    assert.equal((await ask('query?limit=50')).body.length, 20)
    assert.equal((await ask('query?limit=3&cursor=')).status, 400)
    const row = await ask('rows/1')
    assert.deepEqual([row.status, row.body.code], [409, 'conflict'], row.text)
    const geojson = await ask('query?format=geojson&limit=2')
    for (const feature of geojson.body.features) assert.equal(feature.id, undefined)
  })

  test('are unknown names', async () => {
    const [row] = await rowsOf('clerk', 'filter[id]=21')
    assert.deepEqual(Object.keys(row ?? {}), ['id', 'town', 'geom'])
    for (const query of ['attributes=price', 'filter[price]=100', 'sort=price', 'attributes=max(price)']) {
      const reply = await as('clerk', 'GET', `/api/v1/datasets/${id}/query?${query}`)
      const absent = await as('clerk', 'GET', `/api/v1/datasets/${id}/query?${query.replace('price', 'prices')}`)
      assert.equal(reply.status, 400)
      assert.deepEqual(
        faultsOf(reply),
        faultsOf(absent).map((fault) => fault.replaceAll('prices', 'price')),
        query,
      )
    }
    assert.equal((await as('clerk', 'GET', `/api/v1/datasets/${id}/attributes/price/statistics`)).status, 404)
    const record = await as('clerk', 'GET', `/api/v1/datasets/${id}`)
    assert.deepEqual(
      record.body.attributes.map(({ name }: { name: string }) => name),
      ['id', 'town', 'geom'],
    )
    assert.deepEqual([record.body.rules, record.body.rowEstimate], [null, null])
    const whole = await world.call('GET', `/api/v1/datasets/${id}`)
    assert.equal(whole.body.rules.length, 6)
    assert.equal(whole.body.attributes.length, 6)
  })
})

describe('tiles, features, files and single rows', () => {
  test('have the same rows', async () => {
    for (const [who, expected] of [
      ['ada', adas],
      ['nobody', []],
      ['ada', adas],
    ] as const) {
      const tile = await as(who, 'GET', `/tiles/${id}/0/0/0.geojson`)
      assert.deepEqual(numbers((tile.body?.features ?? []).map((one: { id: number }) => one)), [...expected], who)
      const items = await as(who, 'GET', `/ogc/collections/${id}/items?limit=100`)
      assert.equal(items.body.numberMatched, expected.length)
      assert.deepEqual(numbers(items.body.features), [...expected])
      for (const format of ['csv', 'geojson']) {
        const file = await as(who, 'GET', `/api/v1/datasets/${id}/query?format=${format}&filename=parcels.${format}`)
        assert.equal((file.text.match(/@example\.org/g) ?? []).length, expected.length, format)
      }
    }
    const whole = await world.call('GET', `/tiles/${id}/0/0/0.geojson`)
    assert.equal(whole.body.features.length, 40)
    const described = await as('ada', 'GET', `/tiles/${id}/index.json`)
    assert.deepEqual(described.body.bounds.map(Math.round), [-180, -85, 180, 85])
  })

  test('are in no shared cache, whatever the tile source says', async () => {
    const headers = { 'cache-control': 'public, max-age=60', 'x-map': 'parcels' }
    const made = await world.call('POST', '/api/v1/tilesources', { body: { type: 'dataset', source: id, headers } })
    for (const who of [{ headers: users.ada }, {}]) {
      const tile = await world.call('GET', `/tiles/${made.body.id}/0/0/0.mvt`, who)
      assert.deepEqual([tile.headers['cache-control'], tile.headers['x-map']], ['private, no-cache', 'parcels'])
    }
  })

  test('that are hidden are not there', async () => {
    const path = `/api/v1/datasets/${id}/rows`
    assert.equal((await as('ada', 'GET', `${path}/2`)).body.note, 'note 2')
    const hidden = await as('ada', 'GET', `${path}/1`)
    const absent = await as('ada', 'GET', `${path}/1000`)
    assert.deepEqual([hidden.status, hidden.body.detail], [404, absent.body.detail])
    assert.equal((await as('ada', 'GET', `/ogc/collections/${id}/items/1`)).status, 404)
    assert.equal((await as('ada', 'GET', `/ogc/collections/${id}/items/2`)).status, 200)
  })
})

describe('writes', () => {
  const path = () => `/api/v1/datasets/${id}/rows`

  test('change what a rule allows, and nothing that would leave it', async () => {
    const change = (key: number, body: object) => as('ada', 'PATCH', `${path()}/${key}`, { body })
    assert.equal((await change(2, { note: 'mine' })).status, 200)
    assert.equal((await world.rows('parcels', 'filter[id]=2'))[0]?.note, 'mine')
    assert.equal((await change(1, { note: 'yours' })).status, 404)
    assert.equal((await change(2, { price: 1 })).status, 403)
    assert.equal((await change(2, { owner: 'bob@example.org' })).status, 403)
    assert.equal((await as('clerk', 'PATCH', `${path()}/21`, { body: { note: 'x' } })).status, 403)
    const many = await as('ada', 'PATCH', `${path()}?filter={}&expect=14`, { body: { note: 'all mine' } })
    assert.deepEqual([many.status, many.body.count], [200, 14])
    assert.equal((await world.rows('parcels', 'filter[note]=all mine')).length, 14)
  })

  test('add rows with what the server sets', async () => {
    const added = await as('ada', 'POST', path(), {
      body: { id: 100, town: 'Bern', note: 'new', owner: 'bob@example.org' },
    })
    assert.deepEqual([added.status, added.body], [201, { count: 1, keys: [100] }], added.text)
    assert.equal((await world.rows('parcels', 'filter[id]=100'))[0]?.owner, 'ada@example.org')
    const refused = await as('ada', 'POST', path(), { body: { id: 101, town: 'Bern', price: 5 } })
    assert.equal(refused.status, 403, refused.text)
    assert.equal((await as('clerk', 'POST', path(), { body: { id: 102, town: 'Thun' } })).status, 403)
    const taken = await as('ada', 'POST', path(), { body: { id: 1, town: 'Bern' } })
    assert.equal(taken.status, 409)
    assert.doesNotMatch(taken.text, /bob/)
  })

  test('set a text that begins with a dollar, written with two', async () => {
    const plots = await world.dataset('plots')
    const rules = [{ levels: ['append'], set: { owner: '$$user.email' } }]
    await world.call('PATCH', `/api/v1/datasets/${plots}`, { body: { rules } })
    const added = await as('ada', 'POST', `/api/v1/datasets/${plots}/rows`, { body: [{ canton: 9, number: 99 }] })
    assert.equal(added.status, 201, added.text)
    assert.equal((await world.rows('plots', 'filter[canton]=9'))[0]?.owner, '$user.email')
  })

  test('delete rows of the rule', async () => {
    assert.equal((await as('ada', 'DELETE', `${path()}/2`)).status, 403)
    assert.equal((await as('ada', 'DELETE', `${path()}/1`)).status, 404)
    assert.equal((await as('ada', 'DELETE', `${path()}/40`)).status, 200)
    assert.equal((await as('ada', 'DELETE', `${path()}?filter={}&expect=14`)).status, 403)
    assert.equal((await world.rows('parcels', 'filter[id]=40')).length, 0)
  })

  test('of the record are not for those whom rules bind', async () => {
    const record = `/api/v1/datasets/${id}`
    assert.equal((await as('ada', 'PATCH', record, { body: { rules: null } })).status, 403)
    assert.equal((await as('ada', 'PUT', `${record}/metadata/x`, { body: 1 })).status, 403)
    assert.equal((await as('ada', 'DELETE', record)).status, 403)
    assert.equal((await as('ada', 'POST', `${record}/columns`, { body: { name: 'x', type: 'string' } })).status, 403)
    assert.equal((await as('chief', 'PATCH', record, { body: { description: 'of the chief' } })).status, 200)
  })
})

describe('rules', () => {
  test('are refused where they name what there is not', async () => {
    const bad: [object, RegExp][] = [
      [{ levels: ['read'], where: { owners: '$user.email' } }, /rules\/0\/where\/owners.*owner/],
      [{ levels: ['read'], where: { owner: '$user.mail' } }, /rules\/0\/where\/owner/],
      [{ levels: ['read'], where: { owner: { $foo: '$user.email' } } }, /\$foo/],
      [{ levels: ['read'], attributes: ['prices'] }, /rules\/0\/attributes\/0/],
      [{ levels: ['append'], set: { owners: 1 } }, /rules\/0\/set\/owners/],
      [{ levels: ['read'], set: { owner: 1 } }, /rules\/0\/set/],
      [{ levels: [] }, /levels/],
      [{ levels: ['write'] }, /levels/],
    ]
    for (const [one, message] of bad) {
      const reply = await world.call('PATCH', `/api/v1/datasets/${id}`, { body: { rules: [one] } })
      assert.equal(reply.status, 400, JSON.stringify(one))
      assert.match(faultsOf(reply).join(), message)
    }
  })

  test('follow a column that has another name', async () => {
    const rename = async (from: string, to: string) => {
      const reply = await world.call('PATCH', `/api/v1/datasets/${id}/columns/${from}`, { body: { name: to } })
      assert.equal(reply.status, 200, reply.text)
    }
    await rename('owner', 'keeper')
    assert.equal((await rowsOf('ada')).length, 14)
    const { rules } = (await world.call('GET', `/api/v1/datasets/${id}`)).body
    assert.deepEqual([rules[0].where, rules[2].set], [{ keeper: '$user.email' }, { keeper: '$user.email' }])
    await rename('keeper', 'owner')
  })

  test('are tried as a user, before they are stored', async () => {
    const tryAs = async (body: object) => {
      const reply = await world.call('POST', `/api/v1/datasets/${id}/rules/try`, { body })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    }
    const [bob] = (await world.call('GET', '/api/v1/auth/users?filter[email]=bob@example.org')).body
    const stored = await tryAs({ userId: bob.id })
    assert.deepEqual([stored.count, stored.mayAppend, stored.mayChange, stored.attributes.length], [13, true, 13, 6])
    const rules = [
      { roles: ['guest'], levels: ['read', 'delete'], where: { town: '$user.metadata.town' }, attributes: ['id'] },
    ]
    const guest = await tryAs({ rules, user: { roles: ['guest'], metadata: { town: 'Thun' } } })
    assert.deepEqual([guest.count, guest.attributes, guest.mayAppend, guest.mayDelete], [19, ['id'], false, 19])
    assert.deepEqual(Object.keys(guest.rows[0]), ['id'])
    assert.deepEqual((await tryAs({ rules })).count, 0)
    const bad = await world.call('POST', `/api/v1/datasets/${id}/rules/try`, {
      body: { rules: [{ levels: ['read'], where: { x: 1 } }] },
    })
    assert.equal(bad.status, 400)
    assert.equal((await as('ada', 'POST', `/api/v1/datasets/${id}/rules/try`, { body: {} })).status, 403)
  })

  test('bind keys without a user only if the dataset says so', async () => {
    await rule([{ users: 'anyone', levels: ['read'], where: { town: 'Bern' }, attributes: ['id', 'town'] }], {
      rulesFor: 'all',
    })
    const seen = await world.call('GET', `/api/v1/datasets/${id}/query`, { key: world.tenant.public })
    assert.deepEqual([seen.body.length, Object.keys(seen.body[0])], [21, ['id', 'town']])
    const record = await world.call('GET', `/api/v1/datasets/${id}`, { key: world.tenant.public })
    assert.deepEqual([record.body.rules, record.body.attributes.length], [null, 2])
    assert.equal((await world.call('GET', `/api/v1/datasets/${id}`)).body.rules.length, 1)
    await rule(null, { rulesFor: 'users' })
    assert.ok((await rowsOf('nobody')).length > 30)
  })
})

describe('rows that a web service sends', () => {
  let service: Server
  let place: string
  const people = [
    { id: 1, owner: 'ada@example.org', town: 'Bern', price: 10 },
    { id: 2, owner: 'bob@example.org', town: 'Thun', price: 20 },
    { id: 3, owner: 'bob@example.org', town: 'Bern', price: 30 },
  ]
  before(async () => {
    service = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(people)),
    ).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const source = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`
    const made = await world.call('POST', '/api/v1/datasets', { body: { type: 'rest', name: 'people', source } })
    assert.equal(made.status, 201, made.text)
    place = made.body.id
  })
  after(() => service.close())

  const asked = async (query: string) => {
    const reply = await as('ada', 'GET', `/api/v1/datasets/${place}/query?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const give = async (rules: object[]) => {
    const reply = await world.call('PATCH', `/api/v1/datasets/${place}`, { body: { rules } })
    assert.equal(reply.status, 200, reply.text)
  }

  test('are those of the rules, each attribute in the rows whose rule shows it', async () => {
    await give([{ levels: ['read'], where: { owner: '$user.email' } }])
    assert.deepEqual(await asked('sort=id'), [people[0]])
    await give([
      { levels: ['read'], where: { owner: '$user.email' } },
      { levels: ['read'], where: { town: 'Bern' }, attributes: ['id', 'town'] },
    ])
    assert.deepEqual(await asked('sort=id'), [people[0], { id: 3, owner: null, town: 'Bern', price: null }])
    assert.deepEqual(await asked('attributes=id&filter[price][$gte]=0'), [{ id: 1 }])
    assert.deepEqual(await asked('attributes=count(*) as n,sum(price) as total'), [{ n: 2, total: 10 }])
    const statistics = await as('ada', 'GET', `/api/v1/datasets/${place}/attributes/price/statistics`)
    assert.deepEqual([statistics.body.count, statistics.body.max], [1, 10])
  })
})
