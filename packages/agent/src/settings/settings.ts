// The settings of the command line, merged from flags, file and environment.

import type { Handler } from '../invocation.ts'
import { bridgeNames, readBridge } from './bridge-settings.ts'
import {
  address,
  allowOnly,
  type Env,
  fromVariables,
  layered,
  listOf,
  type Members,
  membersOf,
  readMembers,
  type Setting,
  text,
  UsageError,
  wholeNumber,
} from './setting.ts'

export type Settings = { drainMs: number; agents: readonly AgentSettings[] }
export type AgentSettings = { url: string; apiKey: string; agentId: string; capacity?: number; handler: Handler }

type Sources = {
  flags: Members
  /** The file, if there is one. */
  file: Setting | undefined
  env: Env
}

const shared = { url: address, apiKey: text, capacity: wholeNumber(1, 1_000) }
const agent = { agent: text, ...shared }
const worker = { drainSeconds: wholeNumber(0, 86_400) }
const agentNames = [...Object.keys(agent), ...bridgeNames]
const variables = { url: 'GRATICULE_URL', apiKey: 'GRATICULE_API_KEY' }
const maxAgents = 100

/** Flags win over the file, and the file over the environment. */
export function readSettings({ flags, file, env }: Sources): Settings {
  const top = file ? membersOf(file) : new Map<string, Setting>()
  const { drainSeconds = 25 } = readMembers(worker, layered(top, flags))
  const agents = agentsOf(top, flags, file).map((own) => readAgent(own, { top, flags, env }))
  refuseDuplicates(agents)
  const visible = withoutKeys(env, new Set(agents.map(({ apiKey }) => apiKey)))
  return {
    drainMs: drainSeconds * 1_000,
    agents: agents.map(({ where: _, makeHandler, ...agent }) => ({ ...agent, handler: makeHandler(visible) })),
  }
}

/** The agents of the file: a list, or one agent at the top level. */
function agentsOf(top: Members, flags: Members, file: Setting | undefined): readonly Setting[] {
  const list = top.get('agents')
  if (!list) {
    allowOnly([...agentNames, ...Object.keys(worker), 'agents'], top, 'the file')
    return [file ?? { where: '', what: top }]
  }
  allowOnly([...Object.keys(shared), ...Object.keys(worker), 'agents'], top, 'a file with a list of agents')
  if (flags.has('agent')) throw new UsageError(`--agent cannot be combined with the list ${list.where}.`)
  const agents = listOf(list, maxAgents)
  for (const setting of agents) allowOnly(agentNames, membersOf(setting), 'an agent')
  return agents
}

function readAgent(own: Setting, { top, flags, env }: { top: Members; flags: Members; env: Env }) {
  const members = membersOf(own)
  const values = readMembers(agent, layered(fromVariables(variables, env), top, members, flags))
  const { agent: agentId, url, apiKey, capacity } = values
  if (!agentId) throw missing(own, 'agent', top.has('agents') ? '' : '--agent ID')
  if (!url) throw missing(own, 'url', '--url URL or GRATICULE_URL')
  if (!apiKey) throw missing(own, 'apiKey', '--api-key KEY or GRATICULE_API_KEY')
  const makeHandler = readBridge({ flags, members, env })
  if (!makeHandler) {
    throw missing(
      own,
      `one bridge of ${bridgeNames.join(', ')}`,
      '--openai-compatible, --anthropic, --ollama, --http or --command',
    )
  }
  return { where: own.where, url, apiKey, agentId, ...(capacity !== undefined && { capacity }), makeHandler }
}

/** Without a file, the message names the flag. */
function missing({ where }: Setting, member: string, alternative: string): UsageError {
  if (where === '') return new UsageError(`serve needs ${alternative}.`)
  return new UsageError(`${where} needs ${member}${alternative && ` (or ${alternative})`}.`)
}

/** Refuses duplicate ids: a copied entry would make two handlers answer alternately. */
function refuseDuplicates(agents: readonly { where: string; agentId: string }[]): void {
  const seen = new Set<string>()
  for (const { where, agentId } of agents) {
    if (seen.has(agentId)) throw new UsageError(`${where} names the same agent as another item of the list.`)
    seen.add(agentId)
  }
}

/** The environment for commands, without any variable whose value is a platform key. */
const withoutKeys = (env: Env, keys: ReadonlySet<string | undefined>): Env =>
  Object.fromEntries(Object.entries(env).filter(([name, value]) => name !== variables.apiKey && !keys.has(value)))
