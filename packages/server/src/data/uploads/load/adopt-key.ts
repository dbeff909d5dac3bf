// The key of a file becomes the key of its table, so that an export that is uploaded again keeps the ids of its rows.
import { codeOf } from '../../../kernel/db/database-error.ts'
import type { Db } from '../../../kernel/db/db.ts'
import { ident, type Sql, sql } from '../../../kernel/db/sql.ts'
import { keyCandidateColumn, keyColumn } from './column-names.ts'

const uniqueViolation = '23505'

/**
 * Puts the candidate in place of the numbers of the rows, with this unique index, and answers true if each row has a value of its
 * own; otherwise it stays beside them, by this name.
 */
export async function adoptKey(db: Db, table: Sql, index: Sql, otherName: string): Promise<boolean> {
  const rename = (name: string): Sql => sql`ALTER TABLE ${table} RENAME COLUMN ${candidate} TO ${ident(name)}`
  const isAdopted = !(await hasNulls(db, table)) && (await replaceKey(db, table, index, rename(keyColumn)))
  if (!isAdopted) await db.query(rename(otherName))
  return isAdopted
}

const candidate = ident(keyCandidateColumn)

async function hasNulls(db: Db, table: Sql): Promise<boolean> {
  const [row] = await db.query<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT FROM ${table} WHERE ${candidate} IS NULL) AS found`)
  return row?.found === true
}

async function replaceKey(db: Db, table: Sql, index: Sql, rename: Sql): Promise<boolean> {
  try {
    await db.transaction(async (tx) => {
      await tx.query(sql`CREATE UNIQUE INDEX ${index} ON ${table} (${candidate})`)
      await tx.query(sql`ALTER TABLE ${table} DROP COLUMN ${ident(keyColumn)}`)
      await tx.query(rename)
      await tx.query(sql`ALTER TABLE ${table} ALTER COLUMN ${ident(keyColumn)} SET NOT NULL`)
      await tx.query(sql`COMMENT ON COLUMN ${table}.${ident(keyColumn)} IS NULL`)
    })
    return true
  } catch (error) {
    if (codeOf(error) === uniqueViolation) return false
    throw error
  }
}
