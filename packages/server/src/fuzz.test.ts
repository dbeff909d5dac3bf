import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import type { Row } from './db/db.ts'
import { ident, sql } from './db/sql.ts'
import { openApiDocument } from './openapi-document.ts'
import { type Tenant, type TestApp, testApp } from './testing/harness.ts'
import { type Attempt, anyRequest, type Document, type Entry, type Principal } from './testing/request-generator.ts'

// A failure names the seed; FUZZ_SEED=… sends the same requests again, FUZZ_REQUESTS=… more or fewer of them.
const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 26))
const requests = Number(process.env.FUZZ_REQUESTS ?? (process.env.TEST_DATABASE_URL ? 20_000 : 3_000))
const lanes = 20
const patienceMs = 100_000

/** What any address can answer: such a request does not get as far as its operation. */
const alwaysPossible = [400, 401, 404, 405, 413, 414, 415, 431]
const canary = 'CANARY-of-the-other-tenant'
const prototype = Reflect.ownKeys(Object.prototype).length

let app: TestApp
let document: Document
/** What stands for `~name~` in the requests. */
const names = new Map<string, string>()
const answers = new Map<string, number>()
/** The forms of a filter, and the operators in it, that were understood. */
const understood = new Set<string>()

before(async () => {
  app = await testApp()
  document = JSON.parse(await openApiDocument())
  await furnish('own', await app.tenant('Own'), 'Own')
  await furnish('foreign', await app.tenant(canary), canary)
  for (const resource of collections()) {
    for (const number of [0, 1, 2, 3]) await make(`${resource}.spare.${number}`, 'Spare')
  }
  const onlyOne = [named('styles.own.0')]
  const limited = { styles: { read: onlyOne, write: onlyOne }, appconfig: { execute: '*' as const } }
  names.set('key.limited', await app.key(named('applications.own'), limited))
  names.set('key.master', app.master)
})
after(() => app.close())

test(`${requests} random requests get documented answers, and nothing of another tenant (FUZZ_SEED=${seed})`, async () => {
  const untouched = await foreignRows()
  const property = fc.asyncProperty(anyRequest(document, principals()), async (attempt) => void (await judge(attempt)))
  const runs = Array.from({ length: lanes }, (_, lane) =>
    fc.assert(property, {
      seed: seed * lanes + lane,
      numRuns: requests / lanes,
      interruptAfterTimeLimit: patienceMs,
      markInterruptAsFailure: true,
      includeErrorInReport: true,
    }),
  )
  const failures = (await Promise.allSettled(runs)).filter((run) => run.status === 'rejected')
  const [first] = failures
  assert.equal(failures.length, 0, `FUZZ_SEED=${seed} ${first?.reason}`)

  assert.equal((await app.call('GET', '/api/v1/healthcheck', { key: null })).status, 200)
  assert.deepEqual(await foreignRows(), untouched)
  checkCoverage()
})

describe('a request that once broke something is answered as documented', () => {
  const key = { type: 'user', permissions: {}, userId: 1 }
  const developer = { 'x-api-key': '~key.own.developer~', 'content-type': 'application/json' }
  type Case = [name: string, status: number, method: string, url: string, body?: string]
  const mint = (name: string, status: number, change: object): Case => [
    `a key ${name}`,
    status,
    'POST',
    '/api/v1/apikeys',
    JSON.stringify({ ...key, ...change }),
  ]
  const cases: Case[] = [
    ['an id that no router can decode', 400, 'GET', '/api/v1/styles/%zz'],
    ['an id longer than an address may be', 414, 'GET', '/api/v1/styles/~many.9000~'],
    ['an OPTIONS that is no preflight', 204, 'OPTIONS', '/api/v1/styles'],
    ['a number beyond all numbers', 400, 'PUT', '/api/v1/appconfig/big', '[1e309]'],
    mint('of a user beyond bigint', 400, { userId: 2 ** 63 }),
    mint('of a user with an exponent', 400, { userId: 1e21 }),
    mint('until a leap second', 400, { expiresAt: '9999-12-31T23:59:60Z' }),
    mint('until after the year 9999', 400, { expiresAt: '9999-12-31T23:59:59-01:00' }),
    mint('until a time in a zone that PostgreSQL does not read', 201, { expiresAt: '2130-01-01T00:00:00+23:59' }),
  ]
  for (const [name, status, method, url, body] of cases) {
    test(`${name}: ${status}`, async () => {
      assert.equal(await judge({ method, url, headers: body ? developer : {}, ...(body && { body }) }), status)
    })
  }
})

