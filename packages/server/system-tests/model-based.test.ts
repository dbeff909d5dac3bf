import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc, { type Arbitrary, type AsyncCommand } from 'fast-check'
import { about, type Reply, type Request, type Tenant, type TestApp, testApp } from '../testing/harness.ts'

// A failure names the seed; TEST_SEED=… runs the same commands again.
const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 26))

// The embedded database does one thing at a time.
const share = process.env.TEST_DATABASE_URL ? 1 : 0.25

let app: TestApp
before(async () => {
  app = await testApp()
})
after(() => app.close())

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Document = { [key: string]: Json }
type Style = {
  id: string
  applicationId: string
  createdAt: string
  name: string
  description: string
  type: string
  metadata: Document
  style: object
}
/** What there is according to the decisions, without a database. */
type Model = {
  readonly owners: readonly { styles: Map<string, Style>; config: Document }[]
  /** Every style there ever was, so that commands also meet deleted and foreign ones. */
  readonly ids: string[]
}
type Real = { readonly tenants: readonly Tenant[] }
type Command = AsyncCommand<Model, Real>

const isDocument = (value: Json | undefined): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A literal key comes before a dotted path. */
const pathOf = (document: Document, key: string): string[] => (Object.hasOwn(document, key) ? [key] : key.split('.'))

const member = (value: Json | undefined, key: string): Json | undefined => {
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined
  return isDocument(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

const valueAt = (document: Document, key: string): Json | undefined =>
  pathOf(document, key).reduce<Json | undefined>(member, document)

/** The document with the value set, or nothing where the path leads through something that can hold no key. */
function withValue(document: Document, key: string, value: Json): Document | undefined {
  const next = set(document, pathOf(document, key), value)
  return isDocument(next) ? next : undefined
}

function set(target: Json | undefined, [key, ...rest]: string[], value: Json): Json | undefined {
  if (key === undefined) return value
  const isList = Array.isArray(target)
  if (isList && !(/^\d+$/.test(key) && Number(key) <= target.length)) return undefined
  if (!isList && !isDocument(target) && target !== null && target !== undefined) return undefined
  const inner = set(member(target, key), rest, value)
  if (inner === undefined) return undefined
  return isList
    ? [...target.slice(0, Number(key)), inner, ...target.slice(Number(key) + 1)]
    : { ...target, [key]: inner }
}

function withoutKey(document: Document, key: string): Document | undefined {
  return valueAt(document, key) === undefined ? undefined : (without(document, pathOf(document, key)) as Document)
}

function without(target: Json | undefined, [key = '', ...rest]: string[]): Json {
  if (Array.isArray(target)) {
    const kept = rest.length === 0 ? [] : [without(target[Number(key)], rest)]
    return [...target.slice(0, Number(key)), ...kept, ...target.slice(Number(key) + 1)]
  }
  const { [key]: removed, ...others } = target as Document
  return rest.length === 0 ? others : { ...others, [key]: without(removed, rest) }
}

/** RFC 7396. */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isDocument(patch)) return patch
  const result: Document = isDocument(target) ? { ...target } : {}
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key]
    else result[key] = merged(result[key], change)
  }
  return result
}

// Few names and small values, so that commands meet what others have left.
const key = fc.constantFrom('a', 'b', 'a.b', 'a.b.c', 'b.a', 'a.0', 'a.1', 'b.0.a', 'a.b.0')
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1.5, '', 'text', '😀'),
    fc.array(tie('json'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a.b', '0'), tie('json'), { maxKeys: 2, noNullPrototype: true }),
  ),
}))
const document = fc.dictionary(fc.constantFrom('a', 'b', 'a.b'), json, { maxKeys: 3, noNullPrototype: true })
const tenant = fc.nat(1)
const index = fc.nat(5)
const text = fc.constantFrom('Land', 'Sea', "O'Brien", '海', '%_')
const plain = { version: 8, sources: {}, layers: [] }
const dark = { version: 8, sources: {}, layers: [{ id: 'dark', type: 'background' }] }
const optional = {
  description: fc.constantFrom('', 'described'),
  type: fc.constant('plain'),
  metadata: document,
  style: fc.constantFrom(plain, dark),
}

