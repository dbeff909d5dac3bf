/** Opens the agents service from the configuration. */
import type { Secrets } from '../api/access/secrets/secrets.ts'
import type { Bus } from '../kernel/bus/bus.ts'
import type { MachineShare } from '../kernel/concurrency/machine-share.ts'
import type { WorkWatch } from '../kernel/concurrency/work-watch.ts'
import type { Db } from '../kernel/db/db.ts'
import type { Config } from '../kernel/settings/config.ts'
import { type Agents, type AgentsOptions, createAgents } from './agents.ts'
import { loadBridgePackage } from './bridges/bridge-package.ts'
import { type Bridges, type BridgesOptions, createBridges, noBridges } from './bridges/bridges.ts'
import { openTracing } from './invocation/tracing.ts'
import { limitsOf } from './limits.ts'

export type OpenAgentsOptions = Pick<BridgesOptions, 'stream' | 'fetchTools'> & {
  readonly db: Db
  readonly secrets: Secrets
  readonly bus: Bus
  readonly share: MachineShare
  readonly onInvocation?: AgentsOptions['onInvocation']
  readonly works: WorkWatch
  readonly logger: AgentsOptions['log'] & BridgesOptions['log']
  readonly config: Parameters<typeof limitsOf>[0] & Pick<Config, 'AGENT_BRIDGES'>
}

export async function openAgents(options: OpenAgentsOptions): Promise<Agents> {
  const { db, bus, config, onInvocation, works, logger: log } = options
  const bridges = await openBridges(options)
  const parts = { limits: limitsOf(config), tracing: await openTracing(), watch: works.part('agents') }
  return createAgents({ db, bus, bridges, ...parts, onInvocation, log })
}

/** Bridges answer for agents without a worker. Their code is loaded only if the configuration turns them on. */
async function openBridges({
  db,
  secrets,
  logger: log,
  config,
  share,
  stream,
  fetchTools,
}: OpenAgentsOptions): Promise<Bridges> {
  if (config.AGENT_BRIDGES === 'off') return noBridges
  const bridges = await loadBridgePackage()
  return createBridges({ db, secrets, bridges, share, stream, fetchTools, limits: limitsOf(config), log })
}
