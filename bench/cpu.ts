import { glob, readFile } from 'node:fs/promises'
import { descendants } from './processes.ts'

/** Microseconds of CPU that one request takes: of a server with all that it has started, and of PostgreSQL. */
export type CpuCost = { readonly server: number; readonly database: number }

type Roots = { readonly [side in keyof CpuCost]: number }

/**
 * Measures what goes on between, by the kernel's own clock of each thread. On a machine that others use too this says more than requests a
 * second. What a thread took that has ended meanwhile is missing.
 */
export async function measureCpu(roots: Roots, run: () => Promise<number>): Promise<CpuCost> {
  const before = { server: await threadTimes(roots.server), database: await threadTimes(roots.database) }
  const requests = await run()
  const [server, database] = await Promise.all([threadTimes(roots.server), threadTimes(roots.database)])
  const each = (now: ThreadTimes, then: ThreadTimes): number => spentBetween(then, now) / requests / 1000
  return { server: each(server, before.server), database: each(database, before.database) }
}

/** Nanoseconds on a processor, by `pid/tid`. */
type ThreadTimes = ReadonlyMap<string, number>

async function threadTimes(root: number): Promise<ThreadTimes> {
  const times = new Map<string, number>()
  for (const pid of await descendants(root))
    for await (const file of glob(`/proc/${pid}/task/*/schedstat`)) {
      const [spent] = (await readFile(file, 'utf8').catch(() => '')).split(' ')
      if (spent) times.set(file, Number(spent))
    }
  return times
}

function spentBetween(then: ThreadTimes, now: ThreadTimes): number {
  let spent = 0
  for (const [thread, time] of now) spent += time - (then.get(thread) ?? 0)
  return spent
}
