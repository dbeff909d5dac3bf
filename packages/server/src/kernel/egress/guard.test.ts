import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, createServer as createTcpServer } from 'node:net'
import { after, before, test } from 'node:test'
import { ApiError, StartError } from '../errors.ts'
import { createEgress, type Egress } from './guard.ts'
import { createPolicy } from './policy.ts'

const opened: (Server | ReturnType<typeof createTcpServer>)[] = []
const guards: Egress[] = []
let hits = 0
let port = 0

async function listen(handler: RequestListener): Promise<number> {
  const server = createServer(handler)
  opened.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

function guard(options: Partial<Parameters<typeof createEgress>[0]> = {}): Egress {
  const made = createEgress({ allow: '', mayReachLoopback: true, ...options })
  guards.push(made)
  return made
}

before(async () => {
  port = await listen((request, response) => {
    hits++
    const path = request.url ?? ''
    if (path.startsWith('/to?')) return response.writeHead(302, { location: decodeURIComponent(path.slice(4)) }).end()
    if (path === '/loop') return response.writeHead(302, { location: '/loop' }).end()
    if (path === '/big') return response.end('x'.repeat(5_000))
    if (path === '/slow') return response.write('x')
    if (path === '/zip') return response.writeHead(200, { 'content-encoding': 'gzip' }).end('zip')
    response.end(JSON.stringify({ method: request.method, headers: request.headers }))
  })
})

after(async () => {
  for (const server of opened) {
    if ('closeAllConnections' in server) server.closeAllConnections()
    server.close()
  }
  await Promise.all(guards.map((made) => made.close()))
})

const isRefused = (error: unknown) =>
  error instanceof ApiError &&
  error.code === 'invalid_request' &&
  /^The address is not allowed\..*EGRESS_ALLOW/.test(error.message)
const publicAddress = async () => [{ address: '192.0.43.10', family: 4 }]
const isFailed = (error: unknown) => error instanceof ApiError && error.code === 'upstream_failed'

test('no form of a loopback or private address is connected to unless the list names it', async () => {
  const names: Record<string, string> = { localhost: '127.0.0.1', 'inside.example': '10.0.0.1', 'six.example': '::1' }
  const lookup = async (host: string) => {
    const address = names[host] ?? '127.0.0.1'
    return [{ address, family: address.includes(':') ? 6 : 4 }]
  }
  const egress = guard({ mayReachLoopback: false, allow: `other.example:${port}`, lookup })
  const hosts = [
    ...['127.0.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '127.1', '0.0.0.0', '0'],
    ...[
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
    ],
    ...[
      'localhost',
      'LOCALHOST.',
      'inside.example',
      'six.example',
      '127。0。0。1',
      '10.0.0.1',
      '[fd00::1]',
      '[fe80::1]',
    ],
    ...['169.254.169.254', '168.63.129.16', '[fd00:ec2::254]', '100.64.0.1', '224.0.0.1', '255.255.255.255'],
  ]
  const before = hits
  for (const host of hosts) {
    await assert.rejects(egress.fetch(`http://${host}:8080/`), isRefused, host)
    const bare = host.replace(/^\[(.*)\]$/, '$1')
    await assert.rejects(
      egress.resolve({ host: bare, port }),
      (error) => error instanceof ApiError && error.status === 400,
      host,
    )
  }
  assert.equal(hits, before)
})

test('only http and https, without user and password, and only the usual ports', async () => {
  const egress = guard({ mayReachLoopback: false, allow: `private,127.0.0.2:${port}` })
  for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'no address', 'http://a:b@127.0.0.1:8080/']) {
    await assert.rejects(egress.fetch(url), (error) => error instanceof ApiError && error.status === 400)
  }
  await assert.rejects(egress.fetch(`http://127.0.0.1:${port}/`), isRefused)
  await assert.rejects(egress.fetch(`http://127.0.0.1:6379/`), isRefused)
})

