import { randomUUID } from 'node:crypto'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { AclClass, Scope } from '../access/acl.ts'
import { isUuid } from '../access/credentials.ts'
import type { Queryable, Row } from '../db/db.ts'
import type { Sql, SqlValue } from '../db/sql.ts'
import type { AttributeType } from '../query/attribute.ts'

export type Verb = 'list' | 'create' | 'get' | 'replace' | 'patch' | 'delete'
const allVerbs: readonly Verb[] = ['list', 'create', 'get', 'replace', 'patch', 'delete']

/** One property of a resource. This table drives validation, SQL, list queries, OpenAPI and the tests. */
export type Field = {
  readonly type: AttributeType
  readonly schema: TSchema
  readonly column: string
  /** `readOnly` is set by the service, `createOnly` cannot change later, `writeOnly` is never returned, `hidden` is ours alone. */
  readonly mode: 'writable' | 'createOnly' | 'readOnly' | 'writeOnly' | 'hidden'
  /** Must be given when the resource is made. */
  readonly required: boolean
  /** The value when it is not given. */
  readonly default: unknown
  /** May stand in `filter` and `sort`. */
  readonly queryable: boolean
  /** Text that filters and sorting compare without case: the column that holds it with its ASCII letters in lower case. */
  readonly foldedColumn?: string
  /**
   * SPEC.md marks it Required, so every record has it, though it need not be given when the record is made: PUT without it
   * keeps its value.
   */
  readonly isKept?: boolean
  /** What a body may hold, where that is more than what is answered; `prepare` makes one of the other. */
  readonly input?: TSchema
  /** Makes the value of the row, where the column does not hold it as it is. */
  readonly read?: (row: Row) => unknown
}

export type Fields = Readonly<Record<string, Field>>

/** The wire form of one resource. */
export type Entity = Record<string, unknown>

/** How a resource is identified, and how its id is kept. */
export type Identity = {
  readonly schema: TSchema
  readonly type: AttributeType
  readonly column: string
  readonly sqlType: 'uuid' | 'bytea' | 'bigint'
  readonly columns: readonly string[]
  /** The id may stand in `filter` and `sort`. */
  readonly queryable: boolean
  /** The columns of a new row. */
  generate(): Readonly<Record<string, SqlValue>>
  /** What the column holds for this id; nothing when the text can be no id. */
  key(id: string): SqlValue | undefined
  read(row: Row): string
}

/** A related resource that `join` loads: the one whose id a field holds, or the many that hold this one's id. */
export type Join =
  | { readonly one: () => Resource; readonly field: string }
  | { readonly many: () => Resource; readonly foreignColumn: string }

export type Draft = {
  readonly values: Entity
  readonly previous?: Entity
  readonly applicationId: string
  /** The body as it came: a merge patch has lost its nulls in `values`. */
  readonly given: Entity
  /** The signal of the request, for checks that wait for somebody else's server. */
  leaving(): AbortSignal
}

export type MetadataChange = {
  /** Empty when the record is only being made. */
  readonly before: Entity
  readonly after: Entity
  readonly isNew: boolean
  /** Of the record; empty for an application that is only being made. */
  readonly applicationId: string
  /** The keys at the top that the request is about. */
  readonly named: readonly string[]
}

/** What goes with a record. */
export type Removal = {
  /** Parameters that DELETE has. */
  readonly parameters: TProperties
  /** Looks around, before the transaction. */
  prepare(entity: Entity, query: Readonly<Record<string, unknown>>): Promise<Removing>
}

/** In the transaction that deletes the record, which is locked. Answers what is left to do when it is committed. */
export type Removing = (tx: Queryable) => Promise<(() => Promise<void>) | undefined>

