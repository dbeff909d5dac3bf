import Type, { type TSchema } from 'typebox'
import { freeRecord } from '../api/http/input/bounded-schemas.ts'
import { type BaseServices, defineResource, type Entity, type EntityDraft, field } from '../api/resource/resource.ts'
import type { Db } from '../kernel/db/db.ts'
import { sql } from '../kernel/db/sql.ts'
import { invalid } from '../kernel/errors.ts'
import {
  bridgeTypes,
  destinationOf,
  isBridgeType,
  readBridgeSecrets,
  readBridgeSettings,
} from './bridges/bridge-settings.ts'

/** An agent record, as invocations need it. */
export type Agent = {
  readonly id: string
  readonly applicationId: string
  readonly name: string
  /** `remote`, or the bridge with which the platform may answer itself. */
  readonly type: string
  readonly config: unknown
  readonly enabled: boolean
  readonly maxConcurrency: number | null
  readonly timeoutMs: number
  readonly idleTimeoutMs: number
  readonly maxDurationMs: number
  readonly model: string | null
  readonly storeContent: boolean
  readonly memory: 'none' | 'platform'
  /** The datasets that its tools reach; null: all that the caller reaches. */
  readonly datasetIds: readonly string[] | null
}

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const milliseconds = (description: string) => Type.Integer({ minimum: 1, maximum: 86_400_000, description })
const count = Type.Integer({ minimum: 0 })

type RecordServices = BaseServices & {
  /** Does the platform answer for agents of this type itself? Otherwise `config` is the affair of whoever does. */
  readonly agents: { readonly bridges: { serves(type: unknown): boolean } }
}

/** The associated data under which the secrets of an application's agents are encrypted. */
export const secretsAssociatedData = (applicationId: string): string => `agents.secrets.${applicationId}`

/** The resource of agents. No field is required: a worker that connects is enough to serve one. */
export const agent = defineResource<RecordServices>({
  name: 'agents',
  title: 'Agent',
  acl: 'agents',
  replacement: 'full',
  ignoresUnknown: true,
  hasLiveFields: true,
  example: { name: 'Guide', description: 'Answers questions about the map' },
  fields: {
    name: field('string', Type.String({ maxLength: 255 }), { default: '' }),
    description: field('string', Type.String({ maxLength: 10_000 }), { default: '' }),
    type: field('string', Type.Enum(['remote', ...bridgeTypes]), { default: 'remote' }),
    config: field('json', freeRecord('bodyBytes'), { default: {}, queryable: false }),
    secrets: field('string', nullable(freeRecord('bodyBytes')), { mode: 'writeOnly' }),
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
  joins: { application: { one: 'Application', field: 'applicationId' } },
  async prepare(draft, _scope, { db, secrets, agents }) {
    const { values, previous, applicationId } = draft
    const isGiven = ['type', 'config', 'secrets'].some((name) => values[name] !== undefined)
    if (isGiven && agents.bridges.serves(values.type ?? previous?.type)) checkBridge(draft)
    await keepSecretsHome(db, draft)
    if (values.secrets === undefined || values.secrets === null) return values
    return { ...values, secrets: secrets.seal(JSON.stringify(values.secrets), secretsAssociatedData(applicationId)) }
  },
})

function checkBridge({ values, previous }: EntityDraft): void {
  const { type, config } = { ...previous, ...values }
  if (!isBridgeType(type)) return
  readBridgeSettings(type, config)
  if (values.secrets) readBridgeSecrets(values.secrets)
}

/** Secrets must be sent anew with a new address, or write on an agent would be enough to steal its secrets. */
async function keepSecretsHome(db: Db, { values, previous }: EntityDraft): Promise<void> {
  if (!previous || values.secrets !== undefined) return
  const { type, config } = { ...previous, ...values }
  const destination = destinationOf(type, config)
  if (destination === undefined || destination === destinationOf(previous.type, previous.config)) return
  if (await hasSecrets(db, previous)) throw invalid('body/secrets', 'is required when the address or the type changes')
}

async function hasSecrets(db: Db, { id }: Entity): Promise<boolean> {
  const [row] = await db.query<{ has: boolean }>(
    sql`SELECT secrets IS NOT NULL AS has FROM svc.agents WHERE id = ${String(id)}::uuid`,
  )
  return row?.has ?? false
}
