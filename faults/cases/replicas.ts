import type { Random } from '../../packages/server/testing/uploads/random.ts'
import type { FaultContext } from '../context.ts'
import type { FaultServer } from '../server.ts'

/** Servers on one database and one directory. */
export async function startReplicas(
  context: FaultContext,
  count: number,
  env: Record<string, string>,
): Promise<FaultServer[]> {
  const DATA_DIR = await context.directory()
  const replicas: FaultServer[] = []
  for (let n = 0; n < count; n++) replicas.push(await context.server({ DATA_DIR, ...env }))
  return replicas
}

export function pickLiving(replicas: readonly FaultServer[], random: Random): FaultServer {
  const living = replicas.filter((replica) => !replica.hasEnded())
  const [first] = living
  if (!first) throw new Error('no replica lives')
  return living[Math.floor(random() * living.length)] ?? first
}
