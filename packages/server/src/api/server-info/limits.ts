import Type, { type Static } from 'typebox'
import type { Config } from '../../kernel/settings/config.ts'

const whole = (description: string) => Type.Integer({ description })

const orNone = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], { description: `${description}; null: no limit` })

/** The limits of the installation, so that clients can know them before they send. */
export const limitsSchema = Type.Object({
  bodyBytes: whole('The largest JSON body; styles and configuration may have more'),
  uploadBytes: whole('The largest file of an upload'),
  unfinishedUploads: whole('How many uploads of an application may be unfinished'),
  uploadsPerHour: orNone('How many uploads an application may send within an hour'),
  messagesPerMinute: orNone('How many messages an application may send to its contact points within a minute'),
  sessionsPerUser: whole('How many sessions a user may have; one more ends the oldest'),
  storageBytes: orNone('Tables and files that an application may keep'),
  queryTimeoutMs: whole('The longest `timeout` of a query in the default database'),
  queriesAtOnce: whole('How many queries of datasets an application may run at once, in each replica'),
  applicationConnections: whole('How many connections the clients of an application may have open, in each replica'),
  requestsPerSecond: orNone('How many requests a second a key may send; a tile counts a fifth, a query four'),
  tileFeatures: whole('The most features in a tile'),
  tileBytes: whole('The largest tile, uncompressed'),
  agentInputBytes: whole('The largest input of an agent'),
  agentOutputBytes: whole('The largest answer of an agent'),
})

export type ServerLimits = Static<typeof limitsSchema>

type Settings = Pick<
  Config,
  | 'BODY_LIMIT'
  | 'UPLOAD_MAX_BYTES'
  | 'UPLOADS_WAITING_PER_APPLICATION'
  | 'UPLOADS_PER_HOUR'
  | 'MESSAGES_PER_MINUTE'
  | 'SESSIONS_PER_USER'
  | 'STORAGE_PER_APPLICATION'
  | 'STREAMS_PER_APPLICATION'
  | 'CONNECTIONS_PER_APPLICATION'
  | 'REQUESTS_PER_SECOND'
  | 'TILE_MAX_FEATURES'
  | 'TILE_MAX_BYTES'
  | 'AGENT_INPUT_BYTES'
  | 'AGENT_OUTPUT_BYTES'
>

export const publicLimits = (settings: Settings, queryTimeoutMs: number): ServerLimits => ({
  bodyBytes: settings.BODY_LIMIT,
  uploadBytes: settings.UPLOAD_MAX_BYTES,
  unfinishedUploads: settings.UPLOADS_WAITING_PER_APPLICATION,
  uploadsPerHour: settings.UPLOADS_PER_HOUR || null,
  messagesPerMinute: settings.MESSAGES_PER_MINUTE || null,
  sessionsPerUser: settings.SESSIONS_PER_USER,
  storageBytes: settings.STORAGE_PER_APPLICATION ?? null,
  queryTimeoutMs,
  queriesAtOnce: settings.STREAMS_PER_APPLICATION,
  applicationConnections: settings.CONNECTIONS_PER_APPLICATION,
  requestsPerSecond: settings.REQUESTS_PER_SECOND || null,
  tileFeatures: settings.TILE_MAX_FEATURES,
  tileBytes: settings.TILE_MAX_BYTES,
  agentInputBytes: settings.AGENT_INPUT_BYTES,
  agentOutputBytes: settings.AGENT_OUTPUT_BYTES,
})
