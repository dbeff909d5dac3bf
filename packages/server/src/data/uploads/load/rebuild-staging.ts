/**
 * The embedded database has one session, which a statement over a million rows would keep for many seconds. Rows that are yet to be
 * transformed, or that may bring a key of their own, are loaded without indexes there, and then moved in pieces into a table that has
 * them.
 */
import { codeOf } from '../../../kernel/db/database-error.ts'
import { asPiece, forPages, inPages, pagesIn } from '../../../kernel/db/embedded/page-pieces.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Extent } from '../../../query/geometry/geometry-type.ts'
import type { Warning } from '../readers/reader.ts'
import { geometryColumn, keyCandidateColumn, keyColumn } from './column-names.ts'
import { invalidAreas, isIndexedFirst, pieceMs } from './index-staging.ts'
import { type StagedTable, tableOf } from './staged-table.ts'
import { createStaging } from './staging.ts'
import type { PlannedColumn, TablePlan } from './table-plan.ts'
import { batchedShapes } from './transform-batches.ts'
import { transformFault } from './transform-fault.ts'
import { isBeyondSql, isOutsideSql, mayBeBeyond, wrappedColumn, wrappedRows } from './wrap-longitudes.ts'

type Rebuilt = { readonly staged: StagedTable; readonly warnings: Warning[] }
type OnProgress = (fraction: number) => void

/** Of a table of the embedded database; as it is, if it is indexed already and its rows stay as they are. */
export async function rebuildStaging(staged: StagedTable, onProgress: OnProgress): Promise<Rebuilt> {
  const mayBeWrapped = await mayBeBeyond(staged)
  if (isIndexedFirst(staged) && !mayBeWrapped) return { staged, warnings: [] }
  const wrapping = mayBeWrapped ? await wrappingOf(staged) : 'none'
  const { keyCandidate } = staged.plan
  const rebuild = (isAdopted: boolean) => moveRows({ staged, wrapping, isAdopted }, onProgress)
  if (keyCandidate === undefined) return rebuild(false)
  return rebuild(true).catch((error) => {
    if (!noKey.has(codeOf(error) ?? '')) throw error
    return rebuild(false)
  })
}

/** The values are null, or not each row's own. */
const noKey: ReadonlySet<string> = new Set(['23502', '23505'])

const piecesOf = async ({ target, name }: StagedTable, onProgress?: OnProgress) => ({
  pages: await pagesIn(target.db, { schema: target.schema, name }),
  pieceMs,
  ...(onProgress && { onProgress }),
})

/** What becomes of rows outside of ±180 degrees, if there are any. */
type Wrapping = 'none' | 'rounded' | 'moved'

async function wrappingOf(staged: StagedTable): Promise<Wrapping> {
  let wrapping: Wrapping = 'none'
  await forPages(await piecesOf(staged), async (begin, end) => {
    if (wrapping === 'moved') return
    const [row] = await staged.target.db.query<{ moved: boolean | null }>(sql`
      SELECT bool_or(${isBeyondSql(from)}) AS moved FROM ${tableOf(staged)} AS q
      WHERE ${inPages(raw('q'), begin, end)} AND ${isOutsideSql(from)}`)
    if (row?.moved === true) wrapping = 'moved'
    else if (row?.moved === false) wrapping = 'rounded'
  })
  return wrapping
}

type Rebuild = { readonly staged: StagedTable; readonly wrapping: Wrapping; readonly isAdopted: boolean }

const from = sql`q.${ident(geometryColumn)}`

async function moveRows(rebuild: Rebuild, onProgress: OnProgress): Promise<Rebuilt> {
  const { staged, isAdopted } = rebuild
  const { db } = staged.target
  const into: StagedTable = { ...staged, name: `${staged.name}_${isAdopted ? 'k' : 'r'}`, plan: rebuiltPlan(rebuild) }
  await createStaging(into)
  const sums = { invalid: 0, beyond: 0, box: undefined as Extent | undefined }
  try {
    await forPages(await piecesOf(staged, onProgress), async (begin, end) => {
      const statement = pieceSql(rebuild, into, begin, end)
      const [row] = await db.transaction((tx) => tx.query<Piece>(statement), asPiece)
      if (row) addPiece(sums, row)
    })
  } catch (error) {
    await db.query(sql`DROP TABLE ${tableOf(into)}`)
    throw transformFault(error, staged.plan.geometry?.reprojection.target ?? 0, { layer: staged.plan.layer.name })
  }
  await db.query(sql`DROP TABLE ${tableOf(staged)}`)
  const warnings = [...(sums.beyond > 0 ? [wrappedRows(sums.beyond)] : []), ...invalidAreas(sums.invalid)]
  return { staged: { ...into, doubtful: [], ...(sums.box && { box: sums.box }) }, warnings }
}

/** The plan of a table as it is to be: indexed before it has rows. */
function rebuiltPlan({ staged, wrapping, isAdopted }: Rebuild): TablePlan {
  const { keyCandidate, geometry, ...plan } = staged.plan
  const columns = plan.columns.flatMap((column) => rebuiltColumn(column, keyCandidate, isAdopted))
  if (!geometry) return { ...plan, columns }
  const { target } = geometry.reprojection
  const { type } = wrapping === 'none' ? geometry : wrappedColumn(from, geometry.type, wrapping === 'moved')
  const place = columns.findIndex(({ name }) => name === geometryColumn)
  return {
    ...plan,
    columns: columns.with(place, { name: geometryColumn, type: `geometry(${type},${target})` }),
    geometry: { ...geometry, type, reprojection: { source: target, target } },
  }
}

