import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { linkOf, type OgcReplyLink, type OgcWorld, ogcWorld } from '../../../testing/ogc-world.ts'
import { ident, sql } from '../../kernel/db/sql.ts'

let world: OgcWorld
before(async () => {
  world = await ogcWorld()
})
after(() => world.close())

const crs84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const idsIn = (body: { features: { id: unknown }[] }) => body.features.map(({ id }) => id)
const items = (query = '', collection = 'cities') => world.get(`/collections/${collection}/items${query}`)

async function walk(query: string, collection = 'cities') {
  const pages: { id: unknown; properties: Record<string, unknown> }[][] = []
  let next: string | undefined = `/collections/${collection}/items${query}`
  while (next !== undefined) {
    const { status, body, text } = await world.get(next)
    assert.equal(status, 200, text)
    assert.equal(body.numberReturned, body.features.length)
    pages.push(body.features)
    assert.ok(pages.length < 200, 'the walk ends')
    next = linkOf(body.links, 'next')?.href
  }
  return pages
}

describe('the landing page', () => {
  test('is at /ogc and /ogc/ and leads to the API definition, the conformance classes and the collections', async () => {
    for (const path of ['', '/']) {
      const { status, type, body } = await world.get(path)
      assert.equal(status, 200)
      assert.match(type, /^application\/json/)
      for (const rel of ['self', 'alternate', 'service-desc', 'service-doc', 'conformance', 'data']) {
        const link = linkOf(body.links, rel)
        assert.ok(link?.href.startsWith(`${world.root}`) && link.type, rel)
      }
    }
  })

  test('describes the API as OpenAPI 3.0 with the paths and parameters that clients look for', async () => {
    const { body: landing } = await world.get('')
    const { href = '', type = '' } = linkOf(landing.links, 'service-desc') ?? {}
    assert.equal(type, 'application/vnd.oai.openapi+json;version=3.0')
    const reply = await world.get(href, { accept: type })
    assert.equal(reply.type.replaceAll(' ', ''), type)
    const { openapi, servers, paths, components } = reply.body
    assert.match(openapi, /^3\.0\./)
    assert.deepEqual(servers, [{ url: world.root }])
    for (const path of ['/', '/conformance', '/collections', '/collections/{collectionId}', '/api']) {
      assert.ok(paths[path]?.get.responses['200'].description, path)
    }
    const { parameters } = paths['/collections/{collectionId}/items'].get
    assert.ok(paths['/collections/{collectionId}/items/{featureId}'])
    for (const name of ['limit', 'bbox', 'datetime', 'crs', 'bbox-crs', 'resultType', 'collectionId']) {
      assert.ok(
        parameters.some(({ $ref }: { $ref: string }) => $ref === `#/components/parameters/${name}`),
        name,
      )
    }
    const { limit, bbox, datetime } = components.parameters
    assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, maximum: 10_000, default: 10 })
    assert.deepEqual(bbox.schema, { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } })
    for (const { style, explode } of [limit, bbox, datetime]) assert.deepEqual([style, explode], ['form', false])
    const references = [...reply.text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path)
    for (const path of references) {
      assert.ok(
        path.split('/').reduce((node, part) => node?.[part], reply.body),
        path,
      )
    }
    const operationIds = [...reply.text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id)
    assert.equal(new Set(operationIds).size, operationIds.length)
  })

  test('declares conformance', async () => {
    const { body } = await world.get('/conformance')
    assert.ok(body.conformsTo.includes('http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'))
  })
})

