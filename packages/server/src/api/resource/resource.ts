import { randomUUID } from 'node:crypto'
import type { TSchema } from 'typebox'
import type { Db, Row } from '../../kernel/db/db.ts'
import type { Sql, SqlValue } from '../../kernel/db/sql.ts'
import type { JsonBudget } from '../../kernel/json/json-budget.ts'
import type { AttributeType } from '../../query/values/attribute.ts'
import type { Scope } from '../access/acl.ts'
import { isUuid } from '../access/credentials.ts'
import type { AclClass } from '../access/grants.ts'
import type { Secrets } from '../access/secrets/secrets.ts'
import { dateTimeText, freeRecord, uuidText } from '../http/input/bounded-schemas.ts'

/** The services of every resource operation; areas add their own. */
export type BaseServices = {
  readonly db: Db
  readonly secrets: Secrets
  readonly generations: Generations
  /** The records of a resource by its title, such as `Application`: what joins name. */
  storeOf(title: string): Store
}

/** A resource with the services to store it. Every function of `store.ts` demands a scope, and reaches nothing outside it. */
export type Store<S extends BaseServices = BaseServices> = { readonly resource: Resource<S>; readonly services: S }

/** A change counter for each resource on this server, which invalidates caches. */
export type Generations = {
  of(resource: Pick<Resource, 'title'>): number
  next(resource: Pick<Resource, 'title'>): void
}

export type Verb = 'list' | 'create' | 'get' | 'replace' | 'patch' | 'delete'
const allVerbs: readonly Verb[] = ['list', 'create', 'get', 'replace', 'patch', 'delete']

/** One property of a resource. This table drives validation, SQL, list queries, OpenAPI and the tests. */
export type ResourceField = {
  readonly type: AttributeType
  readonly schema: TSchema
  readonly column: string
  /** `readOnly`: set by the service; `createOnly`: cannot change later; `writeOnly`: never returned; `hidden`: internal. */
  readonly mode: 'writable' | 'createOnly' | 'readOnly' | 'writeOnly' | 'hidden'
  /** Must be given at creation. */
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
  readonly isKeptOnReplace?: boolean
  /** The schema in request bodies, if it differs from the response; `prepare` converts. */
  readonly input?: TSchema
  /** A secret, such as a one-time token: the audit log has an entry when an answer shows it. */
  readonly isSecret?: boolean
  /** The SQL of a JSON value that no column of the table holds. */
  readonly select?: Sql
  /** Computes the value from the row, if the column does not hold it directly. */
  readonly read?: (row: Row, secrets: Secrets) => unknown
  /** The SQL of a value, if its type does not say it. */
  readonly write?: (value: unknown) => Sql
}

export type ResourceFields = Readonly<Record<string, ResourceField>>

/** The wire form of one resource. */
export type Entity = Record<string, unknown>

/** How a resource is identified, and how its id is stored. */
export type IdentityField = {
  readonly schema: TSchema
  readonly type: AttributeType
  readonly column: string
  readonly sqlType: 'uuid' | 'bytea' | 'bigint'
  readonly columns: readonly string[]
  /** The id may stand in `filter` and `sort`. */
  readonly queryable: boolean
  /** The columns of a new row. */
  generate(secrets: Secrets): Readonly<Record<string, SqlValue>>
  /** The column value of an id; undefined when the text cannot be an id. */
  key(id: string): SqlValue | undefined
  read(row: Row, secrets: Secrets): string
}

/**
 * Related records that `join` loads, by the title of their resource: the one whose id a field holds, or the many that hold
 * this one's id.
 */
export type Join =
  | { readonly one: string; readonly field: string }
  | { readonly many: string; readonly foreignColumn: string }

export type EntityDraft = {
  readonly values: Entity
  readonly previous?: Entity
  readonly applicationId: string
  /** The body as it came: a merge patch has lost its nulls in `values`. */
  readonly input: Entity
  /** The signal of the request, for checks that wait for somebody else's server. */
  leaving(): AbortSignal
}

