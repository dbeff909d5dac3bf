// Ranks and what is shown of them in SQL; see thinning-rule.ts.
import { ident, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { alwaysShown, rankLimit, ranks, visibleWidth } from './thinning-rule.ts'

const mask = raw(String(ranks - 1))

/** The rank of a row by its key: the same on every server, and in a copy of the table. */
export const keyRank = (key: string): Sql => sql`(hashtext(q.${ident(key)}::text) & ${mask})`

/** The rank of a row by its place in the table, where it has no key. */
export const rowRank: Sql = sql`(hashtid(q.ctid) & ${mask})`

/** Any number, but the same for all zooms: what a smaller sample of pages has, a larger one has too. */
export const sampleSeed = 1
/** Its hash, by hashfloat8, as bytes. */
const seedBytes = '3ce37016'

/** The part of a page's rows that a sample of pages shows. */
const inPage = 8
const inPageLimit = ranks / inPage

/** The pages that are read for a rate, and the rows of them that are shown; undefined if all pages have to be read. */
export const pagesOf = (rate: number): number | undefined => (rate * inPage < 1 ? rate * inPage : undefined)
export const isInSample: Sql = sql`${rowRank} < ${raw(String(inPageLimit))}`

/**
 * The rank of a row that a sample of pages (TABLESAMPLE SYSTEM) finds without looking at others: an eighth of the rows have the
 * rank of their page, by the hash with which PostgreSQL chooses pages, the others come after them. So rows are the same
 * whether they are read by index or by sample. The hash is that of eight bytes, the page and the seed, which hashmacaddr8 makes.
 */
export const sampleRank: Sql = (() => {
  const page = raw('((q.ctid::text::point)[0]::int8)')
  const turned = sql`((${page} & 255) << 24) | ((${page} & 65280) << 8) | ((${page} >> 8) & 65280) | ((${page} >> 24) & 255)`
  const hash = sql`hashmacaddr8((lpad(to_hex(${turned}), 8, '0') || ${raw(`'${seedBytes}'`)})::macaddr8)`
  const shift = 32 - Math.log2(inPageLimit)
  return sql`(CASE WHEN ${isInSample} THEN (${hash}::int8 & 4294967295) >> ${raw(String(shift))} ELSE ${rowRank} END)::int4`
})()

/** The size class of a width in SQL, with the width of a tile in the same unit. */
export function sizeClassSql(width: Sql, tileWidth: number): Sql {
  const least = raw(String(tileWidth * visibleWidth))
  const doubled = sql`1 + floor(ln(${width} / ${least}) / ln(2))`
  return sql`(CASE WHEN ${width} >= ${least} THEN least(${raw(String(alwaysShown))}, ${doubled}) ELSE 0 END)::int4`
}

/** The first rank that is not shown, of points or of a size class. */
export function rankLimitSql(rate: number, size?: Sql): Sql {
  const limit = (one: number): Sql => raw(`${rankLimit(rate, one)}::int8`)
  if (!size) return limit(0)
  const cases = Array.from({ length: alwaysShown }, (_, one) => `WHEN ${one} THEN ${rankLimit(rate, one)}::int8`)
  return sql`CASE ${size} ${raw(cases.join(' '))} ELSE ${limit(alwaysShown)} END`
}

/**
 * Of rows with a cell (`x`, `y`), a class, a rank and a count: by cell and class what the shown ones stand for together, and `first`, the rank of
 * the row that is shown as the lowest of its cell; see standsFor.
 */
export function classTotalsSql(rows: Sql, rate: number): Sql {
  const classes = sql`
    SELECT x, y, size, sum(n)::int8 AS total, min(rank) AS lowest,
      row_number() OVER (PARTITION BY x, y ORDER BY min(rank), size) = 1 AS is_first
    FROM ${rows} GROUP BY 1, 2, 3`
  const tested = sql`
    SELECT *, is_first OR lowest < ${rankLimitSql(rate, raw('size'))} AS is_shown FROM (${classes}) AS classes`
  return sql`
    SELECT x, y, size, CASE WHEN is_first THEN lowest ELSE -1 END AS first,
      total + CASE WHEN is_first THEN coalesce(sum(total) FILTER (WHERE NOT is_shown) OVER (PARTITION BY x, y), 0) ELSE 0 END::int8 AS total
    FROM (${tested}) AS tested`
}

/** The same of points, which are all of class 0. */
export const pointTotalsSql = (rows: Sql): Sql =>
  sql`SELECT x, y, 0 AS size, sum(n)::int8 AS total, min(rank) AS first FROM ${rows} GROUP BY 1, 2`

/** What a shown row stands for: the hidden rows of its class are shared out among those shown. */
export const standsForSql = (total: Sql, shown: Sql, place: Sql): Sql =>
  sql`(${total} / ${shown} + CASE WHEN ${place} <= ${total} % ${shown} THEN 1 ELSE 0 END)::int4`