/** A generator that has gone blind finds nothing either. */
function checkCoverage(): void {
  const reached = [...answers].filter(([answer]) => /^\S+ [23]/.test(answer))
  const successes = reached.reduce((sum, [, count]) => sum + count, 0)
  assert.ok(successes > requests / 4, `only ${successes} requests came through`)
  if (requests < 20_000) return
  assert.ok(understood.has('filter[') && understood.has('filter={') && understood.size > 15, `${[...understood]}`)
  // Those that ask a database or a service depend on where the requests before have made it be.
  const operations = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ responses }) => !Object.hasOwn(responses, 502))
  const missed = operations.filter(
    ({ operationId }) => !reached.some(([answer]) => answer.startsWith(`${operationId} `)),
  )
  // Where many fields must fit together, chance may miss one operation; a blind generator misses most.
  assert.ok(missed.length * 20 <= operations.length, missed.map(({ operationId }) => operationId).join(', '))
}

/** Sends a request and judges the answer by the document, whatever the request was meant to be. Returns its status. */
async function judge(attempt: Attempt): Promise<number> {
  const { method } = attempt
  const url = filledIn(attempt.url)
  const headers = Object.fromEntries(Object.entries(attempt.headers).map(([name, value]) => [name, filledIn(value)]))
  const payload = typeof attempt.body === 'string' ? filledIn(attempt.body) : attempt.body && Buffer.from(attempt.body)
  const response = await app.http.inject({ method: method as 'GET', url, headers, payload })
  const { statusCode: status, body: text } = response
  const operation = operationAt(method, url)
  note(operation, status, url)

  const answer = `${status} ${text.slice(0, 2_000)}`
  assert.ok(isAllowed(method, operation, status), `undocumented: ${answer}`)
  assert.ok(response.headers['x-request-id'], `no request id: ${answer}`)
  assert.equal(Reflect.ownKeys(Object.prototype).length, prototype, 'the prototype of all objects is polluted')
  if (method !== 'HEAD') {
    if (status >= 400) checkProblem(response)
    else checkSuccess(operation?.responses[status], text, attempt)
  }
  if (!seesAll(attempt)) checkForLeaks(text + JSON.stringify(response.headers), url + JSON.stringify(headers))
  if (status === 200 && operation?.operationId.endsWith('.delete')) await restore(attempt.url)
  return status
}

