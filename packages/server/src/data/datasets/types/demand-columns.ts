// Statements on a table of an external database, where nobody tells of a change. With coordinates in another reference system than the
// dataset says they would answer wrong places until its columns are read anew: they fail instead.
import { joinSql, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { Dataset } from '../dataset-record.ts'

/** The connection for statements that read this table. */
export function withDemandedColumns(connection: Connection, { source, attributes }: Dataset): Connection {
  const { postgres } = connection
  const geometries = attributes.filter(({ type }) => type === 'geometry')
  if (!postgres?.isExternal || geometries.length === 0) return connection
  const table = connection.tableSql(source)
  const facts = joinSql(
    geometries.map(({ name, dbType }) => sql`(${name}::name, ${dbType}::text)`),
    ', ',
  )
  // Asked once for the whole statement. That there is no such column is what the server says of one of another type.
  const areTheSame = sql`
    (SELECT coalesce(bool_and(CASE WHEN format_type(a.atttypid, a.atttypmod) = known.type THEN TRUE
        ELSE has_column_privilege(a.attrelid, known.name || ' ' || known.type, 'SELECT') END), TRUE)
      FROM (VALUES ${facts}) AS known (name, type) JOIN pg_catalog.pg_attribute a
        ON a.attrelid = ${textOf(table)}::regclass AND a.attname = known.name)`
  const demandColumns = (statement: Sql): Sql =>
    isExplained(statement) ? statement : sql`SELECT * FROM (${statement}) AS rows WHERE ${areTheSame}`
  return {
    ...connection,
    select: (statement, options) => connection.select(demandColumns(statement), options),
    postgres: {
      ...postgres,
      demandColumns,
      select: (statement, options) => postgres.select(demandColumns(statement), options),
    },
  }
}

/** A plan shows no rows. */
const isExplained = ({ parts: [first] }: Sql): boolean => typeof first === 'string' && /^\s*EXPLAIN\b/.test(first)

const textOf = ({ parts }: Sql): string => parts.join('')