export type Resource = {
  /** Plural; the URL segment and the table. */
  readonly name: string
  /** Singular, as the schema is called in OpenAPI. */
  readonly title: string
  readonly path: string
  readonly acl: AclClass
  readonly identity: Identity
  /** The column that names the tenant. */
  readonly tenantColumn: 'application_id' | 'id'
  /** The column that names the owning user; without one, keys of type `user` reach nothing. */
  readonly ownerColumn?: string
  readonly fields: Fields
  readonly joins: Readonly<Record<string, Join>>
  readonly verbs: readonly Verb[]
  /** These need a master key. */
  readonly masterVerbs: readonly Verb[]
  /** PUT of a record without a required field: an error, or the field keeps its value. */
  readonly replacement: 'full' | 'keeps'
  readonly bodyLimit?: number
  /** Bodies may have members that are not known; they are not kept. */
  readonly ignoresUnknown?: boolean
  /** Statuses that writing can answer besides the usual ones. */
  readonly writeFailures?: readonly number[]
  /** A body that creates one. The documentation shows it, the contract tests send it. */
  readonly example: Entity
  /** Last checks of what will be stored, and values that follow from it. Returns what to store. */
  readonly prepare?: (draft: Draft, scope: Scope) => Promise<Entity>
  /** Parameters that only the list of this resource has. */
  readonly listExtras?: {
    readonly parameters: TProperties
    readonly where: (query: Readonly<Record<string, unknown>>) => Sql[]
  }
  /** Columns of which a caller sees something else than what is stored: answers and filters see that too. */
  readonly views?: (scope: Scope) => Promise<Readonly<Record<string, Sql>>>
  /** What the metadata becomes, where not every writer may write all of it. */
  readonly guardMetadata?: (change: MetadataChange, scope: Scope) => Promise<Entity>
  /** Keys of the metadata whose members stay when PUT of the key does not name them. */
  readonly mergedMetadata?: readonly string[]
  /** Throws where a record that is within reach must not be deleted by this caller. */
  readonly checkRemoval?: (entity: Entity, scope: Scope) => Promise<void>
  readonly removal?: Removal
  /** A condition beyond tenant and ACL. */
  readonly restrict?: (scope: Scope) => Promise<Sql>
}

type FieldOptions = Partial<Omit<Field, 'type' | 'schema'>>

export function field(
  type: AttributeType,
  schema: TSchema,
  options: FieldOptions = {},
): Omit<Field, 'column'> & FieldOptions {
  const mode = options.mode ?? 'writable'
  return {
    type,
    schema,
    mode,
    required: false,
    default: null,
    queryable: mode !== 'writeOnly' && mode !== 'hidden',
    ...options,
  }
}

/** Clients can read it. */
export const isShown = ({ mode }: Pick<Field, 'mode'>): boolean => mode !== 'writeOnly' && mode !== 'hidden'

/** Clients can say it when they make a record. */
export const isGiven = ({ mode }: Pick<Field, 'mode'>): boolean => mode !== 'readOnly' && mode !== 'hidden'

const metadataSchema = Type.Record(Type.String(), Type.Unknown(), { description: 'Free-form, at most 64 KiB' })
const dateTime = Type.String({ format: 'date-time' })

export const uuidIdentity: Identity = {
  schema: Type.String({ format: 'uuid', description: 'Resource ID' }),
  type: 'uuid',
  column: 'id',
  sqlType: 'uuid',
  columns: ['id'],
  queryable: true,
  generate: () => ({ id: randomUUID() }),
  key: (id) => (isUuid(id) ? id.toLowerCase() : undefined),
  read: (row) => String(row.id),
}

type Declaration = Pick<Resource, 'name' | 'title' | 'acl' | 'example'> &
  Partial<Omit<Resource, 'fields'>> & { fields: Record<string, ReturnType<typeof field>>; metadata?: false }

/** Fills a declaration up with what all resources share. */
export function defineResource(declaration: Declaration): Resource {
  const identity = declaration.identity ?? uuidIdentity
  const tenantColumn = declaration.tenantColumn ?? 'application_id'
  const tenant = { applicationId: field('uuid', Type.String({ format: 'uuid' }), { mode: 'readOnly' }) }
  const fields = {
    id: field(identity.type, identity.schema, {
      mode: 'readOnly',
      column: identity.column,
      queryable: identity.queryable,
    }),
    ...(tenantColumn === 'id' ? {} : tenant),
    createdAt: field('datetime', dateTime, { mode: 'readOnly' }),
    updatedAt: field('datetime', dateTime, { mode: 'readOnly' }),
    ...(declaration.metadata === false ? {} : { metadata: field('json', metadataSchema, { default: {} }) }),
    ...declaration.fields,
  }
  return {
    path: `/api/v1/${declaration.name}`,
    joins: {},
    verbs: allVerbs,
    masterVerbs: [],
    replacement: 'keeps',
    ...declaration,
    identity,
    tenantColumn,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, { column: snakeCase(name), ...field }]),
    ),
  }
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
