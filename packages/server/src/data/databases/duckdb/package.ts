/** The engine's package, by path: the server runs from sources, of which no build is made. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

export type {
  Duckdb,
  DuckdbColumn,
  DuckdbDatabase,
  DuckdbFault,
  DuckdbQuery,
  DuckdbTable,
} from '../../../../../driver-duckdb/src/duckdb.ts'

type DuckdbPackage = typeof import('../../../../../driver-duckdb/src/duckdb.ts')

export const loadDuckdb = (): Promise<DuckdbPackage> => import('../../../../../driver-duckdb/src/duckdb.ts')

/** Whether this installation has it: an engine of 70 MB that many do without. */
export function hasDuckdb(): boolean {
  try {
    const door = new URL('../../../../../driver-duckdb/src/duckdb.ts', import.meta.url)
    createRequire(door).resolve('@duckdb/node-api/package.json')
    return existsSync(door)
  } catch {
    return false
  }
}
