// JSON Merge Patch (RFC 7396) of the values in JSON columns.
import type { FastifyRequest } from 'fastify'
import { keepDigits } from '../../../api/resource/documents/exact-number.ts'
import { mergePatch } from '../../../api/resource/documents/merge-patch.ts'
import type { Transaction } from '../../../kernel/db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import { absentRow } from '../rows/row-shape.ts'
import type { EditColumn, EditTable } from '../writing/edit-table.ts'
import type { PreparedRow } from './prepare-rows.ts'

/** Whether the request is a merge patch by its media type; otherwise a value that is given replaces the one that is stored. */
export const isMergePatch = ({ headers }: FastifyRequest): boolean =>
  /^application\/merge-patch\+json\s*(;|$)/i.test(headers['content-type'] ?? '')

/** The changes of one row with each object merged into the one that is stored. Locks the row. */
export async function mergeJson(
  tx: Transaction,
  { from }: EditTable,
  changes: PreparedRow,
  condition: Sql,
): Promise<PreparedRow> {
  const patches = [...changes.cells].filter((cell): cell is [EditColumn, string] => isPatch(cell))
  if (patches.length === 0) return changes
  const stored = patches.map(([{ name }], index) => sql`q.${ident(name)}::text AS ${raw(`c${index}`)}`)
  const [row] = await tx.query<Record<string, string | null>>(
    sql`SELECT ${joinSql(stored, ', ')} FROM ${from} AS q WHERE ${condition} FOR UPDATE`,
  )
  if (!row) throw absentRow()
  const merged = patches.map(([column, patch], index): [EditColumn, string] => [
    column,
    JSON.stringify(mergePatch(parse(row[`c${index}`] ?? 'null'), parse(patch))),
  ])
  return { ...changes, cells: new Map([...changes.cells, ...merged]) }
}

/** Whether an object would have to be merged into a JSON column. */
export const hasPatch = ({ cells }: PreparedRow): boolean => [...cells].some(isPatch)

const isPatch = ([{ type }, text]: [EditColumn, string | null]): boolean =>
  type === 'json' && text?.startsWith('{') === true

const parse = (text: string): unknown => JSON.parse(text, keepDigits)
