import { ident, json, type Sql, sql } from '../../../kernel/db/sql.ts'
import { invalid } from '../../../kernel/errors.ts'
import { isPollutingKey } from '../../http/input/json-body.ts'

/**
 * Keys of a JSON document in a column, in SQL, so that two writers never lose each other's work.
 * A key may be dotted; a literal key of that name comes first.
 */
const maxParts = 32
const maxKeyLength = 512

/** The parts of a key from an address, refused when they cannot be keys. */
export function readKey(key: string): { literal: string; path: string[] } {
  const path = key.split('.')
  if (key.length > maxKeyLength) throw invalid('path/key', `must not be longer than ${maxKeyLength} characters`)
  if (path.includes('')) throw invalid('path/key', 'must not have an empty part between dots')
  if (path.length > maxParts) throw invalid('path/key', `must not have more than ${maxParts} parts between dots`)
  if (path.some(isPollutingKey))
    throw invalid('path/key', 'must not have a part called __proto__, constructor or prototype')
  if (key.includes('\0') || !key.isWellFormed()) throw invalid('path/key', 'must be valid Unicode without NUL')
  return { literal: key, path }
}

const pathTo = (column: string, key: string): Sql => {
  const { literal, path } = readKey(key)
  return sql`CASE WHEN ${ident(column)} ? ${literal} THEN ARRAY[${literal}] ELSE ${path}::text[] END`
}

export const valueAt = (column: string, key: string): Sql => sql`${ident(column)} #> (${pathTo(column, key)})`

export const withValueAt = (column: string, key: string, value: unknown): Sql =>
  sql`svc.json_set(${ident(column)}, ${pathTo(column, key)}, ${json(value)})`

/** If another writer has just put a list in place of an object on the path, nothing is removed, without an error. */
export const withoutKey = (column: string, key: string): Sql =>
  sql`CASE WHEN ${valueAt(column, key)} IS NULL THEN ${ident(column)} ELSE ${ident(column)} #- (${pathTo(column, key)}) END`

export const mergedWith = (column: string, value: object): Sql => sql`${ident(column)} || ${json(value)}`

/** Merges an object into the object at a key; any other value replaces what is there. */
export const mergedAt = (column: string, key: string, value: unknown): Sql => sql`
  CASE WHEN jsonb_typeof(${valueAt(column, key)}) = 'object' AND jsonb_typeof(${json(value)}) = 'object'
    THEN svc.json_set(${ident(column)}, ${pathTo(column, key)}, ${valueAt(column, key)} || ${json(value)})
    ELSE ${withValueAt(column, key, value)} END`
