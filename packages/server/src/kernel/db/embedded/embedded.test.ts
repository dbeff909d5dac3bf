import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { ApiError } from '../../errors.ts'
import type { Db } from '../db.ts'
import { sql } from '../sql.ts'
import { openEmbedded } from './embedded.ts'

const isUnavailable = (error: unknown): boolean => error instanceof ApiError && error.code === 'unavailable'

/** Writes one row after the other for ever, and says each number once its write was acknowledged. */
const writer = `
  import { writeSync } from 'node:fs'
  import { openEmbedded } from ${JSON.stringify(new URL('./embedded.ts', import.meta.url).href)}
  import { sql } from ${JSON.stringify(new URL('../sql.ts', import.meta.url).href)}
  const db = await openEmbedded({ directory: process.argv[1], onError: console.error })
  await db.script('CREATE TABLE IF NOT EXISTS written (n int PRIMARY KEY, filler text)')
  const [row] = await db.query(sql\`SELECT coalesce(max(n), 0) AS last FROM written\`)
  for (let n = row.last + 1; ; n++) {
    await db.query(sql\`INSERT INTO written VALUES (\${n}, repeat('x', 500))\`)
    writeSync(1, n + '\\n')
  }`

describe('the embedded database', { skip: Boolean(process.env.TEST_DATABASE_URL) }, () => {
  let parent: string
  let directory: string
  let db: Db
  const errors: unknown[] = []
  let acknowledged = 0

  async function writeAndKill(rows: number, whileWriting: (child: ChildProcess) => Promise<void>): Promise<void> {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', writer, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const from = acknowledged
    let checked = false
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line)
      if (!checked) {
        checked = true
        await whileWriting(child)
      }
      if (acknowledged >= from + rows) child.kill('SIGKILL')
    }
    await ended
  }

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'graticule-embedded-'))
    directory = join(parent, 'some', 'where', 'database')
    await writeAndKill(300, async (child) => {
      await assert.rejects(openEmbedded({ directory, onError: () => {} }), {
        message: `The data directory ${directory} is in use by process ${child.pid}. Stop it, or set DATA_DIR to another directory.`,
      })
    })
    db = await openEmbedded({ directory, onError: (error) => errors.push(error) })
  })

  after(async () => {
    await db.close()
    await rm(parent, { recursive: true })
  })

  test('no acknowledged write is lost when the process is killed', async () => {
    assert.ok(acknowledged >= 300)
    const [row] = await db.query(sql`SELECT count(*) AS n, max(n) AS last FROM written`)
    assert.equal(row?.n, row?.last)
    assert.ok(Number(row?.last) >= acknowledged, `${acknowledged} were acknowledged, ${row?.last} are there`)
  })

  test('a second opener is refused, also in the same process', async () => {
    await assert.rejects(openEmbedded({ directory, onError: () => {} }), {
      message: `The data directory ${directory} is in use by process ${process.pid}. Stop it, or set DATA_DIR to another directory.`,
    })
    assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }])
  })

  test('nothing is left beside the data directory', async () => {
    assert.deepEqual(await readdir(join(parent, 'some', 'where')), ['database'])
  })

  test('a directory with other files in it is refused', async () => {
    await writeFile(join(parent, 'something'), '')
    await assert.rejects(openEmbedded({ directory: parent, onError: () => {} }), /neither empty nor a database/)
  })

  test('acknowledged writes are synchronised to the disk', async () => {
    const [row] = await db.query(sql`SELECT current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS commit, current_setting('wal_sync_method') AS method`)
    assert.deepEqual(row, { fsync: 'on', commit: 'on', method: 'fsync' })
  })

  test('the database comes back after its thread broke, and what was under way fails as unavailable', async () => {
    // PGlite has no programs to run; its compiled code breaks on the attempt.
    const breaking = assert.rejects(db.script(`COPY (SELECT 1) TO PROGRAM 'true'`), isUnavailable)
    const queued = assert.rejects(db.query(sql`SELECT 1`), isUnavailable)
    await Promise.all([breaking, queued])
    assert.equal(errors.length, 1)
    const [row] = await db.query(sql`SELECT count(*) >= ${acknowledged} AS complete FROM written`)
    assert.deepEqual(row, { complete: true })
  })

  test('a transaction in which the thread broke fails, and nothing of it goes to the next session', async () => {
    const work = db.transaction(async (tx) => {
      await tx.query(sql`INSERT INTO written VALUES (-1)`)
      await tx.script(`COPY (SELECT 1) TO PROGRAM 'true'`).catch(() => undefined)
      await tx.query(sql`INSERT INTO written VALUES (-2)`)
    })
    await assert.rejects(work, isUnavailable)
    assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM written WHERE n < 0`), [{ n: 0 }])
  })

  test('a statement that an exception of compiled code left in its middle fails, and is not taken for one without rows', async () => {
    // PROJ throws at this system by number. Should it learn it, the statements are right instead.
    const text =
      'PROJCS["Mine",GEOGCS["GCS_ETRS_1989",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",10.0],PARAMETER["Latitude_Of_Origin",52.0],UNIT["Meter",1.0]]'
    await db.query(sql`INSERT INTO spatial_ref_sys VALUES (910001, 'test', NULL, ${text}, '')`)
    await db.script(
      `CREATE TABLE placed AS SELECT ST_SetSRID(ST_Point(0, n), 910001) AS geom FROM generate_series(1, 20) AS n`,
    )
    const isRight = (rows: object[]): boolean => rows.length === 20
    const read = db.query(sql`SELECT ST_X(ST_Transform(geom, 4326)) AS x FROM placed`)
    await read.then(
      (rows) => assert.ok(isRight(rows), 'rows are missing'),
      (error) => assert.ok(isUnavailable(error)),
    )
    const changed = db.query(sql`
      ALTER TABLE placed ALTER COLUMN geom TYPE geometry(Point, 4326) USING ST_Transform(geom, 4326)`)
    const isMoved = await changed.then(
      () => true,
      (error) => !isUnavailable(error),
    )
    if (isMoved)
      assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM placed WHERE ST_X(geom) > 9`), [{ n: 20 }])
  })

  const bernIn = (srid: number) =>
    sql`SELECT round(ST_X(ST_Transform(ST_SetSRID(ST_Point(600000, 200000), 21781), ${srid}::int4)))::float8 AS x`

  test('a transaction in which PROJ misses a grid at the first transformation between two systems takes place, once', async () => {
    let runs = 0
    const [row] = await db.transaction(async (tx) => {
      runs++
      await tx.query(sql`INSERT INTO written VALUES (-3)`)
      return tx.query(bernIn(4326))
    })
    assert.deepEqual(row, { x: 7 })
    assert.equal(runs, 2, 'the first run failed')
    assert.deepEqual(await db.query(sql`SELECT count(*) AS n FROM written WHERE n = -3`), [{ n: 1 }])
  })

  test('a transaction that has read a stream fails there, and is not run again', async () => {
    let runs = 0
    async function* lines() {
      yield '-4\n'
    }
    const work = db.transaction(async (tx) => {
      runs++
      await tx.copyIn(sql`COPY written (n) FROM STDIN`, lines())
      await tx.query(bernIn(3857))
    })
    await assert.rejects(work, /\(1029\)$/)
    assert.equal(runs, 1)
  })

  test('a result larger than the memory for it is kept on disk, and removed with the last row', async () => {
    let rows = 0
    for await (const batch of db.rows(sql`SELECT n, repeat('x', 200) AS x FROM generate_series(1, 40000) AS n`)) {
      rows += batch.length
      if (rows === 500) assert.notDeepEqual(await temporaryFiles(), [])
    }
    assert.equal(rows, 40_000)
    assert.deepEqual(await temporaryFiles(), [])
  })

  const temporaryFiles = (): Promise<string[]> => readdir(join(directory, 'base', 'pgsql_tmp'))

  test('the log of changes does not grow for ever', async () => {
    await db.script('CREATE TABLE filled (t text)')
    const fill = sql`INSERT INTO filled SELECT repeat('x', 1000) FROM generate_series(1, 60000)`
    for (let round = 0; round < 3; round++) {
      await db.query(fill)
      await new Promise((resolve) => setTimeout(resolve, 1000))
      await db.query(sql`SELECT 1`)
    }
    const segments = (await readdir(join(directory, 'pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name))
    assert.ok(segments.length <= 9, `${segments.length} segments of 16 MB`)
  })
})
