import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { untilAborted } from '../../../kernel/db/cursor.ts'
import type { Sql, SqlValue } from '../../../kernel/db/sql.ts'
import { ident } from '../../../kernel/db/sql.ts'
import { type ApiError, invalid } from '../../../kernel/errors.ts'
import { didYouMean, shortList } from '../../../kernel/nearest-name.ts'
import type { Connection, DerivedFiles } from '../../../query/execution/connection.ts'
import type { ColumnFact, InspectOptions, TableFact, TableInfo } from '../../../query/execution/introspection.ts'
import { splitMarkers } from '../../../query/execution/sql-markers.ts'
import { castTypes, duckdbDialect } from './dialect.ts'
import { estimateOf } from './estimate.ts'
import { explain, explained } from './faults.ts'
import type { DuckdbColumn, DuckdbDatabase, DuckdbQuery, DuckdbTable } from './package.ts'

const schema = 'main'
type Projections = (srid: number) => Promise<string | undefined>

/** Waits for the files, where they come from elsewhere. */
type Ready = (signal?: AbortSignal) => Promise<void>

type BlockConnection = Connection & Required<Pick<Connection, 'selectBlocks'>>

export type FileConnectionParts = {
  readonly opened: DuckdbDatabase
  readonly projection: Projections
  readonly ready: Ready
  /** The same folder in a process that only makes files of it, and folders of such files. */
  readonly derive?: { readonly builder: DuckdbDatabase; open(id: string, directory: string): DuckdbDatabase }
}

export function duckdbConnection({ opened, projection, ready, derive }: FileConnectionParts): BlockConnection {
  const database = afterReady(opened, ready)
  const tables = async (signal: AbortSignal | undefined) =>
    (await database.tables(signal ? { signal } : {}).catch(explain)).tables
  const recent = createLoadingCache<readonly DuckdbTable[]>({ max: 1 })
  /** Every query asks for them. Whoever leaves does not end the reading that others wait for. */
  const recentTables = (signal: AbortSignal | undefined) =>
    untilAborted(
      recent.get('all', () => tables(undefined)),
      signal,
    )
  return {
    schema,
    ...(derive && { derived: derivedFiles(derive, projection, ready) }),
    parameterTypes: castTypes,
    async select(statement, { timeoutMs, signal }) {
      const options = { timeoutMs, ...(signal && { signal }) }
      const { columns, batches } = await database.start(compile(statement), options).catch(explain)
      return { width: columns.length, batches: explained(batches) }
    },
    async selectBlocks(statement, { timeoutMs, signal }) {
      const options = { timeoutMs, ...(signal && { signal }) }
      return explained((await database.startBlocks(compile(statement), options).catch(explain)).batches)
    },
    explain: (statement, { signal }) => database.explain(compile(statement), signal ? { signal } : {}).catch(explain),
    async versions(signal) {
      const { version } = await database.tables({ signal }).catch(explain)
      return { serverVersion: `DuckDB ${version}` }
    },
    async tables({ schema: wanted, limit, offset }, signal) {
      if (wanted !== undefined && wanted !== schema) return []
      const infos = (await tables(signal)).map(tableInfo)
      return infos.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(offset, offset + limit)
    },
    tableSql: (source) => ident(tableName(source)),
    async describeTable(source, options) {
      return tableFact(named(await tables(options.signal), source, options))
    },
    async checkQuery(text, signal) {
      const { pieces } = splitMarkers(text)
      await database.check(pieces.join('(NULL::VARCHAR)'), signal ? { signal } : {}).catch(explain)
    },
    async describeQuery(_, query, { signal }) {
      const columns = await database.describe(compile(query).text, signal ? { signal } : {}).catch(explain)
      return columns.map(columnFact)
    },
    projection: (srid) => projection(srid),
    async estimate(source, geometry, { signal }) {
      const table = named(await tables(signal), source, {})
      return estimateOf(table, geometry, geometry?.srid ? await projection(geometry.srid) : undefined)
    },
    async dialect({ table, attributes, srid, signal }) {
      const srids = new Set([srid, ...[...attributes].flatMap((attribute) => attribute.srid ?? [])])
      const texts = await Promise.all([...srids].map(async (one) => [one, await projection(one)] as const))
      const definitions = Object.fromEntries(texts.flatMap(([one, text]) => (text ? [[one, text]] : [])))
      if (srid !== 4326 && !definitions[srid]) throw unknownSystem(srid)
      const tables = table === undefined ? [] : await recentTables(signal)
      return duckdbDialect(
        definitions,
        tables.find(({ name }) => table !== undefined && name === tableName(table)),
      )
    },
  }
}

