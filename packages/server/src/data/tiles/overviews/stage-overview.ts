/**
 * Builds the tables of an overview where that keeps nobody waiting. A step of it takes seconds with a million rows, and the embedded
 * database has one session for everybody: there the rows are copied to a database beside it, in pieces of 50 ms, and what was built
 * from them is copied back in the same way, into tables that are indexed already.
 */
import type { Db } from '../../../kernel/db/db.ts'
import { ident, sql } from '../../../kernel/db/sql.ts'
import { createFunctions, readFunctions } from '../../../kernel/db/sql-functions.ts'
import {
  type Buildable,
  type Builder,
  buildTables,
  demandJob,
  type OverviewLimits,
  type OverviewTables,
  type Step,
  stepSettings,
  stepsOf,
} from './build-overview.ts'
import { type Columns, columnsOf, declared, moveRows } from './move-rows.ts'
import { beingBuilt, overviewTable } from './overview.ts'

export async function stageOverview(
  db: Db,
  buildable: Buildable,
  limits: OverviewLimits,
  builder: Builder,
): Promise<OverviewTables> {
  const step = stepsOf(db, buildable.dataset, builder)
  const columns = await movableColumns(db, buildable, limits)
  if (!columns || !db.openBeside) return await buildTables(step, buildable, limits, builder)
  const beside = await db.openBeside()
  try {
    return await stageBeside({ db, beside, step, buildable, columns, limits, builder })
  } finally {
    await beside.close()
  }
}

/** Undefined where the table is too small to keep anybody waiting, or has what only its own database knows. */
async function movableColumns(
  db: Db,
  { table, geometry }: Buildable,
  { minRows }: OverviewLimits,
): Promise<Columns | undefined> {
  if (!db.openBeside || geometry.mixed) return undefined
  const [facts] = await db.query(sql`
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${table.schema} AND c.relname = ${table.name} AND c.relkind = 'r' AND NOT c.relhassubclass
      AND (c.reltuples < 0 OR c.reltuples >= ${minRows}::float8)
      AND NOT EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = c.oid AND t.typnamespace = n.oid)`)
  return facts && (await columnsOf(db, table))
}

type Staging = {
  readonly db: Db
  readonly beside: Db
  readonly step: Step
  readonly buildable: Buildable
  readonly columns: Columns
  readonly limits: OverviewLimits
  readonly builder: Builder
}

/** How far the progress is when the rows are there, and when the tables are built. */
const [isCopied, isBuilt] = [0.3, 0.7]

async function stageBeside(staging: Staging): Promise<OverviewTables> {
  const { db, beside, step, buildable, columns, limits, builder } = staging
  const { table } = buildable
  const along = (from: number, to: number) => (fraction: number) => builder.onProgress(from + (to - from) * fraction)
  await makeRoom(staging)
  const there = stepsBeside(staging)
  await moveRows({ table, columns, from: db, step: there, onProgress: along(0, isCopied) })
  await keepOneOfEach(staging)
  const built = await buildTables(there, buildable, limits, { onProgress: along(isCopied, isBuilt) })
  for (const [index, zoom] of built.zooms.entries()) {
    const [from, to] = [index, index + 1].map((done) => isBuilt + ((1 - isBuilt) * done) / built.zooms.length)
    await bringBack({ beside, step, buildable, zoom, onProgress: along(from ?? isBuilt, to ?? 1) })
  }
  return built
}

/** Fencing holds for the steps of the other database as well: they are for nothing once the job is lost. */
const stepsBeside =
  ({ db, beside, builder: { signal, isHeld } }: Staging): Step =>
  async (work) => {
    signal.throwIfAborted()
    await demandJob(isHeld, db)
    return beside.transaction(async (tx) => {
      await tx.script(stepSettings)
      return work(tx)
    })
  }

const functions = ['cut', 'simplified', 'to_mercator']

async function makeRoom({ db, beside, buildable: { table, geometry }, columns }: Staging): Promise<void> {
  const systems = await db.query<
    Record<'srid' | 'auth_srid', number> & Record<'auth_name' | 'srtext' | 'proj4text', string>
  >(sql`
    SELECT srid, auth_srid, auth_name, srtext, proj4text FROM spatial_ref_sys WHERE srid = ${geometry.srid ?? 0}::int4`)
  await beside.transaction(async (tx) => {
    await tx.script('CREATE SCHEMA svc')
    await tx.query(sql`CREATE SCHEMA ${ident(table.schema)}`)
    await createFunctions(
      tx,
      (await readFunctions()).filter(({ name }) => functions.includes(name)),
    )
    for (const { srid, auth_srid, auth_name, srtext, proj4text } of systems) {
      await tx.query(sql`
        INSERT INTO spatial_ref_sys (srid, auth_srid, auth_name, srtext, proj4text)
        VALUES (${srid}, ${auth_srid}, ${auth_name}, ${srtext}, ${proj4text}) ON CONFLICT DO NOTHING`)
    }
    await tx.query(sql`CREATE UNLOGGED TABLE ${ident(table.schema, table.name)} (${declared(columns)})`)
  })
}

/** A row that was changed while the pieces were read may be there twice, by its former values too. */
async function keepOneOfEach({ beside, buildable: { table, dataset } }: Staging): Promise<void> {
  const key = dataset.attributes.find(({ primaryKey }) => primaryKey)?.name
  if (key === undefined) return
  const name = ident(table.schema, table.name)
  await beside.query(sql`
    DELETE FROM ${name} AS q USING (
      SELECT ${ident(key)} AS key, max(ctid) AS last FROM ${name} GROUP BY 1 HAVING count(*) > 1) AS twice
    WHERE q.${ident(key)} = twice.key AND q.ctid <> twice.last`)
  await beside.query(sql`ANALYZE ${name} (${ident(key)})`)
}

/** A third of what is sampled elsewhere, so that nobody waits for more than 50 ms. */
const statisticsTarget = 10

type Bringing = Pick<Staging, 'beside' | 'step' | 'buildable'> & {
  readonly zoom: number
  onProgress(fraction: number): Promise<void>
}

/** In the order of their places, in which they were written, so that neighbours are indexed one after the other. */
async function bringBack({ beside, step, buildable, zoom, onProgress }: Bringing): Promise<void> {
  const { dataset, geometry, table: base } = buildable
  const table = { schema: base.schema, name: overviewTable(dataset.id, `${beingBuilt}new_${zoom}`) }
  const name = ident(table.schema, table.name)
  const columns = await columnsOf(beside, table)
  await step(async (tx) => {
    await tx.query(sql`CREATE TABLE ${name} (${declared(columns)})`)
    await tx.query(sql`CREATE INDEX ON ${name} USING gist (${ident(geometry.name)})`)
  })
  await moveRows({ table, columns, from: beside, step, onProgress })
  await step(async (tx) => {
    await tx.script(`SET LOCAL default_statistics_target = ${statisticsTarget}`)
    await tx.query(sql`ANALYZE ${name} (${ident(geometry.name)})`)
  })
}