test('host:port in the list opens just this port of just this host', async () => {
  const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
  const egress = guard({ mayReachLoopback: false, allow: `Inside.Example:${port}`, lookup })
  assert.equal((await egress.fetch(`http://inside.example:${port}/`)).status, 200)
  await assert.rejects(egress.fetch(`http://inside.example:8080/`), isRefused)
  await assert.rejects(egress.fetch(`http://other.example:${port}/`), isRefused)
  await assert.rejects(egress.fetch(`http://127.0.0.1:${port}/`), isRefused)
})

test('a server that nobody else can reach reaches loopback on every port, by name too, and no other private address', async () => {
  const egress = guard()
  assert.equal((await egress.fetch(`http://localhost:${port}/`)).status, 200)
  assert.equal((await egress.fetch(`http://127.0.0.1:${port}/`)).status, 200)
  await assert.rejects(egress.fetch('http://10.0.0.1/'), isRefused)
  await assert.rejects(guard({ lookup: publicAddress }).fetch('http://public.example:6379/'), isRefused)
})

test('host:* in the list opens every port of just this host', async () => {
  const egress = guard({ mayReachLoopback: false, allow: '127.0.0.1:*' })
  assert.equal((await egress.fetch(`http://127.0.0.1:${port}/`)).status, 200)
  await assert.rejects(egress.fetch(`http://127.0.0.2:${port}/`), isRefused)
  await assert.rejects(guard({ allow: '127.0.0.1:*', lookup: publicAddress }).fetch('http://a.example:81/'), isRefused)
})

test('a refusal is the same whether something listens there or not', async () => {
  const egress = guard({ mayReachLoopback: false })
  const said = await Promise.all(
    [port, 1, 80].map((one) => egress.fetch(`http://127.0.0.1:${one}/`).catch((error) => error.message)),
  )
  assert.equal(new Set(said).size, 1)
})

test('a redirect is checked like the first address, and is followed three times at most', async () => {
  const egress = guard()
  const to = (target: string) => `http://127.0.0.1:${port}/to?${encodeURIComponent(target)}`
  await assert.rejects(egress.fetch(to('http://10.0.0.1/')), isRefused)
  await assert.rejects(egress.fetch(to('http://169.254.169.254/latest/meta-data')), isRefused)
  await assert.rejects(
    egress.fetch(to('file:///etc/passwd')),
    (error) => error instanceof ApiError && error.status === 400,
  )
  await assert.rejects(egress.fetch(`http://127.0.0.1:${port}/loop`), isFailed)
  assert.equal((await egress.fetch(to(to(to('/end'))))).status, 200)
  await assert.rejects(egress.fetch(to(to(to(to('/end'))))), isFailed)
})

test('who does not want redirects gets them as an answer', async () => {
  const target = `http://127.0.0.1:${port}/to?${encodeURIComponent('/end')}`
  const { status, url } = await guard().fetch(target, { followsRedirects: false })
  assert.equal(status, 302)
  assert.equal(url, target)
})

test('a redirect to another origin carries no secret header, and turns a POST into a GET', async () => {
  const egress = guard()
  const headers = { authorization: 'Bearer s', 'X-Api-Key': 's', accept: 'text/csv' }
  const request = { method: 'POST', body: 'x', headers }
  const seen = async (host: string) => {
    const target = encodeURIComponent(`http://${host}:${port}/`)
    const { body } = await egress.fetch(`http://127.0.0.1:${port}/to?${target}`, request)
    return JSON.parse(String(body))
  }
  const other = await seen('localhost')
  assert.equal(other.method, 'GET')
  assert.equal(other.headers.accept, 'text/csv')
  assert.equal(other.headers.authorization, undefined)
  assert.equal(other.headers['x-api-key'], undefined)
  const same = await seen('127.0.0.1')
  assert.equal(same.headers.authorization, 'Bearer s')
  assert.equal(same.headers['x-api-key'], 's')
})