function note(operation: Entry | undefined, status: number, url: string): void {
  const key = `${operation?.operationId ?? 'nothing'} ${status}`
  answers.set(key, (answers.get(key) ?? 0) + 1)
  if (status !== 200 || !operation?.operationId.endsWith('.list')) return
  const [, query = ''] = url.split('?', 2)
  for (const [word] of decodeURIComponent(query).matchAll(/\bfilter(\[|={)|\$[a-z]\w+/gi)) understood.add(word)
}

function checkProblem({ statusCode, headers, body }: { statusCode: number; headers: object; body: string }): void {
  const { 'content-type': type, 'x-request-id': requestId } = headers as Record<string, unknown>
  assert.match(String(type), /^application\/problem\+json/)
  const problem = JSON.parse(body)
  checkSchema({ $ref: '#/components/schemas/Problem' }, problem)
  assert.equal(problem.status, statusCode)
  assert.equal(problem.requestId, requestId)
}

function checkSuccess(
  documented: Entry['responses'][string] | undefined,
  text: string,
  { method, url }: Attempt,
): void {
  const schema = documented?.content?.['application/json']?.schema
  // A record of which only some fields were asked for is not one as documented.
  if (!schema || /[?&]fields/.test(url)) return
  // The address of a record and that of a configuration's key are one: deleting the former answers nothing.
  if (method === 'DELETE' && text === '') return
  checkSchema(schema, JSON.parse(text))
}

function isAllowed(method: string, operation: Entry | undefined, status: number): boolean {
  // The database is well, so that not even the documented 503 is an excuse. The addresses of others are fuzzed.
  if (status >= 500 && status !== 502 && status !== 504) return false
  if (method === 'OPTIONS' && status === 204) return true
  return alwaysPossible.includes(status) || Object.hasOwn(operation?.responses ?? {}, status)
}

/** The operation that the document has at this address; the one with the fewest parameters comes first. */
function operationAt(method: string, url: string): Entry | undefined {
  const segments = new URL(`http://localhost${url}`).pathname.replace(/(?<=.)\/$/, '').split('/')
  const paths = Object.keys(document.paths).filter((path) => {
    const template = path.split('/')
    return (
      template.length === segments.length && template.every((part, at) => part === segments[at] || part.startsWith('{'))
    )
  })
  const [path = ''] = paths.sort((one, other) => one.split('{').length - other.split('{').length)
  return document.paths[path]?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
}

const validators = new Map<string, ReturnType<typeof Compile>>()

function checkSchema(schema: object, value: unknown): void {
  const key = JSON.stringify(schema)
  const validator = validators.get(key) ?? Compile({ ...schema, components: document.components })
  validators.set(key, validator)
  assert.ok(
    validator.Check(value),
    `${JSON.stringify(value)} is not ${key}: ${JSON.stringify(validator.Errors(value))}`,
  )
}

/** A master key that chose no application. */
const seesAll = ({ url, headers }: Attempt): boolean =>
  `${url} ${Object.values(headers)}`.includes('~key.master~') && headers['x-application-id'] === undefined

function checkForLeaks(answer: string, request: string): void {
  for (const [name, value] of names) {
    // The application's own id is no secret: requests say it, and a configuration may hold it.
    const isSecret = name.includes('foreign') && name !== 'applications.foreign' && !request.includes(value)
    assert.ok(!isSecret || !answer.includes(value), `${name} is in the answer: ${answer.slice(0, 2_000)}`)
  }
  assert.ok(!answer.includes(canary), `the other tenant is in the answer: ${answer.slice(0, 2_000)}`)
}

/** The master key keeps to what is not the foreign tenant's, whose rows nobody else can touch. */
function principals(): [number, Principal][] {
  const nobody = [null, 'nonsense', '00000000-0000-4000-8000-000000000000']
  const master: Principal = {
    keys: ['~key.master~'],
    applications: [null, null, null, '~applications.own~', 'nonsense'],
    ids: idsOf(/\.(own|spare)/),
    expendable: idsOf(/spare/),
  }
  const tenant: Principal = {
    keys: [...Array<string>(12).fill('~key.own.developer~'), '~key.own.public~', '~key.limited~', ...nobody],
    applications: [null, null, null, '~applications.foreign~'],
    ids: idsOf(/\.own/, /\.own/, /\.own/, /^(?!applications).*spare/, /foreign/),
    expendable: idsOf(/spare/, /spare/, /foreign/),
  }
  return [
    [1, master],
    [2, tenant],
  ]
}

/** Placeholders of the ids whose names match, by the resource they are of; as often as they match. */
function idsOf(...patterns: RegExp[]): Principal['ids'] {
  const known = patterns.flatMap((pattern) => [...names.keys()].filter((name) => pattern.test(name)))
  const ids = Object.groupBy(
    known.map((name) => `~${name}~`),
    (mark) => mark.slice(1).split('.', 1)[0] ?? '',
  )
  const keys = ['theme', 'theme', 'theme.colour', 'list', 'list.0', 'svc.version', 'absent']
  return { ...ids, appconfig: [...(ids.applications ?? []), ...keys] }
}

function filledIn(text: string): string {
  return text.replace(/~([\w.]+)~/g, (mark, name: string) => {
    const [kind, size] = name.split('.')
    if (kind === 'many') return 'a'.repeat(Number(size))
    if (kind === 'deep') return '['.repeat(Number(size)) + ']'.repeat(Number(size))
    if (kind === 'keys')
      return JSON.stringify(Object.fromEntries(Array.from({ length: Number(size) }, (_, at) => [at, at])))
    return names.get(name) ?? mark
  })
}

function named(name: string): string {
  const value = names.get(name)
  assert.ok(value, name)
  return value
}

/** The resources whose records can be made and deleted. */
function collections(): string[] {
  const [base, paths] = ['/api/v1/', document.paths]
  return Object.keys(paths)
    .filter((path) => paths[path]?.post && paths[`${path}/{id}`]?.delete && path !== `${base}appconfig`)
    .map((path) => path.slice(base.length))
}

/** A tenant with something of everything, and in it the text wherever a text can be. */
async function furnish(owner: 'own' | 'foreign', tenant: Tenant, text: string): Promise<void> {
  const { id, developer: key } = tenant
  names.set(`applications.${owner}`, id)
  names.set(`key.${owner}.developer`, key).set(`key.${owner}.public`, tenant.public)
  await app.call('PUT', `/api/v1/applications/${id}/metadata`, { key, body: metadataWith(text) })
  await app.call('PUT', '/api/v1/appconfig', { key, body: { theme: { colour: text }, list: [text] } })
  for (const resource of collections().filter((name) => name !== 'applications')) {
    for (const number of [0, 1, 2]) await make(`${resource}.${owner}.${number}`, text)
  }
}

const metadataWith = (text: string) => ({ colour: { hex: text }, list: [text] })

/** Makes the record of this name after the example in the document. */
async function make(name: string, text: string, allowed: readonly number[] = [201]): Promise<void> {
  const [resource = '', owner] = name.split('.')
  const { schema, example } =
    document.paths[`/api/v1/${resource}`]?.post?.requestBody?.content['application/json'] ?? {}
  const texts = ['name', 'description'].filter((field) => field in (schema?.properties ?? {}))
  const key = resource === 'applications' ? app.master : named(`key.${owner === 'foreign' ? owner : 'own'}.developer`)
  const reply = await app.call('POST', `/api/v1/${resource}`, {
    key,
    body: {
      ...(example as object),
      ...Object.fromEntries(texts.map((field) => [field, text])),
      metadata: metadataWith(text),
    },
  })
  assert.ok(allowed.includes(reply.status), reply.text)
  if (reply.status === 201) names.set(name, reply.body.id)
}

/** So that the next deletion finds something too. A dataset cannot be made while the default database is a fuzzed one. */
async function restore(url: string): Promise<void> {
  const [, name] = /~(\w+\.spare\.\d+)~/.exec(url) ?? []
  if (name) await make(name, 'Spare', [201, 502])
}

/** All that the database has of the foreign tenant; when its keys were last used is written a minute late. */
async function foreignRows(): Promise<Row[][]> {
  const id = named('applications.foreign')
  const tables = await app.db.query<{ name: string; column: string }>(sql`
    SELECT table_name AS name, column_name AS column FROM information_schema.columns
    WHERE table_schema = 'svc' AND (column_name = 'application_id' OR (table_name, column_name) = ('applications', 'id'))
    ORDER BY 1`)
  assert.ok(tables.length >= 4)
  return Promise.all(
    tables.map(({ name, column }) =>
      app.db.query(sql`
        SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${ident('svc', name)} t WHERE ${ident(column)} = ${id}::uuid
        ORDER BY 1`),
    ),
  )
}