const path = '/api/v1/styles'

function command(name: string, run: (model: Model, real: Real) => Promise<void>, needsStyle = false): Command {
  return { check: ({ ids }) => !needsStyle || ids.length > 0, run, toString: () => name }
}

const create = fc
  .tuple(tenant, fc.record({ name: text, ...optional }, { requiredKeys: ['name', 'style'] }))
  .map(([at, given]) =>
    command(`create ${at} ${JSON.stringify(given)}`, async ({ owners, ids }, real) => {
      const { id: applicationId, developer } = ownerAt(real.tenants, at)
      // Whatever a tenant's key says, the style is its own tenant's.
      const other = ownerAt(real.tenants, 1 - at)
      const { status, body } = await app.call('POST', path, {
        key: developer,
        body: { ...given, applicationId: other.id },
      })
      assert.equal(status, 201)
      const { id, createdAt } = body
      const style = { description: '', type: 'plain', metadata: {}, ...given, id, applicationId, createdAt } as Style
      assert.deepEqual(withoutTime(body), style)
      ownerAt(owners, at).styles.set(id, style)
      ids.push(id)
    }),
  )

/** What a request to a style must come to: the style from then on (nothing when it is gone) and the answer, or a refusal. */
type Outcome = { becomes: Style | undefined; answers: unknown } | 400 | 404
type Step = { method: string; under?: string; body?: unknown }

/** A request to one of all styles there ever were: 404 unless it is the tenant's own, then as the rule says. */
function onStyle(at: number, which: number, step: Step, rule: (style: Style) => Outcome): Command {
  const { method, under = '', body } = step
  const name = `${method} ${at} style ${which}${under} ${body === undefined ? '' : JSON.stringify(body)}`
  const run = async ({ owners, ids }: Model, real: Real) => {
    const id = ids[which % ids.length] ?? ''
    const { styles } = ownerAt(owners, at)
    const { developer } = ownerAt(real.tenants, at)
    const style = styles.get(id)
    const outcome = style ? rule(style) : 404
    const reply = await app.call(method, `${path}/${id}${under}`, { key: developer, body })
    if (typeof outcome === 'number') assert.equal(reply.status, outcome, reply.text)
    else {
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(under ? reply.body : withoutTime(reply.body), outcome.answers)
      if (outcome.becomes) styles.set(id, outcome.becomes)
      else styles.delete(id)
    }
    await checkStyle(owners, real, id)
  }
  return command(name, run, true)
}

/** Read your writes: with the keys of both tenants, before anything else happens. */
async function checkStyle(owners: Model['owners'], { tenants }: Real, id: string): Promise<void> {
  for (const [at, { styles }] of owners.entries()) {
    const { status, body } = await app.call('GET', `${path}/${id}`, { key: ownerAt(tenants, at).developer })
    const expected = styles.get(id)
    assert.equal(status, expected ? 200 : 404)
    if (expected) assert.deepEqual(withoutTime(body), expected)
  }
}

const whole = (style: Style): Outcome => ({ becomes: style, answers: style })
const described = (style: Style, metadata: Document | undefined, refusal: 400 | 404): Outcome =>
  metadata ? { becomes: { ...style, metadata }, answers: metadata } : refusal