function derivedFiles(
  { builder, open }: NonNullable<FileConnectionParts['derive']>,
  projection: Projections,
  ready: Ready,
): DerivedFiles {
  return {
    async write(name, statement, { timeoutMs, signal }) {
      await ready(signal)
      return builder.write(name, compile(statement), { timeoutMs, ...(signal && { signal }) }).catch(explain)
    },
    writtenRows: (name) => ident(`written ${name}`),
    read: (id, directory) => duckdbConnection({ opened: open(id, directory), projection, ready: async () => {} }),
  }
}

function afterReady(database: DuckdbDatabase, ready: Ready): Omit<DuckdbDatabase, 'select' | 'write'> {
  const waiting =
    <A, B extends { readonly signal?: AbortSignal }, C>(ask: (request: A, options: B) => Promise<C>) =>
    async (request: A, options: B): Promise<C> => {
      await ready(options.signal)
      return ask(request, options)
    }
  return {
    tables: async (options) => {
      await ready(options?.signal)
      return database.tables(options)
    },
    check: waiting((text: string, options: object = {}) => database.check(text, options)),
    describe: waiting((text: string, options: object = {}) => database.describe(text, options)),
    explain: waiting((query: DuckdbQuery, options: object = {}) => database.explain(query, options)),
    start: waiting(database.start),
    startBlocks: waiting(database.startBlocks),
  }
}

const unknownSystem = (srid: number): ApiError =>
  invalid('query/srid', `must be a reference system that the server knows, such as 3857, not ${srid}`)

/** Values go as text with a cast, but for numbers of ours, such as limits, which stand in the statement. */
function compile({ parts }: Sql): DuckdbQuery {
  const values: (string | null | readonly (string | null)[])[] = []
  const text = parts.map((part) => {
    if (typeof part === 'string') return part
    return typeof part.value === 'number' ? String(part.value) : `$${values.push(bound(part.value))}`
  })
  return { text: text.join(''), values }
}

function bound(value: SqlValue): string | null | readonly (string | null)[] {
  if (Array.isArray(value)) return value.map((item) => (item === null ? null : String(item)))
  return value === null ? null : String(value)
}

/** Tables have names of small letters, digits and _, in no schema. */
const tableName = (source: string): string => source.replace(/^(main\.|"main"\.)/, '').replace(/^"(.*)"$/, '$1')

function named(
  tables: readonly DuckdbTable[],
  source: string,
  { mayListTables }: Partial<InspectOptions>,
): DuckdbTable {
  const table = tables.find(({ name }) => name === tableName(source))
  if (table) return table
  const names = tables.map(({ name }) => name)
  const suggestion =
    mayListTables && names.length > 0 ? `${didYouMean(source, names)} Tables: ${shortList(names)}.` : ''
  throw invalid('body/source', `there is no table "${source.slice(0, 100)}" that can be read.${suggestion}`)
}

function tableInfo({ name, rows, file, columns }: DuckdbTable): TableInfo {
  const column = columns.find(({ geometry }) => geometry)
  return {
    schema,
    name,
    source: name,
    kind: 'table',
    rows,
    geometryColumn: column?.name ?? null,
    geometryType: column?.geometry?.type ?? null,
    srid: column?.geometry?.srid || null,
    comment: file,
  }
}

const tableFact = ({ columns, bytes, rows }: DuckdbTable): TableFact => ({
  columns: columns.map(columnFact),
  bytes,
  rowEstimate: rows,
  isTable: true,
})

function columnFact({ name, type, dbType, geometry }: DuckdbColumn): ColumnFact {
  const fact = { name, type, dbType, nullable: true, primaryKey: false, description: '' }
  if (!geometry) return fact
  const { type: geometryType, srid, dimension } = geometry
  return { ...fact, geometry: { type: geometryType, srid, dimension } }
}
