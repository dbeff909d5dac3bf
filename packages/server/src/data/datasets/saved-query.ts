import Type from 'typebox'
import { reachesId, scopeOf } from '../../api/access/acl.ts'
import { uuidText } from '../../api/http/input/bounded-schemas.ts'
import { type BaseServices, defineResource, field } from '../../api/resource/resource.ts'
import { standardOperations } from '../../api/resource/standard-operations.ts'
import { invalid } from '../../kernel/errors.ts'
import type { Sources } from './sources.ts'

export type SavedQueryServices = BaseServices & { readonly sources: Sources }

/**
 * Queries that people keep: a text of SQL and its database. It is granted with databases, which public keys do not reach: what it says
 * of tables is for those who may read them. It is checked when it is run, not when it is kept.
 */
export const savedQuery = defineResource<SavedQueryServices>({
  name: 'queries',
  title: 'Query',
  acl: 'databases',
  example: { name: 'Large cities', sql: 'SELECT 1 AS one' },
  fields: {
    name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKeptOnReplace: true }),
    sql: field('string', Type.String({ minLength: 1, maxLength: 100_000 }), { required: true }),
    databaseId: field(
      'uuid',
      Type.Union([uuidText({ description: 'The database that it is for' }), Type.Null()], {
        description: 'null: the default database',
      }),
      { default: null },
    ),
  },
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare({ values, applicationId }, scope, { sources }) {
    const { databaseId } = values
    if (typeof databaseId !== 'string') return values
    const isReached = reachesId(scopeOf(scope.caller, 'databases', 'read'), databaseId)
    if (isReached && (await sources.findDatabase(applicationId, databaseId.toLowerCase()))) return values
    throw invalid('body/databaseId', 'must be the id of a database of this application')
  },
})

export const savedQueryOperations = standardOperations(savedQuery)
