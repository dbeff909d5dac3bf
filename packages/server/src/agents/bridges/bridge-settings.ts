import Type, { type Static } from 'typebox'
import { ignoringOthers } from '../../api/http/input/bounded-schemas.ts'
import { validator } from '../../api/http/input/validate.ts'
import { invalid } from '../../kernel/errors.ts'

/** The types of agents for which the platform itself can answer. */
export const bridgeTypes = ['openai', 'anthropic', 'ollama', 'http'] as const
export type BridgeType = (typeof bridgeTypes)[number]

export const isBridgeType = (type: unknown): type is BridgeType => bridgeTypes.some((name) => name === type)

const defaultConcurrency = 16

const address = Type.String({
  maxLength: 2_000,
  pattern: '^[Hh][Tt]{2}[Pp][Ss]?://[^\\s\\\\]+$',
  examples: ['https://api.example.org/v1'],
})
const headers = Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4_096 }), { maxProperties: 50 })
const concurrency = Type.Integer({ minimum: 1, maximum: 1_000 })
const model = {
  concurrency: Type.Optional(concurrency),
  baseURL: Type.Optional(address),
  /** The spelling of the agent package. If it were ignored, the key would go to the default address. */
  baseUrl: Type.Optional(address),
  model: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  system: Type.Optional(Type.String({ maxLength: 262_144 })),
  /** Whether the model may use the dataset tools; true by default. */
  tools: Type.Optional(Type.Boolean()),
}
export const bridgeSchemas = {
  openai: Type.Object({ ...model, headers: Type.Optional(headers) }, ignoringOthers),
  anthropic: Type.Object(
    { ...model, maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })) },
    ignoringOthers,
  ),
  ollama: Type.Object(model, ignoringOthers),
  http: Type.Object(
    { concurrency: Type.Optional(concurrency), url: address, headers: Type.Optional(headers) },
    ignoringOthers,
  ),
}
const secretsSchema = Type.Object({
  apiKey: Type.Optional(Type.String({ minLength: 1, maxLength: 8_192, pattern: '^[\\x21-\\x7e]+$' })),
})

/** The settings of a bridge; which are set depends on its type. */
export type BridgeSettings = Partial<
  Static<typeof bridgeSchemas.openai> & Static<typeof bridgeSchemas.anthropic> & Static<typeof bridgeSchemas.http>
>
export type BridgeSecrets = Static<typeof secretsSchema>

const checks = {
  openai: validator(bridgeSchemas.openai, 'body/config'),
  anthropic: validator(bridgeSchemas.anthropic, 'body/config'),
  ollama: validator(bridgeSchemas.ollama, 'body/config'),
  http: validator(bridgeSchemas.http, 'body/config'),
}
/** The secrets of an agent that the platform answers for, or a 400. */
export const readBridgeSecrets: (secrets: unknown) => BridgeSecrets = validator(secretsSchema, 'body/secrets')

/** The settings of an agent that the platform answers for, or a 400 that says where they are wrong. */
export function readBridgeSettings(type: BridgeType, config: unknown): BridgeSettings {
  const settings: BridgeSettings = checks[type](config)
  for (const name of ['baseURL', 'baseUrl', 'url'] as const) {
    const text = settings[name]
    if (text === undefined) continue
    const url = URL.parse(text)
    if (!url) throw invalid(`body/config/${name}`, 'must be an http or https address')
    if (url.username || url.password) throw invalid(`body/config/${name}`, 'must not hold a user or password')
  }
  return settings
}

/** Where the secrets of an agent go, if the platform answers for it. */
export function destinationOf(type: unknown, config: unknown): string | undefined {
  if (!isBridgeType(type)) return undefined
  return `${type} ${URL.parse(String(addressOf(type, (config ?? {}) as BridgeSettings)))?.origin ?? ''}`
}

/** The address of the provider; undefined: the default of the type. */
export const addressOf = (type: BridgeType, { baseURL, baseUrl, url }: BridgeSettings): string | undefined =>
  type === 'http' ? url : (baseURL ?? baseUrl)

/** How many invocations of an agent a replica answers at once, all its workers together. */
export function bridgeCapacity(config: unknown): number {
  const { concurrency: wanted } = (config ?? {}) as Record<string, unknown>
  return typeof wanted === 'number' && wanted >= 1 ? wanted : defaultConcurrency
}
