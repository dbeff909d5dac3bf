import Type, { type TSchema } from 'typebox'
import { defineResource, field, type Resource, type ResourceFields } from '../../api/resource/resource.ts'

const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()])
const text = (description: string) => field('string', Type.String({ description }), { mode: 'readOnly' })
const textOrNull = (description: string) =>
  field('string', nullable(Type.String({ description })), { mode: 'readOnly' })

const actors = ['key', 'user', 'master', 'anonymous', 'command', 'system']

const declared = defineResource({
  name: 'audit',
  title: 'AuditEntry',
  acl: 'applications',
  metadata: false,
  ownerColumn: 'user_id',
  verbs: ['list'],
  example: {},
  fields: {
    applicationId: field('uuid', nullable(Type.String({ format: 'uuid' })), { mode: 'readOnly' }),
    at: field('datetime', Type.String({ format: 'date-time' }), { mode: 'readOnly' }),
    actorType: field('string', Type.Enum(actors, { description: 'Who did it' }), { mode: 'readOnly' }),
    actorId: textOrNull('The fingerprint of the API key: the first digits of its SHA-256'),
    userId: field('integer', nullable(Type.Integer({ description: 'The user of the token or of the key' })), {
      mode: 'readOnly',
    }),
    action: text('The id of the operation, such as `styles.replace`'),
    targetType: text('What it was done to, such as `styles`'),
    targetId: textOrNull('Its id; the fingerprint of an API key'),
    targetName: textOrNull('Its name at that time'),
    status: field('integer', Type.Integer({ description: 'The status of the answer; from 400 on it was refused' }), {
      mode: 'readOnly',
    }),
    requestId: textOrNull('As in the X-Request-Id header of the answer'),
    address: textOrNull('The address of the client; that of an operator is shown to master keys only'),
    userAgent: textOrNull('The User-Agent header, cut to 255 characters'),
    changed: field('array', Type.Array(Type.String(), { description: 'The names of the fields that were set' }), {
      mode: 'readOnly',
    }),
  },
})

const { createdAt: _, updatedAt: __, ...fields }: ResourceFields = declared.fields

/** The declaration of an audit entry. Entries are not made by requests of their own, so they have no other operations. */
export const auditEntry: Resource = { ...declared, fields }
