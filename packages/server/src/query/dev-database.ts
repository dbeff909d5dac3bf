import pg from 'pg'
import { encodeStatement } from '../db/values.ts'
import type { Sql } from '../db/sql.ts'
export async function testDatabase() {
  const client = new pg.Client({ host: '127.0.0.1', port: 54332, user: 'postgres', database: 'postgres' })
  await client.connect()
  const db = {
    async query<R extends Record<string, unknown> = Record<string, unknown>>(statement: Sql): Promise<R[]> { const { text, values } = encodeStatement(statement); return (await client.query(text, values)).rows },
    async script(text: string) { await client.query(text) },
  }
  return { db, close: () => client.end() }
}
