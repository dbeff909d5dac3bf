import assert from 'node:assert/strict'
import { sql } from '../../src/kernel/db/sql.ts'
import { until } from '../until.ts'
import { webhookWorld } from '../webhook-world.ts'
import { startExternalServer } from './external-server.ts'

export type ExternalWorld = NonNullable<Awaited<ReturnType<typeof externalWorld>>>

/** A tenant with tables in an external PostgreSQL database, which are written through the service. Undefined without such a server. */
export async function externalWorld() {
  const server = await startExternalServer()
  if (!server) return undefined
  const world = await webhookWorld()
  const { app, tenant, call } = world
  const databaseId = await server.register(app, tenant.developer)
  let tables = 0

  async function dataset(source: string, rest: object = {}): Promise<string> {
    return world.dataset(source, { databaseId, metadata: { editable: true }, ...rest })
  }

  /** What a transaction of another database waits for at its commit, until it is let go. */
  async function heldCommits(table: string) {
    await server?.db.script(`
      CREATE FUNCTION hold_${table}() RETURNS trigger LANGUAGE plpgsql
        SET lock_timeout = 0 SET client_connection_check_interval = 0 AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(hashtext('${table}')); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold_${table}()`)
    const release = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const held = server?.db.transaction(async (tx) => {
      await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext(${table}))`)
      isHeld.resolve()
      await release.promise
    })
    await isHeld.promise
    return {
      /** Until a write has come to its COMMIT. */
      isWaiting: () =>
        until(async () => {
          const waiting = await server?.db.query(
            sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory' AND query = 'COMMIT'`,
          )
          return waiting?.length === 1
        }),
      async letGo() {
        release.resolve()
        await held
      },
    }
  }

  return {
    ...world,
    server,
    databaseId,
    dataset,
    heldCommits,
    async table(columns = 'id int PRIMARY KEY, name text, geom geometry(Point, 4326)') {
      const name = `e${tables++}`
      await server.db.script(`CREATE TABLE ${name} (${columns})`)
      const id = await dataset(name)
      const path = `datasets/${id}/rows`
      return { name, id, path, insert: (body: unknown) => call('POST', path, { body }) }
    },
    /** How many writes are about to be told. */
    async intents(): Promise<number> {
      const rows = await app.db.query(sql`SELECT FROM svc.change_intents WHERE keys IS NOT NULL`)
      return rows.length
    },
    /** Makes those that are left look old. */
    async abandon(): Promise<void> {
      await app.db.query(sql`UPDATE svc.change_intents SET noted_at = noted_at - interval '1 hour'`)
    },
    async count(table: string): Promise<number> {
      const [row] = await server.db.query<{ n: number }>(sql`SELECT (xpath('/row/n/text()',
        query_to_xml(${`SELECT count(*) AS n FROM ${table}`}, false, true, '')))[1]::text::int4 AS n`)
      assert.ok(row)
      return row.n
    },
    async close() {
      await world.close()
      await server.close()
    },
  }
}
