/** The draft of an agent's settings, and the merge patch of its changes. */
import type { Agent, AgentPatch } from '@graticule/client'
import { draftOf, type SettingDraft, settingsOf } from '../../components/settings/setting-values.ts'
import { type AgentType, agentTypes } from './agent-types.ts'

export interface AgentDraft {
  name: string
  description: string
  enabled: boolean
  storeContent: boolean
  memory: Agent['memory']
  type: AgentType
  config: SettingDraft
  secrets: SettingDraft
  maxConcurrency: string
  timeoutMs: string
  idleTimeoutMs: string
  maxDurationMs: string
  model: string
  /** One per line. */
  datasetIds: string
}

export function draftOfAgent(agent: Agent): AgentDraft {
  const { name, description, enabled, storeContent, memory, type } = agent
  return {
    name,
    description,
    enabled,
    storeContent,
    memory,
    type,
    config: draftOf(agentTypes[type].config, agent.config),
    secrets: { apiKey: '' },
    maxConcurrency: String(agent.maxConcurrency ?? ''),
    timeoutMs: String(agent.timeoutMs),
    idleTimeoutMs: String(agent.idleTimeoutMs),
    maxDurationMs: String(agent.maxDurationMs),
    model: agent.model ?? '',
    datasetIds: agent.datasetIds?.join('\n') ?? '',
  }
}

/** Changes the type and keeps the settings that both types have. */
export const withType = (draft: AgentDraft, type: AgentType): AgentDraft => ({
  ...draft,
  type,
  config: draftOf(agentTypes[type].config, settingsOf(agentTypes[draft.type].config, draft.config)),
})

/** Those that the API takes as they are. */
function plainFields({
  config,
  secrets,
  maxConcurrency,
  timeoutMs,
  idleTimeoutMs,
  maxDurationMs,
  ...draft
}: AgentDraft) {
  const { model, datasetIds, ...plain } = draft
  return Object.keys(plain) as (keyof typeof plain)[]
}

const numberFields = ['maxConcurrency', 'timeoutMs', 'idleTimeoutMs', 'maxDurationMs'] as const

/** Empty if nothing was changed. */
export function patchOf(agent: Agent, draft: AgentDraft): AgentPatch {
  const before = draftOfAgent(agent)
  const patch: Record<string, unknown> = {}
  for (const name of plainFields(draft)) if (draft[name] !== before[name]) patch[name] = draft[name]
  for (const name of numberFields) if (draft[name] !== before[name]) patch[name] = numberOf(draft[name])
  if (draft.model !== before.model) patch.model = draft.model.trim() || null
  if (draft.datasetIds !== before.datasetIds) {
    const ids = draft.datasetIds.split('\n').map((id) => id.trim())
    patch.datasetIds = draft.datasetIds.trim() === '' ? null : ids.filter(Boolean)
  }
  const config = configPatch(agent, draft)
  if (Object.keys(config).length > 0) patch.config = config
  const { apiKey } = draft.secrets
  if (typeof apiKey === 'string' && apiKey !== '') patch.secrets = { apiKey }
  return patch as AgentPatch
}

/** Parses a number. Invalid text is sent as it is, because the API's error names the field. */
function numberOf(text: string): number | string | null {
  if (text.trim() === '') return null
  const value = Number(text)
  return Number.isNaN(value) ? text : value
}

/** Members that the form does not have are not changed. */
function configPatch(agent: Agent, { type, config }: AgentDraft): Record<string, unknown> {
  const fields = agentTypes[type].config
  const next = settingsOf(fields, config)
  const patch: Record<string, unknown> = {}
  for (const { name } of fields) {
    const value = next[name] ?? null
    if (JSON.stringify(value) !== JSON.stringify(agent.config[name] ?? null)) patch[name] = value
  }
  return patch
}