describe('collections', () => {
  test('are the datasets of the key’s application, each as on its own page', async () => {
    const { body } = await world.get('/collections')
    assert.deepEqual(
      body.collections.map(({ title }: { title: string }) => title),
      ['cities', 'grid', 'plain', 'view', 'zones'],
    )
    assert.equal(linkOf(body.links, 'self')?.type, 'application/json')
    for (const listed of body.collections) {
      const { status, body: single } = await world.get(linkOf(listed.links, 'self')?.href ?? '')
      assert.equal(status, 200)
      assert.deepEqual(single, listed)
      assert.equal(linkOf(listed.links, 'items')?.type, 'application/geo+json')
      assert.ok(listed.crs.includes(crs84))
      if (listed.storageCrs) assert.ok(listed.crs.includes(listed.storageCrs))
    }
  })

  test('are found by their id and by their slug', async () => {
    for (const name of [world.ids.cities, 'cities', world.ids.cities.toUpperCase()]) {
      const { body } = await world.get(`/collections/${name}`)
      assert.equal(body.id, 'cities')
    }
    assert.equal((await world.get('/collections/nothing')).status, 404)
    assert.equal((await world.get(`/collections/${world.own.id}`)).status, 404)
  })

  test('have their ids where two have the same slug', async () => {
    const source = { type: 'sql', source: 'SELECT 1 AS one', metadata: { slug: 'twin' } }
    const twins = [await world.create({ ...source, name: 'twin a' }), await world.create({ ...source, name: 'twin b' })]
    const { body } = await world.get('/collections')
    const listed = body.collections.map(({ id }: { id: string }) => id)
    for (const id of twins) assert.ok(listed.includes(id))
    assert.equal((await world.get('/collections/twin')).status, 404)
    for (const id of twins) await world.app.call('DELETE', `/api/v1/datasets/${id}`, { key: world.own.developer })
  })

  test('are only those that the key may both read and execute', async () => {
    const { cities, grid, zones } = world.ids
    const permissions = { datasets: { read: [cities, zones], execute: [grid, zones] } }
    const key = await world.app.key(world.own.id, permissions)
    const as = { 'x-api-key': key }
    const { body } = await world.get('/collections', as)
    assert.deepEqual(
      body.collections.map(({ id }: { id: string }) => id),
      ['zones'],
    )
    assert.equal((await world.get('/collections/zones/items', as)).status, 200)
    assert.equal((await world.get('/collections/cities', as)).status, 404)
    assert.equal((await world.get(`/collections/${cities}/items`, as)).status, 401)
    // The row is cached for whoever may execute it.
    const query = `${world.root.replace('/ogc', '')}/api/v1/datasets/${grid}/query?limit=1`
    assert.equal((await world.get(query, as)).status, 200)
    assert.equal((await world.get(`/collections/${grid}/items`, as)).status, 404)
    const reader = await world.app.key(world.own.id, { datasets: { read: '*' } })
    assert.equal((await world.get('/collections', { 'x-api-key': reader })).status, 401)
  })

  test('leave out datasets that need parameters', async () => {
    const id = await world.create({ type: 'sql', name: 'asks', source: 'SELECT :who AS who' })
    const { text } = await world.get('/collections')
    assert.ok(!text.includes(id))
    await world.app.call('DELETE', `/api/v1/datasets/${id}`, { key: world.own.developer })
  })

  test('come in pages', async () => {
    const seen: string[] = []
    let next: string | undefined = '/collections?limit=2'
    while (next !== undefined) {
      const { body } = await world.get(next)
      seen.push(...body.collections.map(({ title }: { title: string }) => title))
      next = linkOf(body.links, 'next')?.href
    }
    assert.deepEqual(seen, ['cities', 'grid', 'plain', 'view', 'zones'])
  })
})

