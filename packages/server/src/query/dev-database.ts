import pg from 'pg'
import { openPostgres } from '../db/postgres.ts'
export async function testDatabase() {
  const client = new pg.Client({ host: '127.0.0.1', port: 54332, user: 'postgres', database: 'postgres' })
  await client.connect()
  const name = `t_${Date.now()}_${process.pid}`
  await client.query(`create database ${name}`)
  const db = openPostgres({ url: `postgres://postgres@127.0.0.1:54332/${name}`, poolSize: 4, onError: console.error })
  return { db, close: async () => { await db.close(); await client.query(`drop database ${name}`); await client.end() } }
}
