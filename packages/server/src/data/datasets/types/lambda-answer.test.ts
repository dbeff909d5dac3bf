import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { ApiError } from '../../../kernel/errors.ts'
import { invokeLambda, type LambdaOptions, lambdaRows } from './lambda-answer.ts'

/** Speaks as much of Lambda's API as Invoke needs. */
let answer: { status?: number; headers?: Record<string, string>; body: string; isSilent?: boolean } = { body: '[]' }
const seen: { method: string | undefined; url: string | undefined; authorization: string; body: string }[] = []
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString()
  const { authorization = '' } = request.headers
  seen.push({ method: request.method, url: request.url, authorization, body })
  if (answer.isSilent) return
  const isSigned = authorization.startsWith('AWS4-HMAC-SHA256 ')
  response.writeHead(isSigned ? (answer.status ?? 200) : 403, answer.headers ?? {}).end(answer.body)
})
let options: LambdaOptions

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  options = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
  }
})
after(() => {
  server.close()
  server.closeAllConnections()
})

async function call(value: unknown, more: Partial<typeof answer> = {}, functionName = 'places') {
  answer = { body: typeof value === 'string' ? value : JSON.stringify(value), ...more }
  return lambdaRows(await invokeLambda({ functionName, payload: { parameters: { a: 'x', b: null } } }, options))
}
const isFailed = (error: unknown) => error instanceof ApiError && error.code === 'upstream_failed'

test('a function is invoked through the Invoke API, signed, with the parameters', async () => {
  assert.deepEqual(await call([{ a: 1 }]), [{ a: 1 }])
  const [request] = seen
  assert.equal(request?.method, 'POST')
  assert.equal(request?.url, '/2015-03-31/functions/places/invocations')
  assert.match(request?.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/eu-central-1\/lambda\//)
  assert.deepEqual(JSON.parse(request?.body ?? ''), { parameters: { a: 'x', b: null } })
})

test('rows come as a list, as features, under rows, or as the body of an HTTP answer', async () => {
  const rows = [{ a: 1 }]
  const collection = {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: null, properties: { a: 1 } }],
  }
  assert.deepEqual(await call({ rows }), rows)
  assert.deepEqual(await call(collection), [{ a: 1, geometry: null }])
  assert.deepEqual(await call({ statusCode: 200, body: JSON.stringify(rows) }), rows)
  assert.deepEqual(await call({ statusCode: 200, body: JSON.stringify({ rows }) }), rows)
  assert.deepEqual(await call({ statusCode: 200, body: rows }), rows)
  const body = Buffer.from(JSON.stringify(rows)).toString('base64')
  assert.deepEqual(await call({ statusCode: 200, body, isBase64Encoded: true }), rows)
  assert.deepEqual(await call('[{"a":9007199254740993}]'), [{ a: '9007199254740993' }])
})

test('a failing function is an upstream failure that tells nothing of its inside', async () => {
  const failed = call({ errorMessage: 'secret' }, { headers: { 'X-Amz-Function-Error': 'Unhandled' } })
  await assert.rejects(failed, (error) => isFailed(error) && !String(error).includes('secret'))
  await assert.rejects(call({ statusCode: 500, body: 'secret' }), isFailed)
  await assert.rejects(call('no JSON'), isFailed)
  await assert.rejects(call('null'), isFailed)
  const missing = { status: 404, headers: { 'x-amzn-errortype': 'ResourceNotFoundException' } }
  await assert.rejects(call({ Message: 'secret' }, missing), isFailed)
})

test('a name that is none is refused before anything is sent', async () => {
  const before = seen.length
  for (const name of ['', '../x', 'a b', 'a/b', 'x'.repeat(171)]) {
    await assert.rejects(call([], {}, name), (error) => error instanceof ApiError && error.status === 400)
  }
  assert.equal(seen.length, before)
})

test('a call ends at its time, and with its caller, who hears its own reason', async () => {
  answer = { body: '', isSilent: true }
  const source = { functionName: 'slow', payload: { parameters: {} } }
  await assert.rejects(invokeLambda(source, { ...options, timeoutMs: 100 }), isFailed)
  const controller = new AbortController()
  const reason = new Error('gone')
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(invokeLambda(source, { ...options, signal: controller.signal }), (error) => error === reason)
})

test('an answer without end is left at its limit', async () => {
  let written = 0
  const endless = createServer((_, response) => {
    const more = (): void => {
      while (!response.destroyed) {
        written += 65_536
        if (!response.write(' '.repeat(65_536))) return void response.once('drain', more)
      }
    }
    response.on('error', () => undefined)
    more()
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`
  try {
    const call = invokeLambda({ functionName: 'places', payload: { parameters: {} } }, { ...options, endpoint })
    await assert.rejects(call, /larger than 10485760 bytes, the limit/)
    assert.ok(written < 40_000_000, `${written} bytes`)
  } finally {
    endless.closeAllConnections()
    endless.close()
  }
})
