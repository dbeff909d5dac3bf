import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { guardedAuth, visibleMetadata } from '../access/auth-metadata.ts'
import { demandPowerOfUsers } from '../access/token-power.ts'
import type { Db } from '../db/db.ts'
import { defineResource, field, type Removal, type Resource } from '../resource/resource.ts'

/** The tenants. Deleting one deletes everything it owns: the foreign keys cascade. */
export const applications = (db: Db, databases: () => Resource, removal: Removal): Resource =>
  defineResource({
    name: 'applications',
    title: 'Application',
    acl: 'applications',
    tenantColumn: 'id',
    removal,
    masterVerbs: ['create', 'replace', 'patch', 'delete'],
    example: { name: 'Harbour', description: 'Ships and berths', contact: 'harbour@example.org' },
    joins: { databases: { many: databases, foreignColumn: 'application_id' } },
    views: async (scope) => ({ metadata: await visibleMetadata(db, 'applications', scope) }),
    async guardMetadata(change, scope) {
      const metadata = await guardedAuth(db, change, scope)
      // Redirects decide where the mail of every user leads.
      const isChanged = !isDeepStrictEqual(change.before.auth, metadata.auth)
      if (isChanged && !change.isNew) await demandPowerOfUsers(db, scope, change.applicationId)
      return metadata
    },
    mergedMetadata: ['auth'],
    fields: {
      name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '', isKept: true }),
      contact: field('string', Type.String({ maxLength: 320, description: 'Contact e-mail address' }), {
        default: '',
        isKept: true,
      }),
    },
  })
