import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { DuckdbFault } from '../../fault.ts'
import { checkTree } from './syntax-tree.ts'

/** Parses SQL by DuckDB itself, in an instance that has no data, and checks what came out. */
export type SqlChecker = {
  /** The tables that it reads. Throws unless it is one SELECT that is allowed, also inside parentheses. */
  check(text: string, isTable: (name: string) => boolean): Promise<string[]>
}

const maxLength = 200_000

type Parsed = { readonly error: boolean; readonly error_message?: string; readonly statements?: unknown[] }

export function createSqlChecker(instance: Promise<DuckDBInstance>): SqlChecker {
  /** Parsing needs a connection, and one at a time is enough: it takes a millisecond. */
  let last: Promise<unknown> = Promise.resolve()
  let connection: Promise<DuckDBConnection> | undefined

  async function parse(text: string): Promise<unknown[]> {
    connection ??= instance.then((opened) => opened.connect())
    const reader = await (await connection).runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [text])
    const parsed = JSON.parse(String(reader.getRows()[0]?.[0])) as Parsed
    if (!parsed.error) return parsed.statements ?? []
    const message = parsed.error_message ?? ''
    const isOther = /^Only SELECT statements/i.test(message)
    throw new DuckdbFault('refused', isOther ? 'The SQL must be a SELECT.' : `The SQL cannot be parsed: ${message}.`)
  }

  return {
    async check(text, isTable) {
      if (text.length > maxLength) throw new DuckdbFault('refused', `The SQL is longer than ${maxLength} characters.`)
      if (text.includes('\0')) throw new DuckdbFault('refused', 'The SQL has a NUL character.')
      const parsing = last.then(() => parse(text))
      last = parsing.catch(() => undefined)
      return checkTree(await parsing, isTable)
    },
  }
}