const styleCommands: Arbitrary<Command>[] = [
  fc.tuple(tenant, index).map(([at, which]) => onStyle(at, which, { method: 'GET' }, whole)),
  fc.tuple(tenant, index, fc.record({ name: text, ...optional }, { requiredKeys: [] })).map(([at, which, body]) =>
    // Every field of a style is one that each record has, so what is omitted stays.
    onStyle(at, which, { method: 'PUT', body }, (style) => whole({ ...style, ...(body as Partial<Style>) })),
  ),
  fc
    .tuple(
      tenant,
      index,
      fc.record({ name: text, ...optional, metadata: fc.oneof(document, fc.constant(null)) }, { requiredKeys: [] }),
    )
    .map(([at, which, body]) =>
      onStyle(at, which, { method: 'PATCH', body }, (style) => {
        const metadata = body.metadata === null ? {} : merged(style.metadata, body.metadata ?? {})
        return whole({ ...style, ...(body as Partial<Style>), metadata: metadata as Document })
      }),
    ),
  fc
    .tuple(tenant, index)
    .map(([at, which]) => onStyle(at, which, { method: 'PATCH', body: { name: null } }, () => 400)),
  fc
    .tuple(tenant, index)
    .map(([at, which]) => onStyle(at, which, { method: 'DELETE' }, () => ({ becomes: undefined, answers: undefined }))),
  fc.tuple(tenant, index).map(([at, which]) =>
    onStyle(at, which, { method: 'GET', under: '/metadata' }, (style) => ({
      becomes: style,
      answers: style.metadata,
    })),
  ),
  fc
    .tuple(tenant, index, document)
    .map(([at, which, body]) =>
      onStyle(at, which, { method: 'PUT', under: '/metadata', body }, (style) =>
        described(style, { ...style.metadata, ...body }, 400),
      ),
    ),
  fc
    .tuple(tenant, index, key, json)
    .map(([at, which, name, body]) =>
      onStyle(at, which, { method: 'PUT', under: `/metadata/${name}`, body }, (style) =>
        described(style, withValue(style.metadata, name, body), 400),
      ),
    ),
  fc.tuple(tenant, index, key).map(([at, which, name]) =>
    onStyle(at, which, { method: 'GET', under: `/metadata/${name}` }, (style) => {
      const answers = valueAt(style.metadata, name)
      return answers === undefined ? 404 : { becomes: style, answers }
    }),
  ),
  fc
    .tuple(tenant, index, key)
    .map(([at, which, name]) =>
      onStyle(at, which, { method: 'DELETE', under: `/metadata/${name}` }, (style) =>
        described(style, withoutKey(style.metadata, name), 404),
      ),
    ),
]

const list = tenant.map((at) => command(`list ${at}`, (model, real) => checkList(model, real, at)))

async function checkList({ owners }: Model, { tenants }: Real, at: number): Promise<void> {
  const { headers, body } = await app.call('GET', path, { key: ownerAt(tenants, at).developer })
  const order = ({ createdAt, id }: Style) => `${createdAt} ${id}`
  const expected = [...ownerAt(owners, at).styles.values()].sort((one, other) => (order(one) < order(other) ? -1 : 1))
  assert.deepEqual(body.map(withoutTime), expected)
  assert.equal(headers['x-total-count'], String(expected.length))
}

type Decision = { becomes: Document; answers: unknown } | 400 | 404

function onConfig(at: number, step: Step, rule: (config: Document) => Decision): Command {
  const { method, under = '', body } = step
  return command(`${method} ${at} appconfig${under} ${JSON.stringify(body)}`, async ({ owners }, real) => {
    const owner = ownerAt(owners, at)
    const { developer } = ownerAt(real.tenants, at)
    const decision = rule(owner.config)
    const reply = await app.call(method, `/api/v1/appconfig${under}`, { key: developer, body })
    if (typeof decision === 'number') assert.equal(reply.status, decision, reply.text)
    else {
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(reply.body, decision.answers)
      owner.config = decision.becomes
    }
    for (const [index, { config }] of owners.entries()) {
      const seen = await app.call('GET', '/api/v1/appconfig', { key: ownerAt(real.tenants, index).developer })
      assert.deepEqual(seen.body, { ...config, svc: about })
    }
  })
}

const configured = (config: Document | undefined, refusal: 400 | 404): Decision =>
  config ? { becomes: config, answers: { ...config, svc: about } } : refusal

