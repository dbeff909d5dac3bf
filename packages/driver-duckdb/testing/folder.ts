import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { createDuckdb, type Duckdb, type DuckdbDatabase, type DuckdbOptions } from '../src/create-duckdb.ts'
import type { BoundValue, Cell } from '../src/messages.ts'

/** A folder for one test, and DuckDB in this process to write files into it. */
export type TestFolder = {
  readonly directory: string
  path(file: string): string
  /** Any statement; `{path}` stands for the folder. */
  run(...statements: string[]): Promise<void>
  /** The rows of a SELECT as a file, with `options` of COPY. */
  write(file: string, select: string, options?: string): Promise<void>
}

export function testFolder(t: Pick<TestContext, 'after'>): TestFolder {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'driver-duckdb-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const path = (file: string): string => join(directory, file)
  async function run(...statements: string[]): Promise<void> {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    try {
      for (const statement of statements) await connection.run(statement.replaceAll('{path}', directory))
    } finally {
      connection.disconnectSync()
      instance.closeSync()
    }
  }
  return {
    directory,
    path,
    run,
    write: (file, select, options = '') => run(`COPY (${select}) TO '${path(file)}' ${options}`),
  }
}

/** COPY of rows whose `geom` is WKB in a BLOB, with GeoParquet's key that says `column` of it. */
export function geoParquet(path: string, select: string, column: object): string {
  const geo = { version: '1.1.0', primary_column: 'geom', columns: { geom: { encoding: 'WKB', ...column } } }
  const key = JSON.stringify(geo).replaceAll("'", "''")
  return `COPY (${select}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 2048, KV_METADATA {geo: '${key}'})`
}

/** The column `bbox` has the box of each row. */
export const bboxCovering = {
  bbox: Object.fromEntries(['xmin', 'ymin', 'xmax', 'ymax'].map((edge) => [edge, ['bbox', edge]])),
}

export type TestDriver = Duckdb & {
  readonly errors: unknown[]
  readonly temporaryDirectory: string
  at(folder: TestFolder, tenant?: string): DuckdbDatabase
}

/** A driver that ends with the test. */
export function testDriver(t: Pick<TestContext, 'after'>, options: Partial<DuckdbOptions> = {}): TestDriver {
  const { directory } = testFolder(t)
  const temporaryDirectory = join(directory, 'temporary')
  mkdirSync(temporaryDirectory)
  const errors: unknown[] = []
  const driver = createDuckdb({ temporaryDirectory, onError: (error) => errors.push(error), ...options })
  t.after(() => driver.close())
  return {
    ...driver,
    errors,
    temporaryDirectory,
    at: (folder, tenant = 'tenant') => driver.open({ tenant, id: folder.directory, directory: folder.directory }),
  }
}

/** For machines that are busy with other work. */
export const patientMs = 120_000

export async function rowsOf(
  database: DuckdbDatabase,
  text: string,
  values: readonly BoundValue[] = [],
): Promise<Cell[][]> {
  return (await Array.fromAsync(database.select({ text, values }, { timeoutMs: patientMs }))).flat()
}
