import Type, { type TSchema } from 'typebox'
import type { Secrets } from '../access/secrets.ts'
import { defineResource, field, type Resource } from '../resource/resource.ts'

/** An agent as invocations need it. */
export type Agent = {
  readonly id: string
  readonly applicationId: string
  readonly enabled: boolean
  readonly maxConcurrency: number | null
  readonly timeoutMs: number
  readonly idleTimeoutMs: number
  readonly maxDurationMs: number
  readonly model: string | null
  readonly storeContent: boolean
  readonly memory: 'none' | 'platform'
  /** What its tools reach; null: all that the caller does. */
  readonly datasetIds: readonly string[] | null
}

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const milliseconds = (description: string) => Type.Integer({ minimum: 1, maximum: 86_400_000, description })
const count = Type.Integer({ minimum: 0 })

/** Agents. Nothing is required: an agent is whoever serves it. */
export const agents = (applications: () => Resource, secrets: Secrets): Resource =>
  defineResource({
    name: 'agents',
    title: 'Agent',
    acl: 'agents',
    replacement: 'full',
    ignoresUnknown: true,
    example: { name: 'Guide', description: 'Answers questions about the map' },
    fields: {
      name: field('string', Type.String({ maxLength: 255 }), { default: '' }),
      description: field('string', Type.String({ maxLength: 10_000 }), { default: '' }),
      type: field('string', Type.Enum(['remote', 'openai', 'anthropic', 'ollama', 'http']), { default: 'remote' }),
      config: field('json', Type.Record(Type.String(), Type.Unknown()), { default: {}, queryable: false }),
      secrets: field('string', nullable(Type.Record(Type.String(), Type.Unknown())), { mode: 'writeOnly' }),
      enabled: field('boolean', Type.Boolean(), { default: true }),
      maxConcurrency: field(
        'integer',
        nullable(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Over all replicas; null: no limit' })),
      ),
      timeoutMs: field('integer', milliseconds('Until the first output'), { default: 55_000 }),
      idleTimeoutMs: field('integer', milliseconds('Between outputs'), { default: 60_000 }),
      maxDurationMs: field('integer', milliseconds('Until the end'), { default: 600_000 }),
      model: field('string', nullable(Type.String({ maxLength: 255, description: 'Where the worker names none' }))),
      datasetIds: field('array', nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1_000 })), {
        queryable: false,
      }),
      storeContent: field('boolean', Type.Boolean({ description: 'Keep inputs and outputs in the history' }), {
        default: false,
      }),
      memory: field('string', Type.Enum(['none', 'platform']), { default: 'none' }),
      status: field('string', Type.Enum(['online', 'draining', 'offline']), { mode: 'readOnly', queryable: false }),
      workers: field('integer', count, { mode: 'readOnly', queryable: false }),
      capacity: field('integer', count, { mode: 'readOnly', queryable: false }),
      inFlight: field('integer', count, { mode: 'readOnly', queryable: false }),
    },
    joins: { application: { one: applications, field: 'applicationId' } },
    async prepare({ values, applicationId }) {
      if (values.secrets === undefined || values.secrets === null) return values
      return { ...values, secrets: secrets.seal(JSON.stringify(values.secrets), `agents.secrets.${applicationId}`) }
    },
  })
