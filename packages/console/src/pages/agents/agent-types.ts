/** The types of agents, with the fields of each type's `config`. */
import type { Agent, AgentCreate } from '@graticule/client'
import type { SettingField } from '../../components/settings/setting-values.ts'

export type AgentType = Agent['type']

interface TypeDescription {
  label: string
  /** Says who answers. */
  text: string
  config: readonly SettingField[]
  /** Whether it takes `secrets.apiKey`. */
  hasKey: boolean
}

const concurrency: SettingField = {
  name: 'concurrency',
  label: 'Calls at once',
  kind: 'number',
  placeholder: '16',
  hint: 'How many calls each replica of the server answers at once; the next get agent_busy.',
}
const headers: SettingField = {
  name: 'headers',
  label: 'Headers',
  kind: 'pairs',
  placeholder: 'X-Name: value',
  hint: 'One per line. They are shown to whoever may read the agent: put secrets into the key.',
}
const modelFields = (baseURL: string): SettingField[] => [
  { name: 'baseURL', label: 'Address', kind: 'text', placeholder: baseURL, hint: `Empty: ${baseURL}` },
  { name: 'model', label: 'Model', kind: 'text', hint: 'As the provider calls it.' },
  { name: 'system', label: 'System prompt', kind: 'area' },
  { name: 'tools', label: 'The model may read datasets with the platform’s tools', kind: 'switch', fallback: true },
]

export const agentTypes: Readonly<Record<AgentType, TypeDescription>> = {
  remote: {
    label: 'Worker',
    text: 'A process of yours answers. It connects to this server.',
    config: [],
    hasKey: false,
  },
  openai: {
    label: 'OpenAI or compatible',
    text: 'The server asks a chat completions API.',
    config: [...modelFields('https://api.openai.com/v1'), headers, concurrency],
    hasKey: true,
  },
  anthropic: {
    label: 'Anthropic',
    text: 'The server asks the Messages API.',
    config: [
      ...modelFields('https://api.anthropic.com'),
      { name: 'maxOutputTokens', label: 'Most output tokens', kind: 'number', placeholder: '4096' },
      concurrency,
    ],
    hasKey: true,
  },
  ollama: {
    label: 'Ollama',
    text: 'The server asks an Ollama that it can reach.',
    config: [...modelFields('http://127.0.0.1:11434'), concurrency],
    hasKey: true,
  },
  http: {
    label: 'Web service',
    text: 'The server posts each invocation to an address of yours.',
    config: [{ name: 'url', label: 'Address', kind: 'text', isRequired: true }, headers, concurrency],
    hasKey: true,
  },
}

export const agentTypeNames: readonly AgentType[] = ['remote', 'openai', 'anthropic', 'ollama', 'http']

export const keyField: SettingField = {
  name: 'apiKey',
  label: 'Key of the provider',
  kind: 'text',
  isSecret: true,
  hint: 'Sealed on the server, sent to the provider only, never shown again.',
}

/** The name, or a placeholder. */
export const agentName = ({ name }: Pick<Agent, 'name'>): string => name || 'Unnamed agent'

/** The request that creates an agent. */
export function newAgent(fields: {
  name: string
  description: string
  type: AgentType
  config: Record<string, unknown>
  apiKey: string
}): AgentCreate {
  const { apiKey, config, ...rest } = fields
  return { ...rest, config: config as NonNullable<AgentCreate['config']>, ...(apiKey ? { secrets: { apiKey } } : {}) }
}
