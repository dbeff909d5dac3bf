import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { type Tenant, type TestApp, testApp } from '../../../testing/harness.ts'
import { createLogger, masked } from './log.ts'

const key = randomUUID()
const oneTimeToken = randomBytes(32).toString('base64url')
const jwt = ['{"alg":"EdDSA","kid":"1234567890"}', '{"sub":"12345678901234567890"}']
  .map((part) => Buffer.from(part).toString('base64url'))
  .concat(randomBytes(64).toString('base64url'))
  .join('.')
const credentials = [key, key.toUpperCase(), key.replaceAll('-', ''), oneTimeToken, `rt_${oneTimeToken}`, jwt]

describe('a line of the log', () => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) })
  const written = (fields: object, message = 'x'): string => {
    logger.warn(fields, message)
    return lines.pop() ?? ''
  }

  test('holds no credential, wherever it was: message, field, error, cause, stack', () => {
    for (const credential of credentials) {
      const error = new Error(`refused ${credential}`, { cause: new Error(`at http://a/?api-key=${credential}&b=1`) })
      const places = [
        written({ path: `/api/v1/datasets/${credential}/query` }),
        written({ err: error, cause: error.cause }),
        written({ deep: { list: [credential] } }),
        written({}, `tried ${credential}, and ${credential}`),
        written({ err: Object.assign(new Error('x'), { where: `Key (id)=(${credential})` }) }),
        written({ referer: `https://a.example/?token=${credential}` }),
      ]
      for (const line of places) {
        assert.ok(!line.includes(credential), line)
        assert.ok(JSON.parse(line))
      }
    }
  })

  test('holds no password of an address, and no header', () => {
    const line = written(
      {},
      'postgres://user:pa55word@db/x Authorization: Bearer bearer-secret Basic dXNlcjprZXk= ?api-key=short-secret',
    )
    assert.doesNotMatch(line, /pa55|secret|dXNl/)
    assert.match(line, /postgres:\/\/user:…@db\/x/)
  })

  test('keeps what is searched for: ids of requests, agents and applications, schemas, the first digits of others', () => {
    const line = written({ requestId: key, agentId: key, traceId: 'a1'.repeat(16), path: `/api/v1/styles/${key}` })
    assert.equal(line.split(key).length, 3)
    assert.ok(line.includes('a1'.repeat(16)))
    assert.ok(line.includes(`/api/v1/styles/${key.slice(0, 8)}…`))
    assert.equal(masked(`relation "app_${'0a'.repeat(16)}.roads"`), `relation "app_${'0a'.repeat(16)}.roads"`)
    assert.equal(masked('AGENT_BRIDGE_CALLS_PER_APPLICATION'), 'AGENT_BRIDGE_CALLS_PER_APPLICATION')
  })
})