/** A caller-specific view of a resource: computed columns and a row filter. */
export type View = {
  /** Columns that are replaced for this caller, in answers and in filters. */
  readonly columns?: Readonly<Record<string, Sql>>
  /** A row filter beyond tenant and ACL. */
  readonly where?: Sql
}

export type Resource<S extends BaseServices = BaseServices> = {
  /** Plural; the URL segment and the table. */
  readonly name: string
  /** Singular, as the schema is called in OpenAPI. */
  readonly title: string
  readonly path: string
  readonly acl: AclClass
  readonly identity: IdentityField
  /** The column that names the tenant. */
  readonly tenantColumn: 'application_id' | 'id'
  /** The column that names the owning user; without one, keys of type `user` reach nothing. */
  readonly ownerColumn?: string
  readonly fields: ResourceFields
  readonly joins: Readonly<Record<string, Join>>
  readonly verbs: readonly Verb[]
  /** These need a master key. */
  readonly masterVerbs: readonly Verb[]
  /** PUT of a record without a required field: an error, or the field keeps its value. */
  readonly replacement: 'full' | 'keeps'
  readonly bodyLimit?: number
  /** What a body may hold: `bodyBudget` by default. */
  readonly budget?: JsonBudget
  /** Unknown members of bodies are ignored. */
  readonly ignoresUnknown?: boolean
  /** Answers hold live values that the ETag does not cover, so a GET is never 304. */
  readonly hasLiveFields?: boolean
  /** SQL of a text that changes with values that the revision does not cover, and is a part of the ETag; null without any. */
  readonly liveTag?: Sql
  /** Statuses that writing can answer besides the usual ones. */
  readonly writeFailures?: readonly number[]
  /** A body that creates one. The documentation shows it, the contract tests send it. */
  readonly example: Entity
  /** Validates a draft and computes derived values. Returns what to store. */
  prepare?(draft: EntityDraft, scope: Scope, services: S): Promise<Entity>
  /** For resources of which callers see different parts. */
  view?(scope: Scope, services: S): Promise<View>
}

type FieldOptions = Partial<Omit<ResourceField, 'type' | 'schema'>>

export function field(
  type: AttributeType,
  schema: TSchema,
  options: FieldOptions = {},
): Omit<ResourceField, 'column'> & FieldOptions {
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
export const isShown = ({ mode }: Pick<ResourceField, 'mode'>): boolean => mode !== 'writeOnly' && mode !== 'hidden'

/** Clients can set it at creation. */
export const isInputField = ({ mode }: Pick<ResourceField, 'mode'>): boolean => mode !== 'readOnly' && mode !== 'hidden'

const metadataSchema = freeRecord('metadataBytes', { description: 'Free-form, at most 64 KiB' })
const dateTime = dateTimeText()

export const uuidIdentity: IdentityField = {
  schema: uuidText({ description: 'Resource ID' }),
  type: 'uuid',
  column: 'id',
  sqlType: 'uuid',
  columns: ['id'],
  queryable: true,
  generate: () => ({ id: randomUUID() }),
  key: (id) => (isUuid(id) ? id.toLowerCase() : undefined),
  read: (row) => String(row.id),
}

type Declaration<S extends BaseServices> = Pick<Resource, 'name' | 'title' | 'acl' | 'example'> &
  Partial<Omit<Resource<S>, 'fields'>> & { fields: Record<string, ReturnType<typeof field>>; metadata?: false }

/** Completes a declaration with what all resources share. */
export function defineResource<S extends BaseServices = BaseServices>(declaration: Declaration<S>): Resource<S> {
  const identity = declaration.identity ?? uuidIdentity
  const tenantColumn = declaration.tenantColumn ?? 'application_id'
  const tenant = { applicationId: field('uuid', uuidText(), { mode: 'readOnly' }) }
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
