// JSON Merge Patch (RFC 7396) of the values in JSON columns.
import type { Transaction } from '../db/db.ts'
import { ident, joinSql, raw, type Sql, sql } from '../db/sql.ts'
import type { EditColumn, EditTable } from './edit-table.ts'
import { keepDigits, withDigits } from './exact-number.ts'
import type { PreparedRow } from './prepare-rows.ts'
import { absentRow } from './row-shape.ts'

type Json = { readonly [name: string]: unknown }

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

const isPatch = ([{ type }, text]: [EditColumn, string | null]): boolean =>
  type === 'json' && text?.startsWith('{') === true

const parse = (text: string): unknown => JSON.parse(text, keepDigits)

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && withDigits(value) === value

/** As deep as the patch, whose depth the body's limit bounds. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}