const configCommands: Arbitrary<Command>[] = [
  fc.tuple(tenant, document).map(([at, body]) =>
    // What the server says of itself is not the client's to store.
    onConfig(at, { method: 'PUT', body: { ...body, svc: { version: 'mine' } } }, () => configured(body, 400)),
  ),
  fc
    .tuple(tenant, document)
    .map(([at, body]) =>
      onConfig(at, { method: 'PATCH', body }, (config) => configured(merged(config, body) as Document, 400)),
    ),
  fc
    .tuple(tenant, key, json)
    .map(([at, name, body]) =>
      onConfig(at, { method: 'PUT', under: `/${name}`, body }, (config) =>
        configured(withValue(config, name, body), 400),
      ),
    ),
  fc.tuple(tenant, key).map(([at, name]) =>
    onConfig(at, { method: 'GET', under: `/${name}` }, (config) => {
      const answers = valueAt(config, name)
      return answers === undefined ? 404 : { becomes: config, answers }
    }),
  ),
  fc
    .tuple(tenant, key)
    .map(([at, name]) =>
      onConfig(at, { method: 'DELETE', under: `/${name}` }, (config) => configured(withoutKey(config, name), 404)),
    ),
  fc
    .tuple(tenant, fc.constantFrom('svc', 'svc.version', 'svc.a'))
    .map(([at, name]) => onConfig(at, { method: 'PUT', under: `/${name}`, body: 1 }, () => 400)),
]

test(`two tenants, interleaved, see what a model in memory sees (TEST_SEED=${seed})`, async () => {
  const commands = fc.commands([create, create, list, ...styleCommands, ...configCommands], {
    maxCommands: 60,
    size: 'max',
  })
  let count = 0
  const property = fc.asyncProperty(commands, async (sequence) => {
    const tenants = [await app.tenant('one'), await app.tenant('two')]
    const model: Model = { owners: tenants.map(() => ({ styles: new Map(), config: {} })), ids: [] }
    await fc.asyncModelRun(() => ({ model, real: { tenants } }), sequence)
    for (const at of [0, 1]) await checkList(model, { tenants }, at)
    count += [...sequence].length
  })
  await fc.assert(property, { seed, numRuns: 16 * share, includeErrorInReport: true })
  assert.ok(count > 150 * share, `only ${count} commands ran`)
})

describe('a key of any text, with a value of any JSON', () => {
  const prototype = Reflect.ownKeys(Object.prototype).length
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'a.__proto__.b',
    'toString',
    'hasOwnProperty.call',
    '0',
    'a b',
    '/',
  ]
  const strange = [
    '.a',
    'a.',
    '😀',
    '\0',
    ';',
    '%',
    '%2F',
    '?',
    '#',
    "'",
    '"',
    '\\',
    '$',
    '{a,b}',
    'ünï',
    '\u202e',
    'a'.repeat(600),
  ]
  const anyKey = fc
    .oneof(fc.constantFrom(...names, ...strange), fc.string(), fc.string({ unit: 'binary' }))
    // An address cannot hold the others: nothing is no key, and of dots any client makes another address.
    .filter((name) => !['', '.', '..', 'current'].includes(name))
  const anyValue = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.constantFrom({ ['__proto__']: 1 }, [1e21]),
  )

  test('comes back as it was set, or is refused with 400, and reaches no prototype: metadata', async () => {
    const { developer } = await app.tenant('metadata')
    const { body } = await app.call('POST', path, { key: developer, body: { name: 'Keys', style: plain } })
    await checkKeys(`${path}/${body.id}/metadata`, { url: `${path}/${body.id}`, body: { metadata: {} } }, developer)
  })

  test('comes back as it was set, or is refused with 400, and reaches no prototype: appconfig', async () => {
    const { developer } = await app.tenant('appconfig')
    await checkKeys('/api/v1/appconfig', { url: '/api/v1/appconfig', body: {} }, developer)
  })

  async function checkKeys(url: string, empty: { url: string; body: object }, key: string): Promise<void> {
    const outcomes = new Map<number, number>()
    const property = fc.asyncProperty(anyKey, anyValue, async (name, value) => {
      await app.call('PUT', empty.url, { key, body: empty.body })
      const address = `${url}/${encodeURIComponent(name)}`
      const { status } = await app.call('PUT', address, { key, body: value })
      const seen = await app.call('GET', address, { key })
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1)
      assert.ok(status === 200 || status === 400, `${status}`)
      if (status === 200) assert.deepEqual(seen.body, JSON.parse(JSON.stringify(value)))
      assert.equal(Reflect.ownKeys(Object.prototype).length, prototype)
    })
    await fc.assert(property, { seed, numRuns: 200 * share, includeErrorInReport: true })
    assert.ok(
      (outcomes.get(200) ?? 0) > 60 * share && (outcomes.get(400) ?? 0) > 10 * share,
      JSON.stringify([...outcomes]),
    )
  }
})

