import type { Secrets } from '../../api/access/secrets/secrets.ts'
import type { Db } from '../../kernel/db/db.ts'
import { sql } from '../../kernel/db/sql.ts'
import { secretsAssociatedData } from '../agent.ts'
import type { BridgePackage, Fetch, Handler } from './bridge-package.ts'
import {
  addressOf,
  type BridgeSecrets,
  type BridgeSettings,
  type BridgeType,
  isBridgeType,
  readBridgeSecrets,
  readBridgeSettings,
} from './bridge-settings.ts'

type Row = { application_id: string; type: string; config: unknown; secrets: string | null; model: string | null }
export type HandlerSources = {
  db: Db
  secrets: Secrets
  bridges: BridgePackage
  /** Fetch through the SSRF guard, to providers of models. */
  fetch: Fetch
  /** Fetch for the platform's own tools, without the network. */
  fetchTools: Fetch
}

/** The handler of a bridged agent. It reads the record for each invocation, so a change counts on every replica at once. */
export function bridgeHandler({ db, secrets, bridges, fetch, fetchTools }: HandlerSources, agentId: string): Handler {
  return async (invocation) => {
    const [row] = await db.query<Row>(
      sql`SELECT application_id, type, config, secrets, model FROM svc.agents WHERE id = ${agentId}::uuid`,
    )
    if (!row || !isBridgeType(row.type)) throw new Error('The agent is not of a type that the platform serves itself.')
    const { type, application_id: applicationId } = row
    const settings = readBridgeSettings(type, row.config)
    const opened =
      row.secrets === null ? {} : JSON.parse(secrets.open(row.secrets, secretsAssociatedData(applicationId)))
    const model = settings.model ?? row.model ?? undefined
    if (type !== 'http' && (model ?? invocation.options.model) === undefined) {
      throw new bridges.Reject('No model is set. Set config.model of the agent, or send options.model.')
    }
    return makeHandler(
      bridges,
      type,
      { ...settings, ...(model !== undefined && { model }), fetch, fetchTools },
      readBridgeSecrets(opened),
    )(invocation)
  }
}

function makeHandler(
  { openAiCompatible, anthropic, ollama, http }: BridgePackage,
  type: BridgeType,
  { fetch, fetchTools, ...settings }: BridgeSettings & { fetch: Fetch; fetchTools: Fetch },
  { apiKey }: BridgeSecrets,
): Handler {
  const { model, system, headers, maxOutputTokens, tools } = settings
  const baseUrl = addressOf(type, settings)
  const common = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(system !== undefined && { system }),
    ...(apiKey !== undefined && { apiKey }),
    ...(tools !== undefined && { tools }),
    fetch,
    fetchTools,
  }
  if (type === 'openai') return openAiCompatible({ ...common, ...(headers && { headers }) })
  if (type === 'anthropic') return anthropic({ ...common, ...(maxOutputTokens !== undefined && { maxOutputTokens }) })
  if (type === 'ollama') return ollama(common)
  const authorization = apiKey !== undefined && { authorization: `Bearer ${apiKey}` }
  return http({ url: baseUrl ?? '', headers: { ...authorization, ...headers }, fetch })
}
