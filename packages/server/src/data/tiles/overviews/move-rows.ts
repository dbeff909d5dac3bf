// Moves the rows of a table between the embedded database and one beside it, in pieces that let others through.
import { copyHeader, copyTrailer } from '../../../kernel/db/copy-binary.ts'
import type { Db, Queryable, TupleBytes } from '../../../kernel/db/db.ts'
import { asPiece, forPages, inPages, pagesIn } from '../../../kernel/db/embedded/page-pieces.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Step } from './build-overview.ts'
import type { TenantTable } from './overview.ts'

/** What a piece takes; half of it to read, half to write. */
const pieceMs = 50

export type Columns = readonly { readonly name: string; readonly type: string }[]

/** As they are declared. */
export const columnsOf = (db: Pick<Queryable, 'query'>, { schema, name }: TenantTable): Promise<Columns> =>
  db.query(sql`
    SELECT a.attname::text AS name, format_type(a.atttypid, a.atttypmod) AS type FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${schema} AND c.relname = ${name} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`)

export const declared = (columns: Columns): Sql =>
  joinSql(
    columns.map(({ name, type }) => sql`${ident(name)} ${raw(type)}`),
    ', ',
  )

type Move = {
  readonly table: TenantTable
  readonly columns: Columns
  readonly from: Db
  /** Each piece is written by a step of its own. */
  readonly step: Step
  onProgress(fraction: number): Promise<void>
}

export async function moveRows({ table, columns, from, step, onProgress }: Move): Promise<void> {
  const names = joinSql(
    columns.map(({ name }) => ident(name)),
    ', ',
  )
  const name = ident(table.schema, table.name)
  await forPages({ pages: await pagesIn(from, table), pieceMs, onProgress }, async (begin, end) => {
    const rows = await pagesOf(from, sql`SELECT ${names} FROM ${name} AS q WHERE ${inPages(raw('q'), begin, end)}`)
    await step((tx) => tx.copyInBinary(sql`COPY ${name} (${names}) FROM STDIN (FORMAT binary)`, one(rows)))
  })
}

/** The tuples of these pages, without what COPY puts around them. */
async function pagesOf(db: Db, select: Sql): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  await db.transaction(async (tx) => {
    pieces.length = 0
    const copy = sql`COPY (${select}) TO STDOUT (FORMAT binary)`
    for await (const piece of tx.copyOut(copy)) pieces.push(piece)
  }, asPiece)
  return Buffer.concat(pieces).subarray(copyHeader.length, -copyTrailer.length)
}

async function* one(bytes: Uint8Array): AsyncGenerator<TupleBytes> {
  yield { bytes, isEnd: true }
}
