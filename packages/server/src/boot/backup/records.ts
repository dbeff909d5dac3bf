// The records of an archive, and their check: whoever knows the passphrase can write anything into one.
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { StartError } from '../../kernel/errors.ts'
import { type ArchiveEntry, readArchive } from './archive.ts'
import { refusalOf } from './checked-ddl.ts'
import { isFilePath } from './data-files.ts'

const name = Type.String({ minLength: 1, maxLength: 63 })
const schema = Type.String({ pattern: '^app_[0-9a-f]{32}$' })
const statements = Type.Array(Type.String())
const comment = Type.Union([Type.String(), Type.Null()])

const sequenceState = Type.Object({
  name,
  last: Type.String({ pattern: '^-?[0-9]{1,19}$' }),
  isCalled: Type.Boolean(),
})

const leftOut = Type.Object({ what: Type.String(), definition: Type.String() })

const backup = Type.Object({
  kind: Type.Literal('backup'),
  id: Type.String({ format: 'uuid' }),
  version: Type.String({ maxLength: 100 }),
  madeAt: Type.String({ maxLength: 40 }),
  secret: Type.String({ minLength: 32, maxLength: 10_000 }),
  migrations: Type.Array(Type.Object({ number: Type.Integer(), name: Type.String(), checksum: Type.String() })),
})

const records = Type.Object({
  kind: Type.Literal('records'),
  table: name,
  columns: Type.Array(name),
  /** By column. */
  sequences: Type.Record(Type.String(), sequenceState),
})

/** Types and sequences of a tenant, which its tables need. */
const tenant = Type.Object({ kind: Type.Literal('tenant'), schema, statements })

const privileges = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN']

const table = Type.Object({
  kind: Type.Literal('table'),
  schema,
  name,
  create: Type.String(),
  /** Those that are copied. */
  columns: Type.Array(name),
  /** Constraints and indexes, made when the rows are in. */
  finish: statements,
  /** Of the tenant's role. */
  privileges: Type.Array(Type.Enum(privileges)),
  comment,
  columnComments: Type.Record(Type.String(), Type.String()),
  isWatched: Type.Boolean(),
  isRowSecured: Type.Boolean(),
  isRowForced: Type.Boolean(),
})

/** What needs all tables of a tenant. */
const tenantEnd = Type.Object({
  kind: Type.Literal('tenant-end'),
  schema,
  statements,
  sequences: Type.Array(sequenceState),
})

const file = Type.Object({ kind: Type.Literal('file'), path: Type.String() })
const leftOutList = Type.Object({ kind: Type.Literal('left-out'), items: Type.Array(leftOut) })

export type BackupRecord = Static<typeof backup>
export type RecordsRecord = Static<typeof records>
export type TenantRecord = Static<typeof tenant>
export type TableRecord = Static<typeof table>
export type TenantEndRecord = Static<typeof tenantEnd>
export type SequenceState = Static<typeof sequenceState>
/** Something that a restored database does not have by itself; `definition` is SQL for whoever wants it. */
export type LeftOut = Static<typeof leftOut>

const anyRecord = Type.Union([backup, records, tenant, table, tenantEnd, file, leftOutList])
export type ArchiveRecord = Static<typeof anyRecord>
export type CheckedEntry = { readonly record: ArchiveRecord; readonly content: ArchiveEntry['content'] }

const checker = Compile(anyRecord)

/** The entries of an archive, each checked before it is handed over. */
export async function* readChecked(path: string, passphrase: string): AsyncGenerator<CheckedEntry, void, undefined> {
  for await (const { record: read, content } of readArchive(path, passphrase)) {
    const record: unknown = read
    if (!checker.Check(record)) {
      throw new StartError(`The backup has an entry that is not valid: ${read.kind.slice(0, 40)}.`)
    }
    await checkSql(record)
    if (record.kind === 'file' && !isFilePath(record.path)) {
      const shown = JSON.stringify(record.path.slice(0, 200))
      throw new StartError(`The backup has a file that would be outside of DATA_DIR: ${shown}.`)
    }
    yield { record, content }
  }
}

async function checkSql(record: ArchiveRecord): Promise<void> {
  for (const statement of statementsOf(record)) {
    const refusal = await refusalOf(statement, 'schema' in record ? record.schema : '')
    if (refusal === undefined) continue
    throw new StartError(
      `The backup has SQL that restoring does not run, because ${refusal}: ${statement.slice(0, 200)}`,
    )
  }
}

function statementsOf(record: ArchiveRecord): readonly string[] {
  if (record.kind === 'tenant' || record.kind === 'tenant-end') return record.statements
  return record.kind === 'table' ? [record.create, ...record.finish] : []
}
