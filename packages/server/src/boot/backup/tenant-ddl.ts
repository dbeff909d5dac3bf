// The statements that make a tenant's tables again.
import type { Queryable } from '../../kernel/db/db.ts'
import { ident, quoted, sql } from '../../kernel/db/sql.ts'
import { refusalOf } from './checked-ddl.ts'
import type { LeftOut, SequenceState, TableRecord, TenantEndRecord, TenantRecord } from './records.ts'
import { type CatalogColumn, type CatalogSequence, type CatalogTable, readEnums } from './tenant-catalog.ts'

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Types and sequences, before the tables that use them. */
export async function describeTenant(
  tx: Queryable,
  schema: string,
  sequences: readonly CatalogSequence[],
): Promise<TenantRecord> {
  const enums = await readEnums(tx, schema)
  return {
    kind: 'tenant',
    schema,
    statements: [
      ...enums.map(({ name, labels }) => `CREATE TYPE ${of(schema, name)} AS ENUM (${labels.map(literal).join(', ')})`),
      ...sequences
        .filter(({ isIdentity }) => !isIdentity)
        .map((sequence) => `CREATE SEQUENCE ${of(schema, sequence.name)} AS ${sequence.type} ${optionsOf(sequence)}`),
    ],
  }
}

const of = (schema: string, name: string): string => `${quoted(schema)}.${quoted(name)}`

function optionsOf({ start, increment, min, max, cache, isCycling }: CatalogSequence): string {
  const counts = `START WITH ${start} INCREMENT BY ${increment} MINVALUE ${min} MAXVALUE ${max} CACHE ${cache}`
  return isCycling ? `${counts} CYCLE` : counts
}

export async function describeTable(
  schema: string,
  table: CatalogTable,
  sequences: readonly CatalogSequence[],
  leaveOut: (leftOut: LeftOut) => void,
): Promise<TableRecord> {
  const target = of(schema, table.name)
  const { name, privileges, comment, isWatched, isRowSecured, isRowForced } = table
  const options = new Map(sequences.map((one) => [of(schema, one.name), optionsOf(one)]))
  const columns = await Promise.all(
    table.columns.map((column) => describeColumn(schema, target, column, options, leaveOut)),
  )
  const finish: string[] = []
  for (const { name: part, definition } of table.constraints) {
    finish.push(`ALTER TABLE ${target} ADD CONSTRAINT ${quoted(part)} ${definition}`)
  }
  for (const { definition } of table.indexes) finish.push(definition)
  if (table.isPartitioned) leaveOut({ what: `The partitions of ${target}; its rows are in one table`, definition: '' })
  return {
    kind: 'table',
    schema,
    name,
    privileges,
    comment,
    isWatched,
    isRowSecured,
    isRowForced,
    create: `CREATE TABLE ${target} (${columns.map(({ text }) => text).join(', ')})`,
    columns: table.columns.filter((_, index) => columns[index]?.isCopied).map((column) => column.name),
    finish: await allowed(schema, target, finish, leaveOut),
    columnComments: Object.fromEntries(
      table.columns.flatMap((one) => (one.comment === null ? [] : [[one.name, one.comment]])),
    ),
  }
}

async function describeColumn(
  schema: string,
  target: string,
  column: CatalogColumn,
  sequences: ReadonlyMap<string, string>,
  leaveOut: (leftOut: LeftOut) => void,
): Promise<{ text: string; isCopied: boolean }> {
  const { name, type, ownType, collation, isRequired, identity, sequence, isGenerated, expression } = column
  const where = `the column ${quoted(name)} of ${target}`
  if (ownType !== null) leaveOut({ what: `The type ${ownType} of ${where}, which becomes ${type}`, definition: '' })
  const text = [
    quoted(name),
    type,
    collation && ownType === null ? `COLLATE ${collation}` : '',
    isRequired ? 'NOT NULL' : '',
  ]
  if (identity !== '' && sequence !== null) {
    const when = identity === 'a' ? 'ALWAYS' : 'BY DEFAULT'
    const options = sequences.get(requoted(sequence)) ?? ''
    text.push(`GENERATED ${when} AS IDENTITY (SEQUENCE NAME ${sequence} ${options})`)
  } else if (expression !== null && ownType === null) {
    const clause = isGenerated ? `GENERATED ALWAYS AS (${expression}) STORED` : `DEFAULT ${expression}`
    const refusal = await refusalOf(`CREATE TABLE ${target} (${quoted(name)} ${type} ${clause})`, schema)
    if (refusal === undefined) return { text: [...text, clause].filter(Boolean).join(' '), isCopied: !isGenerated }
    leaveOut({ what: `How ${where} is filled, because ${refusal}`, definition: `-- ${clause}` })
  }
  return { text: text.filter(Boolean).join(' '), isCopied: true }
}

/** `quote_ident` quotes only what must be. */
const requoted = (name: string): string =>
  name.replace(/("(?:[^"]|"")*"|[^".]+)/g, (part) => (part.startsWith('"') ? part : quoted(part)))

/** Foreign keys come last, when all tables are there, and the owners of sequences. */
export async function finishTenant(
  tx: Queryable,
  schema: string,
  sequences: readonly CatalogSequence[],
  foreignKeys: readonly string[],
  leaveOut: (leftOut: LeftOut) => void,
): Promise<TenantEndRecord> {
  const states = await Promise.all(sequences.map(({ name }) => readState(tx, schema, name)))
  const owners = sequences.flatMap(({ name, owner, isIdentity }) =>
    owner === null || isIdentity ? [] : [`ALTER SEQUENCE ${of(schema, name)} OWNED BY ${quoted(schema)}.${owner}`],
  )
  return {
    kind: 'tenant-end',
    schema,
    statements: [...owners, ...(await allowed(schema, `the schema ${schema}`, foreignKeys, leaveOut))],
    sequences: states,
  }
}

export async function readState(tx: Queryable, schema: string, name: string): Promise<SequenceState> {
  const [state] = await tx.query<Omit<SequenceState, 'name'>>(
    sql`SELECT last_value::text AS last, is_called AS "isCalled" FROM ${ident(schema, name)}`,
  )
  return { name, last: state?.last ?? '1', isCalled: state?.isCalled ?? false }
}

async function allowed(
  schema: string,
  where: string,
  statements: readonly string[],
  leaveOut: (leftOut: LeftOut) => void,
): Promise<string[]> {
  const kept: string[] = []
  for (const statement of statements) {
    const refusal = await refusalOf(statement, schema)
    if (refusal === undefined) kept.push(statement)
    else leaveOut({ what: `A part of ${where}, because ${refusal}`, definition: `${statement};` })
  }
  return kept
}
