import { availableParallelism } from 'node:os'
import { type PlatformServer, readPlatformServer, type ServerAddress } from '../../kernel/libpq/platform-server.ts'

/** Beyond it the database is what limits, on most machines; whoever has another one sets WORKERS. */
const mostByDefault = 8
/**
 * With fewer cores a second worker makes fewer tiles than one alone (0.86 times as many on two cores), since both take turns with
 * PostgreSQL, and needs 150 MB.
 */
const leastCores = 4

/**
 * How many workers `WORKERS` asks for. It is read here and not by `config.ts`, whose libraries take 30 MB, because the
 * supervisor has no other use for them; a wrong value is left to `loadConfig` in the one process that is started then.
 */
export function countWorkers(env: NodeJS.ProcessEnv, cores = availableParallelism()): number {
  const { WORKERS: wanted, DATABASE_URL: url } = env
  // An embedded database belongs to one process.
  if (!url) return 1
  if (wanted) return Number(/^\d+$/.exec(wanted)?.[0] ?? 1)
  return Math.min(hasServerBeside(url, env) ? besideServer(cores) : cores, mostByDefault)
}

/** PostgreSQL takes about a quarter of what tiles and rows cost. */
const besideServer = (cores: number): number => (cores < leastCores ? 1 : Math.floor((cores * 3) / 4))

const isOnMachine = ({ host, address = host }: ServerAddress): boolean =>
  address.startsWith('/') || address === 'localhost' || address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address)

/** Whether PostgreSQL uses the same cores, as far as its address tells. */
export const isBeside = ({ addresses }: Pick<PlatformServer, 'addresses'>): boolean => addresses.some(isOnMachine)

function hasServerBeside(url: string, env: NodeJS.ProcessEnv): boolean {
  try {
    return isBeside(readPlatformServer(url, env))
  } catch {
    // The process that connects says what is wrong.
    return false
  }
}