function rebuiltColumn(column: PlannedColumn, keyCandidate: string | undefined, isAdopted: boolean): PlannedColumn[] {
  const { name, type } = column
  if (name === keyColumn) return isAdopted ? [] : [column]
  if (name !== keyCandidateColumn) return [column]
  return [isAdopted ? { name: keyColumn, type } : { ...column, name: keyCandidate ?? name }]
}

/** What a piece of rows came to. */
type Piece = { invalid: number; beyond: number; w: number | null; s: number; e: number; n: number }

function pieceSql(rebuild: Rebuild, into: StagedTable, begin: number, end: number): Sql {
  const { staged, isAdopted } = rebuild
  const { geometry, keyCandidate } = staged.plan
  const sourceOf = (name: string): Sql => ident(sourceName(name, keyCandidate, isAdopted))
  const names = into.plan.columns.map(({ name }) => ident(name))
  const values = into.plan.columns.map(({ name }) =>
    name === geometryColumn && geometry ? shapeOf(rebuild) : sql`q.${sourceOf(name)}`,
  )
  const within = inPages(raw('q'), begin, end)
  const source = sql`${tableOf(staged)} AS q ${joinedShapes(rebuild, within)}`
  const named = joinSql(
    values.map((value, at) => sql`${value} AS ${names[at] ?? raw('')}`),
    ', ',
  )
  const facts = geometry ? factsOf(rebuild) : { own: raw(''), sums: noSums }
  return sql`
    WITH moved AS MATERIALIZED (SELECT ${named}${facts.own} FROM ${source} WHERE ${within}),
      put AS (INSERT INTO ${tableOf(into)} (${joinSql(names, ', ')}) SELECT ${joinSql(names, ', ')} FROM moved)
    SELECT ${facts.sums} FROM moved LIMIT 1`
}

const sourceName = (name: string, keyCandidate: string | undefined, isAdopted: boolean): string => {
  if (keyCandidate === undefined) return name
  return name === (isAdopted ? keyColumn : keyCandidate) ? keyCandidateColumn : name
}

const noSums = raw('0 AS invalid, 0 AS beyond, NULL::float8 AS w, 0 AS s, 0 AS e, 0 AS n')

/** What is to be known of each row besides its columns, and what of all rows. */
function factsOf({ staged, wrapping }: Rebuild): { own: Sql; sums: Sql } {
  const { doubtful, plan } = staged
  const shape = ident(geometryColumn)
  const isMoved = wrapping !== 'none' || plan.geometry?.reprojection.source !== plan.geometry?.reprojection.target
  const isDoubtful = isMoved || !doubtful ? raw('TRUE') : sql`q.${ident(keyColumn)} = ANY(${doubtful}::int8[])`
  const isInvalid = plan.geometry?.isAreal
    ? sql`svc_doubtful AND ST_IsValidReason(${shape}) <> 'Valid Geometry'`
    : raw('FALSE')
  const box = sql`ST_Extent(${shape})`
  return {
    own: sql`, ${isDoubtful} AS svc_doubtful, ${wrapping === 'moved' ? isBeyondSql(from) : raw('FALSE')} AS svc_beyond`,
    sums: sql`count(*) FILTER (WHERE ${isInvalid})::int4 AS invalid, count(*) FILTER (WHERE svc_beyond)::int4 AS beyond,
      ST_XMin(${box}) AS w, ST_YMin(${box}) AS s, ST_XMax(${box}) AS e, ST_YMax(${box}) AS n`,
  }
}

function shapeOf({ staged, wrapping }: Rebuild): Sql {
  const { geometry } = staged.plan
  if (!geometry) return from
  const { source, text, target } = geometry.reprojection
  if (text !== undefined && source !== target) return raw('b.shape')
  const { value } = wrapping === 'none' ? { value: from } : wrappedColumn(from, geometry.type, wrapping === 'moved')
  return source === target ? value : sql`ST_Transform(${value}, ${raw(String(target))})`
}

/**
 * A system that is known by its text only is parsed for each call, so many rows are transformed at once. A temporary SRID is none of the
 * ways here: of ETRS89 systems that have no code PROJ throws an exception in the embedded database, which PostgreSQL goes on after as if
 * nothing had been (rows stayed where they were, in a column of SRID 4326). By text it does not.
 */
function joinedShapes({ staged }: Rebuild, within: Sql): Sql {
  const { geometry } = staged.plan
  const { text, target } = geometry?.reprojection ?? {}
  if (text === undefined || target === undefined) return raw('')
  const shapes = batchedShapes({ table: tableOf(staged), column: from, text, target }, within)
  return sql`LEFT JOIN (${shapes}) AS b ON b.place = q.ctid`
}

function addPiece(sums: { invalid: number; beyond: number; box: Extent | undefined }, piece: Piece): void {
  sums.invalid += piece.invalid
  sums.beyond += piece.beyond
  if (piece.w === null) return
  const { w, s, e, n } = piece
  const [west, south, east, north] = sums.box ?? [w, s, e, n]
  sums.box = [Math.min(west, w), Math.min(south, s), Math.max(east, e), Math.max(north, n)]
}
