import type { Sample } from './statistics.ts'
import { percentile } from './statistics.ts'

/** One user who asks for one path after the other: what an answer takes on average, and what 95 of 100 take at most. */
export async function walk(url: string, paths: readonly string[], headers: Record<string, string>): Promise<Sample> {
  const times: number[] = []
  for (const path of paths) {
    const begun = performance.now()
    const reply = await fetch(`${url}${path}`, { headers })
    await reply.arrayBuffer()
    if (!reply.ok) throw new Error(`${path}: ${reply.status}`)
    times.push(performance.now() - begun)
  }
  return { value: times.reduce((sum, time) => sum + time, 0) / times.length, p95Ms: percentile(times, 0.95) }
}
