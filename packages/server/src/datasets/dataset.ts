import Type from 'typebox'
import { type AclLevel, type Scope, scopeOf } from '../access/acl.ts'
import type { Secrets } from '../access/secrets.ts'
import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import { invalid } from '../errors.ts'
import { defineResource, type Entity, field, type Removal, type Resource } from '../resource/resource.ts'
import { readUserReference, userReference } from '../resource/user-id.ts'
import { attributeSchema } from './attribute-dto.ts'
import { readDeclarations } from './parameters.ts'
import type { Sources } from './sources.ts'

const secretsSchema = Type.Union([
  Type.Object({ headers: Type.Optional(Type.Record(Type.String(), Type.String())) }, { additionalProperties: false }),
  Type.Null(),
])

/** Queryable abstractions of data. What a source has is found out when it is stored, so a wrong one is refused then. */
export const datasets = (
  db: Db,
  related: { applications: () => Resource; databases: () => Resource; users: () => Resource },
  sources: Sources,
  secrets: Secrets,
  removal: Removal,
): Resource =>
  defineResource({
    name: 'datasets',
    title: 'Dataset',
    acl: 'datasets',
    ownerColumn: 'owner_id',
    removal,
    writeFailures: [502, 504],
    example: { type: 'sql', name: 'One', source: 'SELECT 1 AS one' },
    fields: {
      ownerId: userReference('writable'),
      type: field('string', Type.Enum(['table', 'sql', 'rest', 'lambda']), { required: true }),
      source: field('string', Type.String({ minLength: 1, maxLength: 100_000 }), { required: true }),
      name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKept: true }),
      attributes: field('json', Type.Array(attributeSchema), { mode: 'readOnly', queryable: false }),
      bytes: field('integer', Type.Union([Type.Integer(), Type.Null()]), { mode: 'readOnly' }),
      databaseId: field(
        'uuid',
        Type.String({ format: 'uuid', description: 'The default database unless it is given' }),
        {
          required: false,
          default: undefined,
          isKept: true,
        },
      ),
      secrets: field('string', secretsSchema, { mode: 'writeOnly' }),
    },
    joins: {
      application: { one: related.applications, field: 'applicationId' },
      database: { one: related.databases, field: 'databaseId' },
      owner: { one: related.users, field: 'ownerId' },
    },
    listExtras: {
      parameters: {
        tags: Type.Optional(Type.Array(Type.String(), { description: 'Datasets with any of these metadata.tags' })),
      },
      where: ({ tags }) => (tags === undefined ? [] : [sql`metadata -> 'tags' ?| ${tags as string[]}::text[]`]),
    },
    async prepare({ values, previous, applicationId, leaving }, scope) {
      const next: Entity = { ...previous, ...values }
      readDeclarations((next.metadata as Entity).parameters)
      const databaseId = await ownDatabase(sources, scope, applicationId, values.databaseId ?? previous?.databaseId)
      const ownerId = ownerOf(values.ownerId, previous?.ownerId, scope)
      const sealed =
        values.secrets === undefined
          ? await keptHeaders(db, next, previous)
          : sealHeaders(values.secrets, secrets, applicationId)
      const described = { ...next, databaseId, applicationId, secrets: sealed }
      const { attributes, bytes } = await sources.inspect(described, {
        signal: leaving(),
        mayListTables: reaches(scope, 'execute', databaseId),
      })
      return {
        ...values,
        ownerId,
        databaseId,
        attributes,
        bytes,
        ...(values.secrets !== undefined && { secrets: sealed }),
      }
    },
  })

/** An owner that stays was checked when it was set. */
function ownerOf(wanted: unknown, current: unknown, scope: Scope): unknown {
  if (scope.ownerId !== null) return scope.ownerId
  if (wanted === undefined || wanted === current) return current ?? null
  return readUserReference(wanted, 'body/ownerId', scope)
}

/** The database must be the application's, and within the caller's reach. */
async function ownDatabase(sources: Sources, scope: Scope, applicationId: string, wanted: unknown): Promise<string> {
  const id = typeof wanted === 'string' ? wanted.toLowerCase() : undefined
  const found = await sources.findDatabase(applicationId, id)
  if (!found || !(id === undefined || reaches(scope, 'read', id)))
    throw invalid('body/databaseId', 'must be the id of a database of this application')
  return found
}

function reaches({ caller }: Scope, level: AclLevel, databaseId: string): boolean {
  const reach = scopeOf(caller, 'databases', level)
  return reach !== undefined && (reach.ids === 'any' || reach.ids.includes(databaseId))
}

/** Secret headers stay with the origin they were given for: whoever may change a dataset may not send them elsewhere. */
async function keptHeaders(db: Db, next: Entity, previous: Entity | undefined): Promise<string | null> {
  if (!previous || next.type !== 'rest') return null
  const [row] = await db.query<{ secrets: string | null }>(
    sql`SELECT secrets FROM svc.datasets WHERE id = ${String(previous.id)}::uuid`,
  )
  if (row?.secrets && originOf(next) !== originOf(previous)) {
    throw invalid('body/secrets', 'is required when the source leads to another host; null removes the secrets')
  }
  return row?.secrets ?? null
}

const originOf = ({ type, source }: Entity): string | undefined =>
  type === 'rest' ? URL.parse(String(source))?.origin : undefined

function sealHeaders(given: unknown, secrets: Secrets, applicationId: string): string | null {
  if (given === undefined || given === null) return null
  return secrets.seal(JSON.stringify(given), `datasets.secrets.${applicationId}`)
}
