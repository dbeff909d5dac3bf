import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import type { App } from '../../src/boot/app.ts'
import { tenantSchema } from '../../src/data/databases/tenant-schema.ts'
import type { Db } from '../../src/kernel/db/db.ts'
import { sql } from '../../src/kernel/db/sql.ts'
import { type Tenant, type TestApp, testApp } from '../harness.ts'
import { until } from '../until.ts'
import { type ChangeClient, openChanges } from './change-client.ts'

type FollowRequest = { lastEventId?: string | undefined; key?: string; query?: string; port?: number }
export type ChangeWorld = Awaited<ReturnType<typeof changeWorld>>

/** A server with one tenant whose datasets are followed. */
export async function changeWorld(settings: Record<string, string> = {}) {
  const app: TestApp = await testApp(settings)
  const tenant: Tenant = await app.tenant('own')
  const schema = tenantSchema(tenant.id)
  const port = await listen(app)
  const clients: ChangeClient[] = []
  let tables = 0

  async function dataset(source: string, rest: object = {}): Promise<string> {
    const body = { type: 'table', name: source, source, ...rest }
    const reply = await app.call('POST', '/api/v1/datasets', { key: tenant.developer, body })
    assert.equal(reply.status, 201, reply.text)
    return reply.body.id
  }

  /** `$` is the schema of the tenant. */
  const script = (text: string) => app.db.script(text.replaceAll('$', `"${schema}"`))

  async function follow(id: string, rest: FollowRequest = {}): Promise<ChangeClient> {
    const client = await openChanges({ port, id, key: tenant.public, ...rest })
    clients.push(client)
    return client
  }

  return {
    app,
    tenant,
    schema,
    port,
    script,
    dataset,
    follow,
    /** A client that gets every change from now on. */
    async followed(id: string, rest: FollowRequest = {}): Promise<ChangeClient> {
      const client = await follow(id, rest)
      assert.equal(client.status, 200, JSON.stringify(client.problem))
      await client.first('ready')
      return client
    },
    async table(columns = 'id int PRIMARY KEY, geom geometry(Point, 4326)') {
      const name = `t${tables++}`
      await script(`CREATE TABLE $.${name} (${columns})`)
      return { name, id: await dataset(name) }
    },
    async close() {
      for (const client of clients) client.close()
      await app.close()
    },
  }
}

/** The retention is over for all that could be told until now. */
export async function outliveRetention(db: Db): Promise<void> {
  const sweep = (): Promise<unknown> => db.query(sql`SELECT svc.sweep_changes('24 hours', 1000)`)
  await db.query(sql`DELETE FROM svc.change_horizons`)
  await sweep()
  await db.query(sql`UPDATE svc.change_log SET at = at - interval '25 hours'`)
  await db.query(sql`UPDATE svc.change_horizons SET at = at - interval '25 hours'`)
  await sweep()
}

/** Deletes what is in the change log, as the retention does. */
export const sweepLog = (db: Db): Promise<void> =>
  until(async () => {
    await outliveRetention(db)
    // Transactions of others, in the same cluster, may hold it back.
    return (await db.query(sql`SELECT FROM svc.change_log LIMIT 1`)).length === 0
  })

export async function listen({ http }: Pick<App, 'http'>): Promise<number> {
  await http.listen({ port: 0, host: '127.0.0.1' })
  return (http.server.address() as AddressInfo).port
}

/** Waits until the client has so many changes. */
export const changed = (client: ChangeClient, count = 1) => until(() => client.changes().length >= count)
