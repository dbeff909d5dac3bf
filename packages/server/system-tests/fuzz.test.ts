import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { InjectOptions } from 'fastify'
import { Compile } from 'typebox/compile'
import { queryOf } from '../src/api/http/input/query-string.ts'
import { openApiDocument } from '../src/boot/documents/openapi-document.ts'
import type { Row } from '../src/kernel/db/db.ts'
import { ident, sql } from '../src/kernel/db/sql.ts'
import { type TestApp, testApp } from '../testing/harness.ts'
import {
  type Document,
  type OperationEntry,
  operationAt,
  operationsOf,
  readDocument,
} from '../testing/requests/api-document.ts'
import type { Principal, RawRequest } from '../testing/requests/draft.ts'
import { anyRequest, plainRequest } from '../testing/requests/request-generator.ts'
import { createPool, type Pool } from '../testing/requests/request-pool.ts'

// A failure names the seed; TEST_SEED=… sends the same requests again, FUZZ_REQUESTS=… more or fewer of them. Without --random
// they are the same each time, so that a third of them finds what a change breaks.
const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 26))
const most = process.env.TEST_DATABASE_URL ? 20_000 : 3_000
const requests = Number(
  process.env.FUZZ_REQUESTS ?? (process.env.TEST_RANDOM ? most : (process.env.TEST_ALL ? 0.3 : 0.1) * most),
)
const lanes = 20
const patienceMs = 250_000

/** What any address can answer: such a request does not get as far as its operation. */
const alwaysPossible = [400, 401, 404, 405, 413, 414, 415, 431]
const canary = 'CANARY-of-the-other-tenant'
const prototype = Reflect.ownKeys(Object.prototype).length

/** How many plain requests an operation gets that no random request has reached. */
const plainRequests = 50

let app: TestApp
let document: Document
let pool: Pool
const answers = new Map<string, number>()
/** The forms of a filter, and the operators in it, that were understood. */
const understood = new Set<string>()
/** The names of datasets that were told to be in a database which may be anywhere. */
const moved = new Set<string>()

before(async () => {
  // Each upload takes a process of its own; there are to be few at a time.
  app = await testApp({ UPLOADS_PER_APPLICATION: '1', UPLOADS_WAITING_PER_APPLICATION: '5' })
  document = readDocument(await openApiDocument())
  pool = await createPool(app, document, canary)
})
after(async () => {
  await pool.close()
  await app.close()
})

test(`${requests} random requests get documented answers, and nothing of another tenant (TEST_SEED=${seed})`, async () => {
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
  assert.equal(failures.length, 0, `TEST_SEED=${seed} ${first?.reason}`)

  assert.equal((await app.call('GET', '/api/v1/healthcheck', { key: null })).status, 200)
  await reachTheRest()
  assert.deepEqual(await foreignRows(), untouched)
  checkCoverage()
})