describe('a line of the log on a terminal', () => {
  const lines: string[] = []
  const logger = createLogger('trace', { write: (line) => void lines.push(line) }, true)
  const written = (log: () => void): string => {
    log()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    return (lines.pop() ?? '').replaceAll(/\u001b\[\d+m/g, '')
  }

  test('is read at a glance', () => {
    const request = { requestId: key, method: 'GET', path: '/api/v1/styles', status: 200, ms: 3.1 }
    assert.match(
      written(() => logger.info(request, 'request')),
      /^\d\d:\d\d:\d\d GET \/api\/v1\/styles 200 3.1 ms\n$/,
    )
    const warned = written(() => logger.warn({ agentId: 'a', attempts: [1, 2] }, 'sending'))
    assert.match(warned, /^\S+ warn sending agentId=a attempts=\[1,2\]\n$/)
    assert.match(
      written(() => logger.error({ err: new Error('broken') }, 'job')),
      /^\S+ error job\n {2}Error: broken\n {6}at /,
    )
  })

  test('holds no credential either', () => {
    for (const credential of credentials) {
      const text = written(() =>
        logger.error({ err: new Error(`at ${credential}`), path: `/${credential}` }, credential),
      )
      assert.ok(!text.includes(credential), text)
    }
  })

  test('holds nothing that a terminal would obey, whatever a client wrote', () => {
    const hostile = 'a\u001b]0;title\u0007\u009b2J\r\nb'
    logger.error({ err: new Error(hostile), path: hostile, '\u001b[2J': hostile }, hostile)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    const text = (lines.pop() ?? '').replaceAll(/\u001b\[\d+m/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
  })
})

describe('the log of the service', () => {
  const lines: string[] = []
  let app: TestApp
  let tenant: Tenant
  let port: number
  before(async () => {
    app = await testApp({}, (line) => void lines.push(line))
    tenant = await app.tenant('log')
    await app.http.listen({ port: 0, host: '127.0.0.1' })
    port = (app.http.server.address() as AddressInfo).port
  })
  after(() => app.close())

  /** The bytes as they are, and what is answered. */
  async function send(raw: string): Promise<string> {
    const socket = connect(port, '127.0.0.1')
    socket.end(raw)
    const answer = await text(socket)
    if (!socket.destroyed) await once(socket, 'close')
    return answer
  }
  const encoded = (value: string) => [...value].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')

  test('holds no key and no token, however wrong the request is that carries it', async () => {
    const secrets = [tenant.developer, app.master, oneTimeToken, `rt_${oneTimeToken}`]
    for (const secret of secrets) {
      const targets = [
        `/${secret}`,
        `/api/v1/nothing/${secret}`,
        `/api/v1/datasets/${secret}`,
        `/api/v1/datasets/${encoded(secret)}`,
        `/api/v1/${encoded(secret)}`,
        `/api/v1/apikeys/${secret}`,
        `/api/v1/auth/confirmsignup/${secret}/x`,
        `/api/v1/auth/confirmsignup/${secret}/x/y/z`,
        `/api/v1/appconfig/${secret}`,
        `/api/v1/styles?api-key=${secret}`,
        `/api/v1/styles;${secret}`,
        `/%ff${secret}`,
        `//${secret}`,
        `/tiles/${secret}/0/0/0.mvt?api-key=${secret}`,
        `/api/v1/agents/${secret}/connect?api-key=${secret}`,
        `/api/v1/${'a'.repeat(8_200)}/${secret}`,
      ]
      for (const target of targets) {
        for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND', 'HEAD']) {
          await send(
            `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nreferer: http://a/?k=${secret}\r\n\r\n`,
          )
        }
      }
      const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
      for (const target of [
        `/${secret}`,
        `/api/v1/agents/connect?api-key=${secret}`,
        `/api/v1/agents/${secret}/connect`,
      ]) {
        await send(`GET ${target} HTTP/1.1\r\nhost: a\r\n${upgrade}sec-websocket-key: AAAA\r\n\r\n`)
      }
      await send(`GET /${secret} HTP/1.1\r\n\r\n`)
      await send(`GET /${secret} HTTP/1.1\r\nbad header ${secret}\r\n\r\n`)
      await send(`${secret}\r\n\r\n`)
    }
    const log = lines.join('')
    assert.ok(lines.length > 100)
    for (const secret of secrets) {
      assert.ok(
        !log.includes(secret),
        lines.find((line) => line.includes(secret)),
      )
      assert.ok(!log.includes(encoded(secret)), 'encoded')
    }
  })

  test('says of a path that is no operation’s only that it was asked', async () => {
    lines.length = 0
    await app.call('GET', '/api/v1/no-such-thing')
    assert.equal(JSON.parse(lines[0] ?? '{}').status, 404)
    assert.ok(!lines.join('').includes('no-such-thing'))
    await app.call('GET', '/api/v1/styles')
    assert.equal(JSON.parse(lines.at(-1) ?? '{}').path, '/api/v1/styles')
  })
})