describe('items', () => {
  test('are a page of GeoJSON with counts, time and links', async () => {
    const { status, type, body, headers } = await items()
    assert.equal(status, 200)
    assert.match(type, /^application\/geo\+json/)
    assert.equal(body.type, 'FeatureCollection')
    assert.deepEqual(idsIn(body), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    assert.deepEqual([body.numberReturned, body.numberMatched], [10, 40])
    assert.match(body.timeStamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
    for (const rel of ['self', 'alternate', 'next', 'collection']) assert.ok(linkOf(body.links, rel)?.type, rel)
    assert.equal(headers.get('content-crs'), `<${crs84}>`)
    assert.equal(headers.get('ogc-numbermatched'), '40')
    assert.match(headers.get('link') ?? '', /rel="next"; type="application\/geo\+json"/)
    assert.deepEqual(body.features[0].geometry, { type: 'Point', coordinates: [12.57, 55.68] })
    assert.equal(body.features[4].geometry, null)
  })

  test('are walked by next links, each once, whatever the order and the kind of dataset', async () => {
    for (const [collection, count] of [
      ['cities', 40],
      [world.ids.grid, 25],
      [world.ids.plain, 30],
      ['zones', 5],
    ] as const) {
      const pages = await walk('?limit=7', collection)
      assert.equal(pages.flat().length, count, collection)
    }
    const sorted = (await walk('?limit=7&sortby=-capital,+name')).flat()
    assert.equal(new Set(sorted.map(({ id }) => id)).size, 40)
    const again = (await walk('?limit=9&sortby=-capital,name')).flat()
    assert.deepEqual(
      sorted.map(({ id }) => id),
      again.map(({ id }) => id),
    )
  })

  test('go on with another page size, as the official tests do', async () => {
    const { body } = await items('?limit=3')
    const next = new URL(linkOf(body.links, 'next')?.href ?? '')
    next.searchParams.set('limit', '10000')
    assert.equal((await world.get(next.href)).body.features.length, 37)
  })

  test('say how many there are only where it is cheap, and when asked', async () => {
    assert.equal((await items('?limit=40')).body.numberMatched, 40)
    assert.equal((await items('?capital=true&limit=1')).body.numberMatched, 21)
    const { body } = await items('?resultType=hits&capital=true')
    assert.deepEqual([body.numberMatched, body.numberReturned, body.features], [21, 0, []])
  })

  test('refuse what is not understood, and clamp what is too much', async () => {
    assert.equal((await items('?limit=10001')).body.features.length, 40)
    for (const query of [
      'limit=unlimited',
      'limit=0',
      'limit=-1',
      'unknownQueryParameter12345=1',
      'bbox=1,2,3',
      'bbox=1,2,3,x',
      'bbox=1,60,2,50',
      'bbox-crs=nonsense&bbox=1,2,3,4',
      'bbox-crs=http://www.opengis.net/def/crs/EPSG/0/999998&bbox=1,2,3,4',
      'crs=nonsense',
      'datetime=yesterday',
      'datetime=2026-01-02/2026-01-01',
      'datetime=../..',
      'datetime=2026-13-01',
      'sortby=nothing',
      'sortby=geom',
      'properties=nothing',
      'pop=many',
      'geom=x',
      'cursor=x',
      'f=xml',
      'resultType=some',
    ]) {
      const { status, type } = await items(`?${query}`)
      assert.equal(status, 400, query)
      assert.match(type, /problem\+json/)
    }
  })

  test('are selected by a box, and those without a geometry by every box', async () => {
    const found = async (bbox: string, rest = '') => idsIn((await items(`?limit=100&bbox=${bbox}${rest}`)).body)
    assert.deepEqual(await found('7,50,13,56'), [1, 4, 5])
    assert.deepEqual(await found('7,50,-100,13,56,9000'), [1, 4, 5])
    assert.deepEqual(await found('177,-20,-170,-10'), [2, 3, 5])
    assert.deepEqual(await found('7.0000000,.5000000e2,13.,+56'), [1, 4, 5])
    assert.equal((await found('-180,-90,180,90')).length, 40)
    const names = async (bbox: string) =>
      (await items(`?bbox=${bbox}`, 'zones')).body.features.map(
        ({ properties: { name } }: { properties: { name: string } }) => name,
      )
    assert.deepEqual(await names('177,65,-177,70'), ['west of the line', 'east of the line'])
    assert.deepEqual(await names('-180,85,180,90'), ['north pole'])
    assert.deepEqual(await names('-180,-90,180,-85'), ['south pole'])
    assert.deepEqual(await names('-1.5,50,1.5,53'), ['middle'])
    assert.equal((await items('?bbox=0,0,1,1', world.ids.plain)).body.features.length, 10, 'nothing has a geometry')
  })

  test('are selected by time, and those without one by every time', async () => {
    const found = async (datetime: string) => idsIn((await items(`?limit=100&datetime=${datetime}`)).body)
    assert.deepEqual(await found('2026-01-02'), [2, 4])
    assert.deepEqual(await found('2026-01-02T10:00:00Z'), [2, 4])
    assert.deepEqual(await found('2026-01-02T12:00:00%2B02:00'), [2, 4])
    assert.deepEqual(await found('2026-01-02/2026-01-03T10:00:00Z'), [2, 3, 4])
    assert.deepEqual(await found('../2026-01-02'), [1, 2, 4])
    assert.deepEqual(await found('/2026-01-01'), [1, 4])
    assert.equal((await found('2026-01-05/..')).length, 37)
    assert.deepEqual((await items('?datetime=2026-01-02', 'zones')).body.features.length, 5, 'nothing has a time')
  })

  test('are selected by properties, which combine', async () => {
    assert.deepEqual(idsIn((await items('?name=K%C3%B8benhavn')).body), [1])
    assert.deepEqual(idsIn((await items('?capital=true&pop=94000')).body), [2])
    assert.deepEqual(idsIn((await items('?capital=true&bbox=7,50,13,56')).body), [1])
    assert.deepEqual(idsIn((await items('?founded=1882-01-01')).body), [2])
  })

  test('have the properties that were asked for, and no geometry where it is skipped', async () => {
    const { body } = await items('?properties=name,pop&limit=1')
    assert.deepEqual(body.features[0].properties, { name: 'København', pop: 1400000 })
    assert.equal(body.features[0].id, 1)
    assert.ok(body.features[0].geometry)
    const skipped = (await items('?skipGeometry=true&limit=1')).body.features[0]
    assert.equal(skipped.geometry, null)
    assert.equal(skipped.properties.name, 'København')
  })
})

describe('a feature', () => {
  test('is found by its key, with links', async () => {
    for (const [collection, id] of [
      ['cities', 1],
      [world.ids.grid, 'a-7'],
      ['zones', '00000000-0000-4000-8000-000000000003'],
    ] as const) {
      const { status, body, headers, type } = await world.get(`/collections/${collection}/items/${id}`)
      assert.equal(status, 200)
      assert.match(type, /^application\/geo\+json/)
      assert.deepEqual([body.type, body.id], ['Feature', id])
      for (const rel of ['self', 'alternate', 'collection']) assert.ok(linkOf(body.links, rel)?.type, rel)
      assert.equal(headers.get('content-crs'), `<${crs84}>`)
    }
  })

  test('is 404 where there is none, or its dataset has no key', async () => {
    for (const path of ['cities/items/999', 'cities/items/x', `${world.ids.plain}/items/1`, 'zones/items/1']) {
      assert.equal((await world.get(`/collections/${path}`)).status, 404, path)
    }
    assert.equal((await world.get('/collections/cities/items/1?limit=1')).status, 400)
    assert.equal((await world.get('/collections/cities/items/1?crs=x')).status, 400)
  })
})

describe('a reference system', () => {
  const epsg = (srid: number) => `http://www.opengis.net/def/crs/EPSG/0/${srid}`
  const point = async (srid: number, collection = world.ids.grid, id: string | number = 'a-7') => {
    const reply = await world.get(`/collections/${collection}/items/${id}?crs=${encodeURIComponent(epsg(srid))}`)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers.get('content-crs'), `<${epsg(srid)}>`)
    return reply.body.geometry.coordinates as number[]
  }

  test('that puts north first has its coordinates so, and others have x first', async () => {
    for (const [srid, isNorthFirst] of [
      [4326, true],
      [3857, false],
      [31467, true],
      [2193, true],
      [3035, true],
      [25832, false],
    ] as const) {
      const rows = await world.app.db.query<{ x: number; y: number }>(sql`
        SELECT ST_X(g) AS x, ST_Y(g) AS y FROM (
          SELECT ST_Transform(geom, ${srid}::int4) AS g FROM ${ident(world.schema, 'grid')} WHERE id = 'a-7') t`)
      const [{ x = 0, y = 0 } = {}] = rows
      const [first = 0, second = 0] = await point(srid)
      const [a, b] = isNorthFirst ? [y, x] : [x, y]
      assert.ok(Math.abs(first - a) < 1e-6 && Math.abs(second - b) < 1e-6, `${srid}: ${first} ${second}, not ${a} ${b}`)
    }
  })

  test('applies to every page and is found by its URI, URN and short form', async () => {
    for (const name of [epsg(3857), 'urn:ogc:def:crs:EPSG::3857', 'EPSG:3857', '[EPSG:3857]']) {
      const { body, headers } = await items(`?limit=1&crs=${encodeURIComponent(name)}`)
      assert.equal(headers.get('content-crs'), `<${epsg(3857)}>`)
      assert.ok(body.features[0].geometry.coordinates[0] > 1_000_000)
    }
  })

  test('of a box puts its corners in the order of its axes', async () => {
    const found = async (bbox: string, srid: number, collection = 'cities') => {
      const { body, text, status } = await items(`?bbox=${bbox}&bbox-crs=${encodeURIComponent(epsg(srid))}`, collection)
      assert.equal(status, 200, text)
      return idsIn(body)
    }
    assert.deepEqual(await found('50,7,56,13', 4326), [1, 4, 5])
    assert.deepEqual(await found('-20,177,-10,-170', 4326), [2, 3, 5])
    assert.deepEqual(await found('780000,6446000,1450000,7600000', 3857), [1, 4, 5])
    assert.deepEqual(await found('5600400,3500900,5601100,3502100', 31467, world.ids.grid), ['a-1', 'a-2'])
    assert.deepEqual(await found('5600400,3500900,5601100,3502100', 31467), [5])
  })
})

describe('a key', () => {
  test('comes by header, Basic, bearer or query, and one that came by query is in every link', async () => {
    const key = world.own.public
    const basic = `Basic ${Buffer.from(`anybody:${key}`).toString('base64')}`
    const ways = [
      ['x-api-key', key] as const,
      ['authorization', basic] as const,
      ['authorization', `Bearer ${key}`] as const,
    ]
    for (const way of ways) {
      const reply = await fetch(`${world.root}/collections/cities/items`, { headers: [[...way]] })
      assert.equal(reply.status, 200)
      assert.ok(!(await reply.text()).includes(key))
    }
    assert.equal((await fetch(`${world.root}/collections`)).status, 401)
    for (const path of ['', '/conformance', '/collections', '/collections/cities', '/collections/cities/items']) {
      const reply = await fetch(`${world.root}${path}?api-key=${key}`)
      const body = (await reply.json()) as { links: OgcReplyLink[]; collections?: { links: OgcReplyLink[] }[] }
      const links = [...body.links, ...(body.collections ?? []).flatMap((one) => one.links)]
      for (const { href } of links) assert.equal(new URL(href).searchParams.get('api-key'), key, href)
    }
  })
})

test('a page with the longest address is read by clients that take 16 KiB of headers, and its links are in its body', async () => {
  const filter = `name IN (${Array.from({ length: 440 }, (_, n) => `'name ${n}'`).join()})`
  const query = new URLSearchParams({ 'filter-lang': 'cql2-text', filter: `NOT ${filter}`, limit: '1' })
  const address = `${world.root}/collections/cities/items?${query}`
  assert.ok(address.length > 7_000 && address.length < 8_192, `${address.length}`)
  const reply = await fetch(address, { headers: { 'x-api-key': world.own.public } })
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('link') ?? '', /rel="next"/)
  const { links } = (await reply.json()) as { links: OgcReplyLink[] }
  for (const rel of ['self', 'alternate', 'next', 'collection']) assert.ok(linkOf(links, rel), rel)
})