describe('a request that once broke something is answered as documented', () => {
  const key = { type: 'app', permissions: {} }
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
    mint('of a user beyond bigint', 400, { type: 'user', userId: 2 ** 63 }),
    mint('of a user with an exponent', 400, { type: 'user', userId: 1e21 }),
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

/** Every operation succeeds at least once: one that chance has missed does so when it is asked plainly. */
async function reachTheRest(): Promise<void> {
  // What becomes a WebSocket has tests of its own.
  const missed = operationsOf(document).filter(
    ({ entry }) => !entry.responses[101] && !hasSucceeded(entry) && !worksOnce(entry),
  )
  await pool.renew()
  for (const operation of missed) {
    const attempts = fc.sample(plainRequest(operation, plainPrincipal()), { seed, numRuns: plainRequests })
    for (const attempt of attempts) {
      if (!hasSucceeded(operation.entry)) await judge(attempt)
    }
  }
  const unreached = missed.map(({ entry }) => entry).filter((entry) => !hasSucceeded(entry))
  const seen = unreached.map((entry) => `${entry.operationId}: ${answersOf(entry).join(', ')}`)
  assert.deepEqual(seen, [], `TEST_SEED=${seed}`)
}

/** A token or a code that works once would have to be made for every request, and a provider asked; other tests do that. */
const worksOnce = ({ operationId }: OperationEntry): boolean =>
  /^auth\.(exchange|logout|changepassword|resetpassword|confirmsignup.*|secondfactor\.(confirm|remove)|oidc\.(start|callback|token)|sessions\.end)$/.test(
    operationId,
  )

const isSuccess = ([answer]: readonly [string, number]): boolean => / [23]/.test(answer)
const answersOf = ({ operationId }: OperationEntry) =>
  [...answers].filter(([answer]) => answer.startsWith(`${operationId} `))
const hasSucceeded = (entry: OperationEntry): boolean => answersOf(entry).some(isSuccess)

/** A generator that has gone blind finds nothing either. */
function checkCoverage(): void {
  const successes = [...answers].filter(isSuccess).reduce((sum, [, count]) => sum + count, 0)
  assert.ok(successes > requests / 4, `only ${successes} requests came through`)
  if (requests < 6_000) return
  assert.ok(
    understood.has('filter[') && understood.has('filter={') && understood.size > (requests < 20_000 ? 10 : 15),
    `${[...understood]}`,
  )
}

/** Sends a request and judges the answer by the document, whatever the request was meant to be. Returns its status. */
async function judge(attempt: RawRequest): Promise<number> {
  const { method } = attempt
  const { filledIn } = pool
  const url = filledIn(attempt.url)
  const headers = Object.fromEntries(Object.entries(attempt.headers).map(([name, value]) => [name, filledIn(value)]))
  const payload = typeof attempt.body === 'string' ? filledIn(attempt.body) : attempt.body && Buffer.from(attempt.body)
  const isElsewhere = namesElsewhere(attempt, url)
  const response = await ask({ method: method as 'GET', url, headers, ...(payload !== undefined && { payload }) })
  const { statusCode: status, body: text } = response
  const operation = operationAt(document, method, url)
  note(operation, status, url)

  const answer = `${status} ${text.slice(0, 2_000)}`
  assert.ok(isAllowed(attempt, operation, status, isElsewhere), `undocumented: ${answer}`)
  assert.ok(response.headers['x-request-id'], `no request id: ${answer}`)
  assert.equal(Reflect.ownKeys(Object.prototype).length, prototype, 'the prototype of all objects is polluted')
  if (method !== 'HEAD') {
    if (isOwnFailure(operation, response)) checkSuccess(operation?.responses[status], response, attempt)
    else if (status >= 400) checkProblem(response)
    else checkSuccess(operation?.responses[status], response, attempt)
  }
  const shown = operation?.operationId === 'audit.list' ? withoutRefusals(text) : text
  if (!seesAll(attempt)) checkForLeaks(shown + JSON.stringify(response.headers), url + JSON.stringify(headers))
  if (status === 200 && operation?.operationId.endsWith('.delete')) await restore(attempt)
  return status
}

/** The whole answer; of a stream that never ends the beginning. */
async function ask(request: InjectOptions) {
  const response = await app.http.inject({ ...request, payloadAsStream: true })
  const { statusCode, headers } = response
  const isEndless = /\/changes(\?|$)/.test(String(request.url)) && statusCode === 200
  let body = ''
  for await (const piece of response.stream().setEncoding('utf8')) {
    body += piece
    if (isEndless) break
  }
  return { statusCode, headers, body }
}

function note(operation: OperationEntry | undefined, status: number, url: string): void {
  const key = `${operation?.operationId ?? 'nothing'} ${status}`
  answers.set(key, (answers.get(key) ?? 0) + 1)
  if (status !== 200 || !operation?.operationId.endsWith('.list')) return
  for (const [word] of decodeURIComponent(queryOf(url)).matchAll(/\bfilter(\[|={)|\$[a-z]\w+/gi)) understood.add(word)
}

/** An error of a protocol inside of HTTP, where the document has one. */
const isOwnFailure = (
  operation: OperationEntry | undefined,
  { statusCode, headers }: { statusCode: number; headers: object },
) =>
  statusCode >= 400 &&
  /^application\/json/.test(String((headers as Record<string, unknown>)['content-type'])) &&
  Object.hasOwn(operation?.responses[statusCode]?.content ?? {}, 'application/json')

function checkProblem({ statusCode, headers, body }: { statusCode: number; headers: object; body: string }): void {
  const { 'content-type': type, 'x-request-id': requestId } = headers as Record<string, unknown>
  assert.match(String(type), /^application\/problem\+json/)
  const problem = JSON.parse(body)
  checkSchema({ $ref: '#/components/schemas/Problem' }, problem)
  assert.equal(problem.status, statusCode)
  assert.equal(problem.requestId, requestId)
}

function checkSuccess(
  documented: OperationEntry['responses'][string] | undefined,
  { headers, body }: { headers: object; body: string },
  { method, url }: RawRequest,
): void {
  const schema = documented?.content?.['application/json']?.schema
  const { 'content-type': type } = headers as Record<string, unknown>
  // A record of which only some fields were asked for is not one as documented, and rows can be had as CSV or in lines too.
  const isJson = /json/.test(String(type ?? 'json')) && !/ndjson|json-seq/.test(String(type))
  if (!schema || /[?&]fields/.test(url) || !isJson) return
  // The address of a record and that of a configuration's key are one: deleting the former answers nothing.
  if (method === 'DELETE' && body === '') return
  checkSchema(schema, JSON.parse(body))
}

function isAllowed(
  { method, url }: RawRequest,
  operation: OperationEntry | undefined,
  status: number,
  isElsewhere: boolean,
): boolean {
  if (method === 'OPTIONS' && status === 204) return true
  const isDocumented = Object.hasOwn(operation?.responses ?? {}, status)
  if (status < 500) return isDocumented || alwaysPossible.includes(status)
  // All that is ours is well, so that not even the documented 503 is an excuse.
  // But whether an agent is served, enabled and quick is its own affair.
  if (/^agents\.(invoke|stream)$/.test(operation?.operationId ?? '')) return status === 503 || status === 504
  const isHurried = /[?&]timeout=\d(&|$)/.test(url) && status === 504
  return isDocumented && [502, 504].includes(status) && (isElsewhere || isHurried)
}

/** Whether a request is about a database that other requests change, and that may point to nothing. */
function namesElsewhere({ url: draft, headers, body }: RawRequest, url: string): boolean {
  const mark = /~(?:databases|datasets)\.\w+\.\d~/
  // Under its own id: by its name another one may be meant a moment later.
  const ids = mark.test(draft) ? (url.match(/[\da-f]{8}-[\da-f-]{27}/gi) ?? []) : []
  const isMoving = typeof body === 'string' && mark.test(body)
  if (isMoving) for (const id of ids) moved.add(id)
  // Another request may delete such an application meanwhile, and the place of its data with it.
  const isFleeting = /~applications\.spare\.\d~/.test(`${draft} ${JSON.stringify(headers)} ${body}`)
  // A database record says where to look; what it says is another request's to change.
  const isLook = /\/databases\/[^/]+\/(tables|publish|query)/.test(url)
  return isMoving || isFleeting || isLook || ids.some((id) => moved.has(id))
}

/** So that the next deletion finds something too. */
async function restore({ url }: RawRequest): Promise<void> {
  const [, name] = /~(\w+\.spare\.\d+)~/.exec(url) ?? []
  if (!name) return
  await pool.restore(name)
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
const seesAll = ({ url, headers }: RawRequest): boolean =>
  `${url} ${Object.values(headers)}`.includes('~key.master~') && headers['x-application-id'] === undefined

/** The audit log of an application names what its keys asked for and did not get. */
function withoutRefusals(text: string): string {
  const lines = text.startsWith('[')
    ? JSON.parse(text)
    : text.split('\n').map((line) => /^\{/.test(line) && JSON.parse(line))
  return JSON.stringify(lines.filter((entry: { status?: number }) => Number(entry.status) < 400))
}

function checkForLeaks(answer: string, request: string): void {
  for (const [name, value] of pool.names) {
    // The application's own id is no secret: requests say it, and a configuration may hold it.
    const isSecret = name.includes('foreign') && name !== 'applications.foreign' && !request.includes(value)
    assert.ok(!isSecret || !answer.includes(value), `${name} is in the answer: ${answer.slice(0, 2_000)}`)
  }
  assert.ok(!answer.includes(canary), `the other tenant is in the answer: ${answer.slice(0, 2_000)}`)
}

/** The master key keeps to what is not the foreign tenant's, whose rows nobody else can touch. */
function principals(): [number, Principal][] {
  const { idsOf } = pool
  const nobody = [null, 'nonsense', '00000000-0000-4000-8000-000000000000']
  const master: Principal = {
    keys: ['~key.master~'],
    applications: [null, null, null, '~applications.own~', 'nonsense'],
    ids: idsOf(/\.(own|spare)/),
    expendable: idsOf(/spare/),
    // A spare one that is named would be in use, and could no longer be deleted.
    references: idsOf(/\.(own|home)/, /^applications\.spare/, /home/, /home/),
  }
  const tenant: Principal = {
    keys: [
      ...Array<string>(12).fill('~key.own.developer~'),
      ...['~key.own.public~', '~key.limited~', '~key.appending~', ...nobody],
    ],
    applications: [null, null, null, '~applications.foreign~'],
    ids: idsOf(/\.own/, /\.own/, /\.own/, /^(?!applications).*spare/, /foreign/),
    expendable: idsOf(/spare/, /spare/, /foreign/),
    references: idsOf(/\.(own|home)/, /home/, /home/, /foreign/),
  }
  return [
    [1, master],
    [2, tenant],
  ]
}

function plainPrincipal(): Principal {
  return {
    keys: ['~key.master~', '~key.own.developer~'],
    applications: [null],
    // Only the tenant's own application has a configuration for certain.
    ids: pool.idsOf(/spare/, /^applications\.own/),
    expendable: pool.idsOf(/spare/),
    references: pool.idsOf(/^applications|home/),
  }
}

/** All that the database has of the foreign tenant; when its keys were last used is written a minute late. */
async function foreignRows(): Promise<Row[][]> {
  const id = pool.named('applications.foreign')
  const tables = await app.db.query<{ name: string; column: string }>(sql`
    SELECT table_name AS name, column_name AS column FROM information_schema.columns
    WHERE table_schema = 'svc' AND (column_name = 'application_id' OR (table_name, column_name) = ('applications', 'id'))
      -- They tell of attempts that failed.
      AND table_name NOT IN ('audit', 'usage')
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
