import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type TestApp, testApp } from '../../../testing/harness.ts'
import { keyTypes } from '../../api/access/acl.ts'
import { type Authority, authenticate } from '../../api/access/authenticate.ts'
import type { Permissions } from '../../api/access/grants.ts'
import type { Key } from '../../api/access/key-cache.ts'
import { admission, mount } from '../../api/http/mount.ts'
import type { Operation } from '../../api/http/operation.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createCaller } from './call-operation.ts'

/** Every operation that an ACL guards, at an address of its own, with nothing behind it but a word that one got through. */
let operations: Operation[]
let app: TestApp
let http: FastifyInstance
before(async () => {
  app = await testApp()
  operations = app.operations
    .filter(({ access }) => typeof access === 'object')
    .map(({ id, path, method, summary, access, bearer, success }) => ({
      id,
      path: `/${id}${path}`,
      method,
      summary,
      access,
      success,
      ownParameters: true,
      ...(bearer && { bearer }),
      handle: async () => ({ status: 200, json: '"through"' }),
    }))
  http = fastify()
  http.decorateRequest(admission, null)
  http.setErrorHandler((error, _request, reply) => reply.code(statusOf(error)).send())
  const mountContext = { authority, services: {}, commonHeaders: () => ({}) }
  for (const operation of operations) mount(http, operation, mountContext)
})
after(async () => {
  await http.close()
  await app.close()
})

/** Keys and tokens that are whatever the test says. */
const keys = new Map<string, Key>()
const applicationId = randomUUID()
const authority = {
  keys: { find: (id: string) => keys.get(id) },
  bearers: {
    find: async (token: string) => ({
      bearer: { userId: 7, sessionId: randomUUID() },
      applicationId,
      expiresAt: new Date(Date.now() + 60_000),
      key: async () => keys.get(token),
    }),
  },
} as unknown as Authority

const [listed, other] = [randomUUID(), randomUUID()]
const permissionSets: Permissions[] = [
  { '*': { '*': '*' } },
  { '*': { read: '*' } },
  { '*': { execute: '*' } },
  { '*': { write: '*' } },
  { '*': { '*': [listed] } },
  { '*': { '*': [applicationId] } },
  { '*': { '*': '*' }, datasets: { read: [] }, auth: { '*': [] } },
  {},
]

/** One address can mean two things, by its query. */
const queries: Record<string, string>[] = [{}, { limit: '1' }]

function* credentials() {
  for (const permissions of permissionSets) {
    for (const type of keyTypes) {
      const key = randomUUID()
      const userId = type === 'user' ? 7 : null
      const rest = { expiresAt: null, allowedOrigins: null, keyHash: 'aa' }
      keys.set(key, { type, permissions, userId, applicationId, ...rest })
      yield { name: `${type} ${JSON.stringify(permissions)}`, headers: { 'x-api-key': key } }
      const both = { 'x-api-key': key, authorization: 'Bearer token' }
      yield { name: `${type} with a token ${JSON.stringify(permissions)}`, headers: both }
    }
  }
}

/** Every address of every operation. */
function* addresses() {
  for (const { id: operationId, method, path, access } of operations) {
    const hasLevels = typeof access === 'object' && typeof access.level === 'function'
    for (const id of path.includes('{id}') ? [listed, other] : ['']) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const params = Object.fromEntries(names.map((name) => [name, name === 'id' ? id : '1']))
      const url = path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
      for (const query of hasLevels ? queries : [{}]) yield { operationId, method, url, params, query }
    }
  }
}

test('a tool gets through to exactly those operations that the same caller gets through to by HTTP', async () => {
  const call = createCaller(operations)
  const context = { request: {} as FastifyRequest, services: {}, signal: new AbortController().signal }
  const statuses: number[] = []
  for (const { name, headers } of credentials()) {
    const caller = await authenticate({ rawHeaders: Object.entries(headers).flat(), query: {} }, authority)
    for (const { operationId, method, url, params, query } of addresses()) {
      const reply = await http.inject({ method, url, headers, query })
      const byTool = await call(context, caller)(operationId, { params, query }).then(() => 200, statusOf)
      assert.equal(byTool, reply.statusCode, `${operationId} ${url} ${name}`)
      statuses.push(byTool)
    }
  }
  for (const status of [200, 401]) assert.ok(statuses.filter((one) => one === status).length > 1_000, String(status))
  assert.deepEqual([...new Set(statuses)].sort(), [200, 401])
})

const statusOf = (error: unknown): number => (error instanceof ApiError ? error.status : 500)
