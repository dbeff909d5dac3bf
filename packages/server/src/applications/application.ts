import Type from 'typebox'
import { guardedAuth, visibleMetadata } from '../access/auth-metadata.ts'
import type { Db } from '../db/db.ts'
import { defineResource, field, type Resource } from '../resource/resource.ts'

/** The tenants. Deleting one deletes everything it owns: the foreign keys cascade. */
export const applications = (db: Db, databases: () => Resource): Resource =>
  defineResource({
    name: 'applications',
    title: 'Application',
    acl: 'applications',
    tenantColumn: 'id',
    masterVerbs: ['create', 'replace', 'patch', 'delete'],
    example: { name: 'Harbour', description: 'Ships and berths', contact: 'harbour@example.org' },
    joins: { databases: { many: databases, foreignColumn: 'application_id' } },
    views: async (scope) => ({ metadata: await visibleMetadata(db, 'applications', scope) }),
    guardMetadata: (change, scope) => guardedAuth(db, change, scope),
    fields: {
      name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '' }),
      contact: field('string', Type.String({ maxLength: 320, description: 'Contact e-mail address' }), { default: '' }),
    },
  })
