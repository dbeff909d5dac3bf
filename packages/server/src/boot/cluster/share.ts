import { type MachineShare, partOf } from '../../kernel/concurrency/machine-share.ts'
import { StartError } from '../../kernel/errors.ts'
import type { Config } from '../../kernel/settings/config.ts'

/** The settings that are for the machine: each worker gets a part of them. */
const divided = [
  'TENANT_CONNECTIONS',
  'TILE_CONNECTIONS',
  'TILE_CACHE_MB',
  'MAX_CONNECTIONS',
  'CONNECTIONS_PER_APPLICATION',
  'STREAMS_PER_APPLICATION',
  'UPLOADS_ARRIVING',
  'AGENT_BRIDGE_CALLS_PER_APPLICATION',
  'AGENT_WORKERS_PER_APPLICATION',
] as const satisfies (keyof Config)[]

/** With one connection, whoever needs a second one while it holds the first would wait for ever. */
const fewestConnections = 2

/** The settings of this worker. */
export function shareOf(config: Config, share: MachineShare | undefined): Config {
  if (!share) return forOneProcess(config)
  const parts = divided.map((name) => [name, partOf(config[name], share)])
  const poolSize = partOf(config.DATABASE_POOL_SIZE, share, fewestConnections)
  return { ...config, ...Object.fromEntries(parts), DATABASE_POOL_SIZE: poolSize }
}

function forOneProcess(config: Config): Config {
  if (config.DATABASE_URL || (config.WORKERS ?? 1) === 1) return config
  throw new StartError('WORKERS must be 1 or unset without DATABASE_URL: the embedded database belongs to one process.')
}
