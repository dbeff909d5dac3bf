import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { createGazetteer } from './gazetteer.ts'
import { addressOf, placesOf } from './geocoder.ts'

// One database is enough: places are not in the database.

let app: TestApp
let tenant: Tenant
let server: Server
let answer: { status: number; body: string } = { status: 200, body: '[]' }
let asked: string[] = []
before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  app = await testApp({ GEOCODER_URL: `http://127.0.0.1:${port}/api?q={q}&limit={limit}` })
  tenant = await app.tenant('places')
})
after(async () => {
  await app.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  answer = { status: 200, body: '{"type": "FeatureCollection", "features": []}' }
  asked = []
})

const search = (query: string, key: string | null = tenant.public) =>
  app.call('GET', `/api/v1/places?${query}`, { key })
const names = async (query: string): Promise<string[]> => {
  const { status, body, text } = await search(query)
  assert.equal(status, 200, text)
  return body.places.map(({ name, country }: { name: string; country: string }) => `${name} ${country}`)
}

describe('the gazetteer', () => {
  test('finds places by the beginning of a name, the whole name first and then by size', async () => {
    const [first] = await names('q=bern')
    assert.match(first ?? '', /^Bern/)
    assert.ok((await names('q=bern')).includes('Bern CH'))
    assert.equal((await names('q=london'))[0], 'London GB')
    assert.equal((await names('q=york&limit=50')).includes('New York US'), true)
  })

  test('knows names without accents and case, and in other languages', async () => {
    for (const q of ['zurich', 'ZÜRICH', 'Zu%CC%88rich']) assert.equal((await names(`q=${q}`))[0], 'Zürich CH', q)
    const { body } = await search('q=wien')
    assert.deepEqual([body.places[0].name, body.places[0].matched, body.places[0].kind], ['Vienna', 'Wien', 'city'])
    assert.equal((await names(`q=${encodeURIComponent('Österreich')}`))[0], 'Austria AT')
    assert.equal((await names(`q=${encodeURIComponent('東京')}`))[0], 'Tokyo JP')
  })

  test('takes a country behind the name, and a place that is near', async () => {
    assert.equal((await names('q=paris'))[0], 'Paris FR')
    assert.equal((await names('q=paris,%20us'))[0], 'Paris US')
    assert.equal((await names('q=paris%20united'))[0], 'Paris US')
    assert.equal((await names('q=paris&near=-95.5,33.6'))[0], 'Paris US')
  })

  test('answers one letter with as many as were asked for', async () => {
    assert.equal((await names('q=s&limit=50')).length, 50)
    assert.equal((await names('q=x&limit=3')).length, 3)
  })

  test('finds nothing by signs alone, by markup and by patterns', async () => {
    for (const q of ['!!!', '%', '.*', '<script>', "' OR 1=1"])
      assert.deepEqual(await names(`q=${encodeURIComponent(q)}`), [], q)
  })

  test('is read without holding up the event loop', async () => {
    const gazetteer = createGazetteer(new URL('../../../../../assets/gazetteer.tsv.gz', import.meta.url).pathname)
    let turns = 0
    const turn = setInterval(() => turns++, 1)
    const found = await gazetteer.search({ text: 'bern', limit: 1 })
    clearInterval(turn)
    assert.equal(found.length, 1)
    assert.ok(turns > 5, `${turns} turns`)
  })
})

describe('a search for places', () => {
  test('needs a key that may use styles', async () => {
    assert.equal((await search('q=bern', null)).status, 401)
    assert.equal((await search('q=bern', tenant.public)).status, 200)
    const key = await app.key(tenant.id, { datasets: { read: '*' } })
    assert.equal((await search('q=bern', key)).status, 401)
  })

  for (const [query, path] of [
    ['', 'query/q'],
    ['q=', 'query/q'],
    [`q=${'a'.repeat(201)}`, 'query/q'],
    ['q=a&limit=51', 'query/limit'],
    ['q=a&limit=0', 'query/limit'],
    ['q=a&near=7', 'query/near'],
    ['q=a&near=7,95', 'query/near'],
    ['q=a&near=,', 'query/near'],
  ] as const)
    test(`?${query.slice(0, 20)} is refused with the place of the fault`, async () => {
      const { status, body } = await search(query)
      assert.equal(status, 400)
      assert.equal(body.errors[0].path, path)
    })
})

