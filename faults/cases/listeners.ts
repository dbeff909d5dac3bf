import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { tenantSchema } from '../../packages/server/src/data/databases/tenant-schema.ts'
import type { FaultContext } from '../context.ts'
import { expect, type Fault, type Measurements } from '../fault.ts'
import { p } from '../load.ts'
import type { FaultServer } from '../server.ts'
import { type FaultTenant, make, makeTenant } from '../tenants.ts'
import { seconds, untilSo } from '../wait.ts'

const lateP99Ms = 1_000
const perListenerKilobytes = 64
const slowCount = 20
/** With 39 kB in each, more than the system buffers for a connection that nobody reads. */
const slowRounds = 300
const growthMegabytes = 100
const opening = 200

type Client = { readonly socket: Socket; heard: number; at: number; isOver: boolean }

const requestOf = (dataset: string, { key }: FaultTenant): string =>
  `GET /api/v1/datasets/${dataset}/changes HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${key}\r\n\r\n`

/** A client that counts the changes it hears of, or one that reads nothing. */
async function listen(url: string, request: string, reads: boolean): Promise<Client> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  const client: Client = { socket, heard: 0, at: 0, isOver: false }
  socket
    .on('error', () => undefined)
    .on('close', () => {
      client.isOver = true
    })
  await once(socket, 'connect')
  socket.write(request)
  const ready = new Promise<void>((resolve) => {
    const hear = (bytes: Buffer): void => {
      if (bytes.includes('event: ready')) {
        resolve()
        if (!reads) socket.off('data', hear).pause()
      }
      for (let at = bytes.indexOf('event: change'); at >= 0; at = bytes.indexOf('event: change', at + 1)) client.heard++
      client.at = performance.now()
    }
    socket.on('data', hear)
  })
  await ready
  return client
}

async function listenMany(server: FaultServer, request: string, count: number): Promise<Client[]> {
  const clients: Client[] = []
  for (let done = 0; done < count; done += opening) {
    const some = Array.from({ length: Math.min(opening, count - done) }, () => listen(server.url, request, true))
    clients.push(...(await Promise.all(some)))
  }
  return clients
}

async function memoryOf({ pid }: FaultServer): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024
}

/** So long a statement takes on average, in milliseconds. */
async function timed(count: number, run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  for (let done = 0; done < count; done++) await run()
  return (performance.now() - begun) / count
}

async function writeCosts(db: pg.Client, table: string): Promise<{ one: number; many: number }> {
  const point = 'ST_Point(random() * 360 - 180, random() * 170 - 85, 4326)'
  const one = () => db.query(`INSERT INTO ${table} (geom) VALUES (${point})`)
  await timed(200, one)
  return {
    one: await timed(1_000, one),
    many: await timed(3, () => db.query(`INSERT INTO ${table} (geom) SELECT ${point} FROM generate_series(1, 100000)`)),
  }
}

type World = {
  readonly context: FaultContext
  readonly server: FaultServer
  readonly db: pg.Client
  tableOf(name: string): string
  /** The request that follows the table. */
  requestFor(name: string): Promise<string>
}

async function openWorld(context: FaultContext): Promise<World> {
  const { url: DATABASE_URL } = await context.postgres()
  const server = await context.server({ DATABASE_URL, LISTENERS_PER_APPLICATION: '6000' })
  const tenant = await makeTenant(server, 'listeners')
  const db = new pg.Client({ connectionString: DATABASE_URL })
  await db.connect()
  context.defer(() => db.end())
  const tableOf = (name: string) => `${tenantSchema(tenant.id)}.${name}`
  for (const name of ['crowd', 'cost'])
    await db.query(`CREATE TABLE ${tableOf(name)} (id serial PRIMARY KEY, geom geometry(Point, 4326))`)
  await db.query(`CREATE TABLE ${tableOf('slow')} (id text PRIMARY KEY)`)
  return {
    context,
    server,
    db,
    tableOf,
    async requestFor(name) {
      const { id } = await make(server, 'datasets', { type: 'table', name, source: name }, tenant.key)
      return requestOf(id, tenant)
    },
  }
}

