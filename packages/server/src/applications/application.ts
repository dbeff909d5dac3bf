import Type from 'typebox'
import { defineResource, field, type Resource } from '../resource/resource.ts'

/** The tenants. Deleting one deletes everything it owns: the foreign keys cascade. */
export const applications = (databases: () => Resource): Resource =>
  defineResource({
    name: 'applications',
    title: 'Application',
    acl: 'applications',
    tenantColumn: 'id',
    masterVerbs: ['create', 'replace', 'patch', 'delete'],
    example: { name: 'Harbour', description: 'Ships and berths', contact: 'harbour@example.org' },
    joins: { databases: { many: databases, foreignColumn: 'application_id' } },
    fields: {
      name: field('string', Type.String({ minLength: 1, maxLength: 255 }), { required: true }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '' }),
      contact: field('string', Type.String({ maxLength: 320, description: 'Contact e-mail address' }), { default: '' }),
    },
  })
