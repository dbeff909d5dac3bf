import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { later } from '../../../testing/processes/clock.ts'
import { type TileApp, tileApp, valuesOf } from '../../../testing/tiles.ts'
import { until } from '../../../testing/until.ts'
import { sql } from '../../kernel/db/sql.ts'
import { createDataVersions } from '../datasets/data-versions.ts'

// A write that no trigger notes must not leave tiles as they are: the versions of a table are exact only where its trigger fires.

let maps: TileApp
before(async () => {
  maps = await tileApp()
})
after(() => maps.close())

let tables = 0
/** A table with one row, and the number of its dataset, of which a tile was read. */
async function table(): Promise<{ name: string; id: string }> {
  const name = `t${tables++}`
  await maps.script(`
    CREATE TABLE ${name} (id int PRIMARY KEY, geom geometry(Point, 4326));
    INSERT INTO ${name} VALUES (1, ST_Point(6, 50, 4326))`)
  const id = await maps.dataset({ source: name })
  assert.deepEqual(await seen(id), [1])
  return { name, id }
}

/** The ids in the tile of the world. */
async function seen(id: string): Promise<unknown[]> {
  const reply = await maps.get(`/tiles/${id}/0/0/0.mvt`)
  assert.ok([200, 204].includes(reply.statusCode), reply.body)
  return valuesOf(reply).sort()
}

/** The version of a dataset's data, if every change of them is noticed. */
async function exactVersion(source: string): Promise<string | undefined> {
  const { db, services } = maps.app
  const [database] = await db.query<{ id: string }>(
    sql`SELECT id::text FROM svc.databases WHERE application_id = ${maps.tenant.id}::uuid`,
  )
  const dataset = { applicationId: maps.tenant.id, databaseId: database?.id ?? '', type: 'table', source } as const
  return createDataVersions({ db, connections: services.connections }).exactly(dataset)
}

const state = async (name: string): Promise<unknown> => {
  const [row] = await maps.app.db.query(sql`SELECT tgenabled::text AS state FROM pg_trigger
    WHERE tgname = 'svc_note_change' AND tgrelid = ${`${maps.schema}.${name}`}::regclass`)
  return row?.state
}

/** Nobody may see what was a second ago. */
const aSecond = () => later(1_000)

const insert = (name: string, id = 2) => `INSERT INTO ${name} VALUES (${id}, ST_Point(7, 50, 4326))`

describe('what is written while triggers do not fire is seen within a second', { concurrency: true }, () => {
  for (const [what, disable, enable] of [
    ['DISABLE TRIGGER USER', 'DISABLE TRIGGER USER', ''],
    ['DISABLE TRIGGER by its name', 'DISABLE TRIGGER svc_note_change', ''],
    ['ENABLE REPLICA TRIGGER', 'ENABLE REPLICA TRIGGER svc_note_change', ''],
    ['DISABLE TRIGGER and ENABLE TRIGGER afterwards', 'DISABLE TRIGGER USER', 'ENABLE TRIGGER USER'],
    ['ENABLE ALWAYS TRIGGER afterwards', 'DISABLE TRIGGER USER', 'ENABLE ALWAYS TRIGGER svc_note_change'],
  ] as const) {
    test(`after ${what}`, async () => {
      const { name, id } = await table()
      await maps.script(`ALTER TABLE ${name} ${disable}; ${insert(name)}; ${enable && `ALTER TABLE ${name} ${enable}`}`)
      aSecond()
      assert.deepEqual(await seen(id), [1, 2])
      assert.equal(await state(name), 'A', 'the trigger fires again')
      await maps.script(insert(name, 3))
      aSecond()
      assert.deepEqual(await seen(id), [1, 2, 3])
    })
  }

  test('after DROP TRIGGER', async () => {
    const { name, id } = await table()
    await maps.script(`DROP TRIGGER svc_note_change ON ${name}; ${insert(name)}`)
    aSecond()
    assert.deepEqual(await seen(id), [1, 2])
    assert.equal(await state(name), 'A')
  })

  test('after DISABLE TRIGGER ALL of an administrator, as pg_restore --disable-triggers does it', async () => {
    const { name, id } = await table()
    const whole = `${maps.schema}.${name}`
    await maps.app.admin.script(`ALTER TABLE ${whole} DISABLE TRIGGER ALL`)
    await maps.script(insert(name))
    await maps.app.admin.script(`ALTER TABLE ${whole} ENABLE TRIGGER ALL`)
    aSecond()
    assert.deepEqual(await seen(id), [1, 2])
  })

  test('in a session whose session_replication_role is replica', async () => {
    const { name, id } = await table()
    await maps.app.admin.script(`SET session_replication_role = replica; SET search_path = ${maps.schema}, public;
      ${insert(name)}; RESET search_path; RESET session_replication_role`)
    aSecond()
    assert.deepEqual(await seen(id), [1, 2])
  })

  test('of a table that the server does not own: its versions expire, and none is called exact', {
    skip: process.env.TEST_DATABASE_URL ? false : 'embedded, the server owns all',
  }, async () => {
    const { name, id } = await table()
    const whole = `${maps.schema}.${name}`
    assert.ok(await exactVersion(name))
    await maps.app.admin.script(`ALTER TABLE ${whole} DISABLE TRIGGER USER; ALTER TABLE ${whole} OWNER TO postgres;
      GRANT ALL ON ${whole} TO graticule`)
    await maps.script(insert(name))
    await until(async () => (await seen(id)).length === 2)
    assert.equal(await state(name), 'D')
    assert.equal(await exactVersion(name), undefined)
    await maps.script(insert(name, 3))
    await until(async () => (await seen(id)).length === 3)
  })
})

test('a table that logical replication writes to has no exact version', {
  skip: process.env.TEST_DATABASE_URL ? false : 'embedded there is no replication',
}, async () => {
  const { name } = await table()
  assert.ok(await exactVersion(name))
  await maps.app.admin.script(`INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)
    VALUES (1, '${maps.schema}.${name}'::regclass, 'r')`)
  assert.equal(await exactVersion(name), undefined)
  await maps.app.admin.script('DELETE FROM pg_subscription_rel WHERE srsubid = 1')
})

test('a trigger that fires only in ordinary sessions, as earlier versions made it, is made to fire in all', async () => {
  const { name, id } = await table()
  await maps.script(`DROP TRIGGER svc_note_change ON ${name}; CREATE TRIGGER svc_note_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${name} FOR EACH STATEMENT EXECUTE FUNCTION svc.note_change()`)
  aSecond()
  assert.deepEqual(await seen(id), [1])
  assert.equal(await state(name), 'A')
})
