import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { createClient } from './client.ts'

// Every operation of openapi.json has a method of the client, or a reason why not. What a method sends is recorded, not
// declared: each one is called with made-up arguments by a fetch that keeps the request.

const unserved: Readonly<Record<string, string>> = {
  'basemap.describe': 'tiles.describe("basemap")',
  'basemap.tile': 'tiles.get("basemap", …)',
  'datasets.query': 'datasets.query() sends the advanced form, which asks for all that this one can, and more',
  'agents.connect': 'a WebSocket, which @graticule/agent opens',
  'auth.confirmsignup': 'a link for people: auth.confirmSignupUrl() gives its address',
  'auth.confirmsignup.path': 'the same link in another form',
  'auth.oidc.start': 'auth.signInWithProvider() sends the browser there',
  'auth.oidc.callback': 'a provider sends the browser there',
  'fonts.range': 'map libraries load it from the address that a style gives as `glyphs`',
  'sprites.file': 'map libraries load it from the address that a style gives as `sprite`',
  'mcp.call': 'clients of the Model Context Protocol speak to it',
  'console.start': 'a page for people',
  'console.home': 'a page for people',
  'console.page': 'a page for people',
  'docs.page': 'a page for people',
  'docs.asset': 'a part of that page',
}

type Operation = { readonly id: string; readonly method: string; readonly path: string }

async function operations(): Promise<Operation[]> {
  const document = JSON.parse(await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'))
  return Object.entries(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
      })),
  )
}

const id = '11111111-1111-4111-8111-111111111111'
const usual = [id, 'key', {}]
/** The arguments of methods that the usual ones do not suit. */
const own: Readonly<Record<string, unknown[]>> = {
  'auth.signInWithProvider': [id, { redirect: 'https://page', open: () => {} }],
  'auth.completeSignIn': [{ address: 'https://page/?sign_in_code=si_1' }],
  'auth.onChange': [() => {}],
  'tiles.get': [id, { z: 7, x: 8, y: 9 }],
  'uploads.upload': [new File(['a,b\n'], 'a.csv')],
  'uploads.create': [{ file: new File(['a,b\n'], 'a.csv') }],
  'uploads.preview': [new File(['a,b\n'], 'a.csv')],
  'uploads.wait': [id],
}

type Method = (...values: unknown[]) => unknown

/** Every function of a client with its name, such as `datasets.metadata.get`. */
const methodsOf = (group: object, prefix = ''): [name: string, method: Method][] =>
  Object.entries(group).flatMap(([name, value]): [string, Method][] => {
    if (typeof value === 'function') return [[prefix + name, value]]
    return typeof value === 'object' && value !== null ? methodsOf(value, `${prefix}${name}.`) : []
  })

/** The first request that each method of the client sends: its method and path. */
async function recorded(): Promise<Map<string, string>> {
  let request: string | undefined
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    request ??= `${init.method} ${new URL(String(input)).pathname}`
    return Response.json({ status: 'completed' })
  }
  const client = createClient('https://host', 'KEY', { fetch: fetch as typeof globalThis.fetch })
  const sent = new Map<string, string>()
  for (const [name, method] of methodsOf(client)) {
    request = undefined
    const result = method(...(own[name] ?? usual)) as Promise<unknown> | AsyncGenerator | string
    // Only what is sent matters, not what becomes of the answer.
    await Promise.resolve(typeof result === 'object' && 'next' in result ? result.next() : result).catch(() => {})
    if (request) sent.set(name, request)
  }
  return sent
}

const matches = ({ method, path }: Operation, request: string): boolean =>
  new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`).test(request)

/** The operation that an address belongs to: the one that names most of it. */
function operationOf(all: readonly Operation[], request: string): Operation | undefined {
  const candidates = all.filter((operation) => matches(operation, request))
  return candidates.sort((one, other) => placeholders(one) - placeholders(other))[0]
}

const placeholders = ({ path }: Operation): number => path.match(/\{/g)?.length ?? 0

test('every operation of openapi.json has a client method, or a reason why not', async () => {
  const all = await operations()
  const sent = await recorded()
  const found = new Set([...sent.values()].map((request) => operationOf(all, request)?.id))
  const missing = all.map((operation) => operation.id).filter((one) => !found.has(one))
  assert.deepEqual(missing.sort(), Object.keys(unserved).sort())
})

test('every request of the client is an operation of openapi.json', async () => {
  const all = await operations()
  for (const [name, request] of await recorded()) assert.ok(operationOf(all, request), `${name}: ${request}`)
})

test('every method of the client sends a request, but those that only make addresses or wait for a listener', async () => {
  const sent = await recorded()
  const silent = methodsOf(createClient('https://host'))
    .map(([name]) => name)
    .filter((name) => !sent.has(name))
  assert.deepEqual(silent.sort(), [
    'auth.confirmSignupUrl',
    'auth.onChange',
    'auth.signInWithProvider',
    'datasets.changeStream',
    'maps.url',
    'tiles.tileUrl',
    'tiles.url',
    'transformRequest',
  ])
})