describe('writers at the same time', () => {
  const numbers = Array.from({ length: 100 }, (_, number) => number)
  let developer: string
  let style: string
  before(async () => {
    ;({ developer } = await app.tenant('writers'))
    const { body } = await app.call('POST', path, { key: developer, body: { name: 'Shared', style: plain } })
    style = `${path}/${body.id}`
  })
  /** Asks again where it is told to: beside other work not all get a connection of the platform's pool in time. */
  async function call(method: string, url: string, request: Request = {}): Promise<Reply> {
    for (;;) {
      const reply = await app.call(method, url, { key: developer, ...request })
      if (reply.status !== 503) return reply
      assert.ok(Number(reply.headers['retry-after']) > 0, reply.text)
    }
  }

  test('who put 100 different keys of one metadata lose none of them', async () => {
    const replies = await Promise.all(numbers.map((body) => call('PUT', `${style}/metadata/put${body}`, { body })))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    const { body } = await call('GET', `${style}/metadata`)
    for (const number of numbers) assert.equal(body[`put${number}`], number)
  })

  test('who patch 50 different keys of one metadata lose none that was not answered with 409', async () => {
    const replies = await Promise.all(
      numbers
        .slice(0, 50)
        .map((number) => call('PATCH', style, { body: { metadata: { [`patch${number}`]: number } } })),
    )
    const { body } = await call('GET', `${style}/metadata`)
    for (const [number, { status }] of replies.entries()) {
      assert.ok(status === 200 || status === 409, `${status}`)
      assert.equal(body[`patch${number}`], status === 200 ? number : undefined)
    }
  })

  test('who put 100 different keys of a configuration that is not there yet lose none of them', async () => {
    const replies = await Promise.all(numbers.map((body) => call('PUT', `/api/v1/appconfig/put${body}`, { body })))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    const { body } = await call('GET', '/api/v1/appconfig')
    for (const number of numbers) assert.equal(body[`put${number}`], number)
  })

  test('who delete a key while others put a list in its way get 200 or 404', async () => {
    const statuses = new Set<number>()
    for (const round of numbers.slice(0, 20)) {
      await call('PUT', '/api/v1/appconfig/theme', { body: { colour: round } })
      const writes = [
        call('DELETE', '/api/v1/appconfig/theme.colour'),
        call('PUT', '/api/v1/appconfig/theme', { body: [] }),
      ]
      const [deletion] = await Promise.all([
        ...writes,
        ...writes.map(() => call('DELETE', '/api/v1/appconfig/theme.colour')),
      ])
      statuses.add(deletion?.status ?? 0)
    }
    assert.deepEqual([...statuses.union(new Set([200, 404]))].sort(), [200, 404])
  })
})

function ownerAt<T>(owners: readonly T[], at: number): T {
  const owner = owners[at]
  assert.ok(owner)
  return owner
}

/** A record without the time of its last change, which the model does not know. */
function withoutTime(body: { updatedAt?: string } | undefined): object | undefined {
  if (!body) return undefined
  const { updatedAt: _, ...rest } = body
  return rest
}