async function measureWrites({ server, db, tableOf, requestFor }: World): Promise<Measurements> {
  const alone = await writeCosts(db, tableOf('cost'))
  const listener = await listen(server.url, await requestFor('cost'), true)
  const followed = await writeCosts(db, tableOf('cost'))
  listener.socket.destroy()
  return {
    'insert of one row, not followed and followed': `${alone.one.toFixed(2)} ms, ${followed.one.toFixed(2)} ms`,
    'insert of 100 000 rows': `${seconds(alone.many)}, ${seconds(followed.many)}`,
  }
}

/** When each of the clients has heard of the change that is just committed, in milliseconds. */
async function hearAll(clients: readonly Client[], round: number): Promise<number[]> {
  const committed = performance.now()
  const missing = () => clients.filter(({ heard }) => heard < round).length
  await untilSo(
    () => missing() === 0,
    60_000,
    () => `${missing()} listeners did not hear of a change`,
  )
  return clients.map(({ at }) => at - committed)
}

async function measureCrowd({ context, server, db, tableOf, requestFor }: World) {
  const request = await requestFor('crowd')
  const warm = await listenMany(server, request, 200)
  const before = await memoryOf(server)
  const count = context.size(1_000, 5_000)
  const clients = [...warm, ...(await listenMany(server, request, count - warm.length))]
  context.defer(() => clients.map(({ socket }) => socket.destroy()))
  await sleep(2_000)
  const kilobytes = ((await memoryOf(server)) - before) / (count - warm.length) / 1024
  const times: number[][] = []
  for (let round = 1; round <= context.size(5, 20); round++) {
    await db.query(`INSERT INTO ${tableOf('crowd')} (geom) VALUES (ST_Point(6, 50, 4326))`)
    times.push(await hearAll(clients, round))
    // At another moment of the reader's interval each time.
    await sleep(300 + ((round * 67) % 250))
  }
  const late = p(times.flat(), 0.99)
  const first = p(
    times.map((some) => Math.min(...some)),
    0.5,
  )
  expect(late <= context.allowed(lateP99Ms), () => `p99 of a change: ${late} ms`)
  expect(kilobytes <= perListenerKilobytes, () => `a listener takes ${kilobytes.toFixed(0)} kB`)
  const figures = {
    listeners: count,
    'from commit to the first listener (median) and to 99 of 100': `${first} ms, ${late} ms`,
    'memory of a listener': `${kilobytes.toFixed(1)} kB`,
  }
  return { clients, figures }
}

async function measureSlow({ context, server, db, tableOf, requestFor }: World): Promise<Measurements> {
  const request = await requestFor('slow')
  const reader = await listen(server.url, request, true)
  const idle = await Promise.all(Array.from({ length: slowCount }, () => listen(server.url, request, false)))
  context.defer(() => [reader, ...idle].map(({ socket }) => socket.destroy()))
  const calm = await memoryOf(server)
  let most = calm
  for (let round = 1; round <= slowRounds; round++) {
    await db.query(`INSERT INTO ${tableOf('slow')} SELECT gen_random_uuid()::text FROM generate_series(1, 1000)`)
    await hearAll([reader], round)
    most = Math.max(most, await memoryOf(server))
  }
  // What was not read was cut, which a client notices when it reads on.
  for (const { socket } of idle) socket.resume()
  const uncut = () => idle.filter(({ isOver }) => !isOver).length
  await untilSo(
    () => uncut() === 0,
    30_000,
    () => `${uncut()} slow listeners were not cut`,
  )
  expect(!reader.isOver, () => 'the listener that reads was cut too')
  const growth = (most - calm) / 1_048_576
  expect(growth <= growthMegabytes, () => `the server grew by ${growth.toFixed(0)} MB while listeners did not read`)
  return { [`growth while ${slowCount} listeners did not read`]: `${growth.toFixed(0)} MB` }
}

async function run(context: FaultContext): Promise<Measurements> {
  const world = await openWorld(context)
  const writes = await measureWrites(world)
  const { clients, figures } = await measureCrowd(world)
  const slow = await measureSlow(world)
  expect(
    clients.every(({ isOver }) => !isOver),
    () => 'listeners of another dataset were cut',
  )
  return { ...figures, ...slow, ...writes }
}

export const listeners: Fault = {
  name: 'listeners',
  promise:
    '5 000 clients that follow a dataset hear of a change within a second (p99), at 64 kB each; those that do not read are cut',
  run,
}