describe('a geocoder', () => {
  const feature = (name: string, coordinates: unknown, more: object = {}) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates },
    properties: { name, countrycode: 'ch', country: 'Switzerland', ...more },
  })
  const photon = (...features: object[]) => ({
    status: 200,
    body: JSON.stringify({ type: 'FeatureCollection', features }),
  })

  test('adds what it finds, once, and its answer is remembered', async () => {
    answer = photon(
      feature('Bernstrasse 1', [7.4, 46.9], { extent: [7.39, 46.91, 7.41, 46.89] }),
      feature('Bern', [7.45, 46.95]),
    )
    const { body } = await search('q=bern&limit=4')
    const found = body.places.filter(({ source }: { source: string }) => source === 'geocoder')
    assert.deepEqual(
      found.map(({ name, bounds, country }: Record<string, unknown>) => [name, bounds, country]),
      [['Bernstrasse 1', [7.39, 46.89, 7.41, 46.91], 'CH']],
    )
    assert.equal(body.isComplete, true)
    await search('q=bern&limit=4')
    assert.deepEqual(asked, ['/api?q=bern&limit=4'])
  })

  test('is not asked for one or two letters', async () => {
    await search('q=be')
    assert.deepEqual(asked, [])
  })

  test('that fails leaves the gazetteer, and is left alone for a while', async () => {
    answer = { status: 500, body: '' }
    const { body } = await search('q=geneva')
    assert.deepEqual([body.isComplete, body.places[0].name], [false, 'Geneva'])
    await search('q=lausanne')
    assert.equal(asked.length, 1)
  })
})

describe('the answers of a geocoder are untrusted', () => {
  test('rows of Nominatim are read, with their numbers as texts', () => {
    const row = {
      lat: '46.9',
      lon: '7.4',
      display_name: 'Bern, Schweiz',
      boundingbox: ['46.8', '47.0', '7.3', '7.5'],
      address: { country_code: 'ch' },
    }
    const [place] = placesOf([row])
    assert.deepEqual(
      [place?.name, place?.position, place?.bounds, place?.country],
      ['Bern, Schweiz', [7.4, 46.9], [7.3, 46.8, 7.5, 47], 'CH'],
    )
  })

  test('what is no place is left out, names are short and in one line', () => {
    const at = (coordinates: unknown, name: unknown = 'a') => ({
      geometry: { type: 'Point', coordinates },
      properties: { name },
    })
    const bad = [
      null,
      5,
      'x',
      {},
      at([1]),
      at([200, 0]),
      at([0, 91]),
      at(['1', '2']),
      at([Number.NaN, 0]),
      at([1, 1], ''),
      at([1, 1], {}),
    ]
    assert.deepEqual(placesOf({ features: bad }), [])
    const [long] = placesOf({ features: [at([1, 1], `a\n\u202eb${'c'.repeat(1_000_000)}`)] })
    assert.ok(long && long.name.length <= 200)
    assert.match(long?.name ?? '', /^a bc+$/)
    assert.equal(placesOf({ features: Array.from({ length: 5_000 }, () => at([1, 1])) }).length, 100)
    for (const answer of [null, 'x', { features: {} }]) assert.throws(() => placesOf(answer))
  })

  test('the text of a question stays within its parameter', () => {
    const request = { text: 'a&key=b/../{lat}', limit: 5, near: [7.4567, 46.9512] as const }
    assert.equal(addressOf('https://a.org/s?q={q}&k=1', request), 'https://a.org/s?q=a%26key%3Db%2F..%2F%7Blat%7D&k=1')
    const url = new URL(addressOf('https://a.org/api?lang=de', request))
    assert.deepEqual(
      [...url.searchParams],
      [
        ['lang', 'de'],
        ['q', request.text],
        ['limit', '5'],
        ['lon', '7.5'],
        ['lat', '47.0'],
      ],
    )
  })
})
