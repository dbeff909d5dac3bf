import type { Db, Row } from '../db/db.ts'
import { type SqlValue, sql } from '../db/sql.ts'

/** Our database as pg-boss wants one. */
export type BossDatabase = { executeSql(text: string, values?: unknown[]): Promise<{ rows: Row[] }> }

export const bossDatabase = (db: Db): BossDatabase => ({
  async executeSql(text, values = []) {
    // Several statements come as one transaction; nothing that we use reads what such a text answers.
    if (/^\s*BEGIN;/.test(text)) {
      await db.script(text)
      return { rows: [] }
    }
    return { rows: await db.query(bound(text, values)) }
  },
})

/** A text with $1, $2, … and their values. */
function bound(text: string, values: readonly unknown[]) {
  if (values.length === 0) return sql([text] as unknown as TemplateStringsArray)
  const pieces = text.split(/\$(\d+)/)
  const strings = pieces.filter((_, index) => index % 2 === 0)
  const numbers = pieces.filter((_, index) => index % 2 === 1)
  return sql(
    strings as unknown as TemplateStringsArray,
    ...numbers.map((number) => asValue(values[Number(number) - 1])),
  )
}

function asValue(value: unknown): SqlValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map(asValue)
  if (typeof value !== 'object' || value instanceof Date || value instanceof Uint8Array) return value as SqlValue
  return JSON.stringify(value)
}
