import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { after, describe, test } from 'node:test'
import { ApiError } from '../errors.ts'
import type { DeniedServices, Lookup, ServiceAddress } from './deny-list.ts'
import { createEgress, type Egress } from './guard.ts'

const guards: Egress[] = []
after(() => Promise.all(guards.map((made) => made.close())))

const widest = '*,private,10.0.0.0/8,127.0.0.0/8'
const names: Record<string, string[]> = {
  'db.internal': ['10.0.0.5', 'fd00::5'],
  'alias.internal': ['10.0.0.5'],
  'both.internal': ['10.0.0.5', '10.0.0.6'],
  localhost: ['127.0.0.1', '::1'],
}
const addresses = (list: readonly string[]) =>
  list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
const lookup: Lookup = async (host) => {
  const found = names[host]
  if (!found) throw new Error(`ENOTFOUND ${host}`)
  return addresses(found)
}

function guard(own: Partial<DeniedServices>, allow = widest, look: Lookup = lookup): Egress {
  const services = { database: [], services: () => [], ...own }
  const made = createEgress({ allow, mayReachLoopback: true, denied: services, lookup: look })
  guards.push(made)
  return made
}
const database = (...places: ServiceAddress[]) => ({ database: places })
const service = (place: ServiceAddress) => ({ services: () => [place] })

const isRefused = (error: unknown) =>
  error instanceof ApiError && error.code === 'invalid_request' && /not allowed/.test(error.message)

describe('the platform’s own database', () => {
  test('is refused by name, by address and in every way of writing it, also to HTTP', async () => {
    const egress = guard(database({ host: 'db.internal', port: 5432 }), `${widest},db.internal:5432,10.0.0.5:5432`)
    const hosts = ['db.internal', 'alias.internal', '10.0.0.5', '::ffff:10.0.0.5', '::10.0.0.5', '64:ff9b::a00:5']
    for (const host of [...hosts, '2002:a00:5::', 'fd00::5', 'fd00:0:0::5']) {
      await assert.rejects(egress.resolve({ host, port: 5432 }), isRefused, host)
      const literal = host.includes(':') ? `[${host}]` : host
      await assert.rejects(egress.fetch(`http://${literal}:5432/`), isRefused, host)
    }
    assert.equal(await egress.resolve({ host: '10.0.0.5', port: 5433 }), '10.0.0.5')
    assert.equal(await egress.resolve({ host: '10.0.0.6', port: 5432 }), '10.0.0.6')
    assert.equal(await egress.resolve({ host: 'both.internal', port: 5432 }), '10.0.0.6', 'another server of that name')
  })

  test('on this machine is refused at every address of this machine', async () => {
    const own = Object.values(networkInterfaces()).flatMap((group) => (group ?? []).map(({ address }) => address))
    const here = ['127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', '::127.0.0.1', 'localhost']
    for (const host of ['127.0.0.1', 'localhost', '::1', '[::1]', '/var/run/postgresql', '', own.at(-1) ?? '']) {
      const egress = guard(database({ host, port: 5432 }))
      for (const target of [...here, ...own]) {
        await assert.rejects(egress.resolve({ host: target, port: 5432 }), isRefused, `${target} of ${host}`)
      }
      assert.equal(await egress.resolve({ host: '127.0.0.1', port: 5433 }), '127.0.0.1')
    }
  })

  test('of several hosts is each of them', async () => {
    const egress = guard(database({ host: '10.0.0.5', port: 5432 }, { host: '10.0.0.6', port: 5433 }))
    await assert.rejects(egress.resolve({ host: '10.0.0.5', port: 5432 }), isRefused)
    await assert.rejects(egress.resolve({ host: '10.0.0.6', port: 5433 }), isRefused)
  })

  test('is refused where it moved to and where it was', async () => {
    let now = ['10.0.0.5']
    const egress = guard(database({ host: 'moving', port: 5432 }), widest, async () => addresses(now))
    await assert.rejects(egress.resolve({ host: '10.0.0.5', port: 5432 }), isRefused)
    now = ['10.0.0.6']
    await assert.rejects(egress.resolve({ host: '10.0.0.6', port: 5432 }), isRefused)
    await assert.rejects(egress.resolve({ host: '10.0.0.5', port: 5432 }), isRefused)
  })

  test('whose name cannot be looked up closes the way out, until it can be or has been', async () => {
    let isDown = true
    const look: Lookup = async () => {
      if (isDown) throw new Error('EAI_AGAIN')
      return addresses(['10.0.0.5'])
    }
    const egress = guard(database({ host: 'db.internal', port: 5432 }), widest, look)
    await assert.rejects(egress.resolve({ host: '10.0.0.9', port: 5432 }), { code: 'upstream_failed' })
    isDown = false
    assert.equal(await egress.resolve({ host: '10.0.0.9', port: 5432 }), '10.0.0.9')
    isDown = true
    assert.equal(await egress.resolve({ host: '10.0.0.9', port: 5432 }), '10.0.0.9')
    await assert.rejects(egress.resolve({ host: '10.0.0.5', port: 5432 }), isRefused)
  })
})

describe('another service of the platform', () => {
  test('is reached only where host:port is named itself', async () => {
    const nats = { host: '127.0.0.1', port: 4222 }
    for (const allow of ['', widest, '127.0.0.1', 'localhost', '127.0.0.1:*', '127.0.0.1:4223']) {
      await assert.rejects(guard(service(nats), allow).resolve(nats), isRefused, allow)
      await assert.rejects(guard(service(nats), allow).resolve({ host: 'localhost', port: 4222 }), isRefused, allow)
    }
    assert.equal(await guard(service(nats), '127.0.0.1:4222').resolve(nats), '127.0.0.1')
    assert.equal(await guard(service(nats), 'localhost:4222').resolve({ ...nats, host: 'localhost' }), '127.0.0.1')
  })

  test('whose name cannot be looked up hinders nobody', async () => {
    const egress = guard(service({ host: 'gone.internal', port: 25 }))
    assert.equal(await egress.resolve({ host: '10.0.0.9', port: 25 }), '10.0.0.9')
  })
})
