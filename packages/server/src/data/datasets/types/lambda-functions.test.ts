import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type TestApp, testApp } from '../../../../testing/harness.ts'
import { StartError } from '../../../kernel/errors.ts'
import { allowsFunction, readFunctions } from './lambda-functions.ts'

// One database is enough: which functions may be called is decided before anything is stored.

const mine = '0b7a2a4e-1c7b-4a3e-9f9d-0d2f3c1f5a01'
const theirs = '0b7a2a4e-1c7b-4a3e-9f9d-0d2f3c1f5a02'
const allows = (list: string, name: string, applicationId = mine) =>
  allowsFunction(readFunctions(list), applicationId, name)

describe('the list of functions', () => {
  test('allows names, beginnings, and either for one application only', () => {
    assert.ok(allows('places', 'places'))
    assert.ok(allows(' roads , places ', 'places'))
    assert.ok(allows('geo-*', 'geo-places'))
    assert.ok(allows('*', 'anything_at-all'))
    assert.ok(allows(`${mine}:places`, 'places'))
    assert.ok(allows(`${mine.toUpperCase()}:geo-*`, 'geo-'))
    assert.ok(!allows(`${mine}:places`, 'places', theirs))
    assert.ok(!allows(`${mine}:*`, 'places', theirs))
    assert.ok(!allows('places', 'roads'))
  })

  test('is met letter by letter, by a plain name', () => {
    const tricks = [
      'Places',
      'PLACES',
      'places2',
      'xplaces',
      'places ',
      ' places',
      'places\n',
      'places\0',
      'рlaces',
      'places:1',
      'places:$LATEST',
      'places:live',
      'function:places',
      '123456789012:places',
      '123456789012:function:places',
      'arn:aws:lambda:us-east-1:123456789012:function:places',
      'arn:aws:lambda:us-east-1:123456789012:function:places:live',
      'places/../secret',
      'places%2F..',
      `${mine}:places`,
      '',
      '*',
    ]
    for (const name of tricks) {
      assert.ok(!allows('places', name), name)
      assert.ok(!allows(`${mine}:places`, name), name)
    }
    for (const name of tricks.filter((trick) => !/^\w+$/.test(trick))) assert.ok(!allows('*', name), name)
    for (const name of ['geo-places:1', 'Geo-places', 'arn:aws:lambda:us-east-1:1:function:geo-places', 'geo']) {
      assert.ok(!allows('geo-*', name), name)
    }
    assert.ok(!allows('toString', 'constructor'))
  })

  test('allows nothing when it is not set', () => {
    for (const empty of ['', ' ', ',', ' , ']) assert.ok(!allows(empty, 'places'))
  })

  test('that cannot be read is a reason not to start', () => {
    const wrong = ['a b', 'a.b', '**', 'a*b', '*a', 'name:1', 'arn:aws:lambda:eu-west-1:1:function:a', `${mine}:`, 'é']
    for (const item of [...wrong, 'x'.repeat(65), `${mine.slice(1)}:a`]) {
      assert.throws(() => readFunctions(`places,${item}`), StartError, item)
    }
  })
})

describe('a function outside the list', () => {
  const called: string[] = []
  const functions = createServer((request, response) => {
    called.push(request.url ?? '')
    response.setHeader('content-type', 'application/json').end('[{"a":1}]')
  })
  let settings: Record<string, string>
  before(async () => {
    await new Promise<void>((resolve) => functions.listen(0, '127.0.0.1', resolve))
    const LAMBDA_ENDPOINT = `http://127.0.0.1:${(functions.address() as AddressInfo).port}`
    settings = { LAMBDA_ENDPOINT, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
  })
  after(() => {
    functions.close()
    functions.closeAllConnections()
  })

  const dataset = (source: string) => ({ type: 'lambda', name: 'a', source })

  async function withApp(more: Record<string, string>, work: (app: TestApp) => Promise<void>): Promise<void> {
    const app = await testApp({ ...settings, ...more })
    try {
      await work(app)
    } finally {
      await app.close()
    }
  }

  test('is 400 when the dataset is made or replaced, and when it is asked, and is not called', async () => {
    await withApp({ LAMBDA_FUNCTIONS: 'places' }, async ({ call, db }) => {
      const made = await call('POST', '/api/v1/datasets', { body: dataset('places') })
      assert.equal(made.status, 201, made.text)
      const url = `/api/v1/datasets/${made.body.id}`
      assert.equal((await call('GET', `${url}/query`)).status, 200)
      called.length = 0
      for (const source of ['payroll', 'places:1', 'arn:aws:lambda:us-east-1:123456789012:function:places']) {
        const refusals = [
          await call('POST', '/api/v1/datasets', { body: dataset(source) }),
          await call('PUT', url, { body: dataset(source) }),
          await call('PATCH', url, { body: { source } }),
        ]
        for (const reply of refusals) {
          assert.equal(reply.status, 400, reply.text)
          assert.equal(reply.body.errors[0].path, 'body/source')
        }
      }
      assert.deepEqual(called, [])
      // As if it had been stored before the list was made.
      const old = await call('POST', '/api/v1/datasets', { body: dataset('places') })
      await db.script(`UPDATE svc.datasets SET source = 'payroll'`)
      called.length = 0
      assert.equal((await call('GET', `/api/v1/datasets/${old.body.id}/query`)).status, 400)
      assert.equal((await call('POST', `/api/v1/datasets/${old.body.id}/query`, { body: {} })).status, 400)
      assert.deepEqual(called, [])
    })
  })

  test('is every one without a list, and the refusal names LAMBDA_FUNCTIONS', async () => {
    await withApp({}, async ({ call }) => {
      const reply = await call('POST', '/api/v1/datasets', { body: dataset('places') })
      assert.equal(reply.status, 400)
      assert.match(reply.body.detail, /LAMBDA_FUNCTIONS/)
    })
  })
})