test('a name is resolved once for a connection, and only the addresses that passed are used', async () => {
  let calls = 0
  const lookup = async () => {
    calls++
    return [{ address: calls === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
  }
  const egress = guard({ lookup })
  assert.equal((await egress.fetch(`http://rebind.example:${port}/`)).status, 200)
  assert.equal(calls, 1)
  const again = guard({ lookup })
  await assert.rejects(again.fetch(`http://rebind.example:${port}/`), isRefused)

  const mixed = guard({ lookup: async () => ['10.0.0.1', '127.0.0.1'].map((address) => ({ address, family: 4 })) })
  assert.equal((await mixed.fetch(`http://mixed.example:${port}/`)).status, 200)
  assert.equal(await mixed.resolve({ host: 'mixed.example', port }), '127.0.0.1')
})

test('an answer ends at its size and at its time, a compressed one is not read', async () => {
  const egress = guard()
  const url = `http://127.0.0.1:${port}`
  assert.equal((await egress.fetch(`${url}/big`, { maxBytes: 5_000 })).body.length, 5_000)
  await assert.rejects(egress.fetch(`${url}/big`, { maxBytes: 4_999 }), /larger than 4999 bytes/)
  assert.equal((await egress.fetch(`${url}/big`, { maxBytes: 4_999, isCutWelcome: true })).body.length, 4_999)
  const start = Date.now()
  await assert.rejects(egress.fetch(`${url}/slow`, { timeoutMs: 100 }), isFailed)
  assert.ok(Date.now() - start < 20_000)
  await assert.rejects(egress.fetch(`${url}/zip`), isFailed)
  assert.ok((await egress.fetch(`${url}/zip`, { isEncodedWelcome: true })).headers['content-encoding'])
})

test('who gives up hears its own reason', async () => {
  const controller = new AbortController()
  const reason = new Error('gone')
  setTimeout(() => controller.abort(reason), 50)
  const url = `http://127.0.0.1:${port}/slow`
  await assert.rejects(guard().fetch(url, { signal: controller.signal }), (error) => error === reason)
})

test('whatever fails on the network is told with one text', async () => {
  const nothing = guard({ lookup: () => Promise.reject(new Error('ENOTFOUND internal-name')) })
  const texts: string[] = []
  const note = (error: unknown) => isFailed(error) && texts.push((error as Error).message) > 0
  await assert.rejects(nothing.fetch('http://internal-name/'), note)
  await assert.rejects(guard().fetch('http://127.0.0.1:1/'), note)
  await assert.rejects(guard().fetch(`http://127.0.0.1:${port}/slow`, { timeoutMs: 50 }), note)
  assert.equal(new Set(texts).size, 1)
})

test('headers that steer the connection, or break out of their line, are refused', async () => {
  for (const [name, value] of Object.entries({
    Host: 'x',
    'transfer-encoding': 'chunked',
    a: 'b\r\nc: d',
    'a b': 'c',
  })) {
    const refused = guard().fetch(`http://127.0.0.1:${port}/`, { headers: { [name]: value } })
    await assert.rejects(refused, (error) => error instanceof ApiError && error.status === 400)
  }
})

test('a database is a name or an address and nothing else', async () => {
  const target = { port: 5432 }
  assert.match(await guard().resolve({ host: 'localhost', ...target }), /^(127\.|::1)/)
  const wrong = [
    '',
    '/var/run/postgresql',
    '@abstract',
    'a,b',
    'postgres://a/b',
    'host=a',
    'a b',
    'a:1',
    '[::1]',
    'a\0',
    '-a',
  ]
  for (const host of wrong) {
    await assert.rejects(
      guard().resolve({ host, ...target }),
      (error) => error instanceof ApiError && error.status === 400,
    )
  }
  await assert.rejects(guard().resolve({ host: 'localhost', port: 0 }), /port/)
})

test('the list takes CIDRs, addresses, names, private and *, and says which entry is wrong', () => {
  const allows = (allow: string, address: string, host = address) =>
    createPolicy({ allow, mayReachLoopback: false }).allows({ address, host, port: 5432, isHttp: false })
  assert.equal(allows('', '8.8.8.8'), true)
  assert.equal(allows('', '2606:4700::1111'), true)
  assert.equal(allows('', '::7f00:1'), false)
  assert.equal(allows('10.0.0.0/8', '10.1.2.3'), true)
  assert.equal(allows('10.0.0.0/8', '::ffff:10.1.2.3'), true)
  assert.equal(allows('10.0.0.0/8', '192.168.0.1'), false)
  assert.equal(allows('fd00::/8', 'fd12::1'), true)
  assert.equal(allows('private', '192.168.0.1') && allows('private', '127.0.0.1') && allows('private', 'fd00::1'), true)
  assert.equal(allows('private', '169.254.1.1') || allows('private', '100.64.0.1'), false)
  assert.equal(allows('*', '100.64.0.1'), true)
  assert.equal(allows('db.internal', '10.0.0.1', 'DB.internal.'), true)
  assert.equal(allows('db.internal', '10.0.0.1', 'other.internal'), false)
  assert.equal(allows('10.0.0.1:5432, 10.0.0.2:1', '10.0.0.1') && !allows('10.0.0.2:1', '10.0.0.2'), true)
  assert.equal(allows('[fd00::1]:5432', 'fd00::1'), true)
  for (const wrong of ['a b', '10.0.0.0/99', 'host:0', 'host:99999', 'http://a', '*:80']) {
    assert.throws(
      () => createPolicy({ allow: wrong, mayReachLoopback: false }),
      (error) => error instanceof StartError,
    )
  }
})

test('addresses of cloud metadata are reached only when they are named themselves', () => {
  const wide = 'private,*,169.254.0.0/16,168.63.0.0/16,fd00::/8,metadata.internal'
  const allows = (allow: string, address: string, host: string) =>
    createPolicy({ allow, mayReachLoopback: true }).allows({ address, host, port: 80, isHttp: true })
  const named = '169.254.169.254,168.63.129.16/32,fd00:ec2::254'
  for (const address of ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254']) {
    assert.equal(allows(wide, address, 'metadata.internal'), false)
    assert.equal(allows(named, address, address), true)
  }
  assert.equal(allows(wide, '::ffff:169.254.169.254', 'x'), false)
  assert.equal(allows(wide, '64:ff9b::a9fe:a9fe', 'x'), false)
})

test('a stream is guarded as a fetch is, follows no redirect, and arrives while it is made', async () => {
  const { signal } = new AbortController()
  const stream = (target: string, options = {}) => guard(options).stream(target, { signal })
  const strict = { mayReachLoopback: false, allow: '' }
  await assert.rejects(stream(`http://127.0.0.1:${port}/`, strict), isRefused)
  await assert.rejects(
    stream('http://inside.example/', { lookup: async () => [{ address: '10.0.0.1', family: 4 }] }),
    isRefused,
  )
  await assert.rejects(stream('http://169.254.169.254/', { allow: '*' }), isRefused)
  await assert.rejects(stream(`http://127.0.0.1:${port}/zip`), isFailed)
  assert.equal((await stream(`http://127.0.0.1:${port}/to?${encodeURIComponent('/end')}`)).status, 302)
  for await (const chunk of (await stream(`http://127.0.0.1:${port}/slow`)).body) {
    assert.equal(chunk.toString(), 'x')
    break
  }
})

test('a stream ends when its signal says so, read or not', async () => {
  const stopped = new Error('enough')
  for (const isRead of [true, false]) {
    const stop = new AbortController()
    const { body } = await guard().stream(`http://127.0.0.1:${port}/slow`, { signal: stop.signal })
    const reading = isRead ? Array.fromAsync(body) : Promise.reject(stopped)
    stop.abort(stopped)
    await assert.rejects(reading, stopped)
  }
})
