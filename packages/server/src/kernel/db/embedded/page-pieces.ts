/**
 * The pages of a table in pieces whose size follows what the last one took: on the embedded database everybody waits for the session
 * while a piece is read or written.
 */

import type { Queryable, TransactionOptions } from '../db.ts'
import { raw, type Sql, sql } from '../sql.ts'

const firstPages = 8
const mostPages = 96
/** One slow piece, such as one behind a checkpoint, says little of the next. */
const mostChange = 2
const pageBytes = 8192

/** A transaction that is one of these pieces. */
export const asPiece: TransactionOptions = { isPiece: true }

export type PagePieces = {
  readonly pages: number
  /** What a piece may take. */
  readonly pieceMs: number
  onProgress?(fraction: number): unknown
}

export async function forPages(
  { pages, pieceMs, onProgress }: PagePieces,
  work: (begin: number, end: number) => Promise<unknown>,
): Promise<void> {
  for (let page = 0, count = firstPages; page < pages; ) {
    const begunAt = performance.now()
    await work(page, page + count)
    const change = pieceMs / (performance.now() - begunAt)
    page += count
    await onProgress?.(Math.min(1, page / pages))
    count = Math.max(1, Math.min(mostPages, Math.round(count * Math.min(mostChange, Math.max(1 / mostChange, change)))))
  }
}

export async function pagesIn(db: Pick<Queryable, 'query'>, table: { schema: string; name: string }): Promise<number> {
  const [size] = await db.query<{ bytes: number }>(sql`
    SELECT pg_relation_size(c.oid)::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ${table.schema} AND c.relname = ${table.name}`)
  return (size?.bytes ?? 0) / pageBytes
}

/** The rows of these pages, of a table or its alias. */
export const inPages = (alias: Sql, begin: number, end: number): Sql =>
  sql`${alias}.ctid >= ${raw(`'(${begin},0)'::tid`)} AND ${alias}.ctid < ${raw(`'(${end},0)'::tid`)}`
