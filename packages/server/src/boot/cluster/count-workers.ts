import { availableParallelism } from 'node:os'

/** Beyond it the database is what limits, on most machines; whoever has another one sets WORKERS. */
const mostByDefault = 8

/**
 * How many workers `WORKERS` asks for. It is read here and not by `config.ts`, whose libraries take 30 MB, because the
 * supervisor has no other use for them; a wrong value is left to `loadConfig` in the one process that is started then.
 */
export function countWorkers(
  { WORKERS: wanted, DATABASE_URL }: NodeJS.ProcessEnv,
  cores = availableParallelism(),
): number {
  // An embedded database belongs to one process.
  if (!DATABASE_URL) return 1
  return wanted ? Number(/^\d+$/.exec(wanted)?.[0] ?? 1) : Math.min(cores, mostByDefault)
}
