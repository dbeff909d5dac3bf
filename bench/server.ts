import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** As `npm start` has it. */
const youngGeneration = '--max-semi-space-size=16'

/** A server as a process of its own, ready to be asked. */
export async function startServer(
  script: string,
  port: number,
  env: Record<string, string>,
  nodeArguments: string[] = [],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [youngGeneration, ...nodeArguments, script], {
    env: { PATH: process.env.PATH, ...env, PORT: String(port), HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  await once(child.stdout ?? child, 'data')
  child.stdout?.pipe(process.stderr)
  return child
}

export async function stopServer(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

/** Its resident memory now, or the most it ever had. */
export async function residentMb({ pid }: ChildProcess, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${which}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
}

/** Makes a server tell how late its event loop is; to be given to `startServer`. */
export const watchLag = ['--import', new URL('event-loop-lag.ts', import.meta.url).href]

/** How late its event loop was since this was last asked, in milliseconds: what 99 of 100 ticks kept to, and the worst. */
export async function eventLoopLag(child: ChildProcess): Promise<{ p99: number; most: number }> {
  const answered = once(child, 'message')
  child.send('how late?')
  const [lag] = await answered
  return lag
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2 - 1)], sorted[Math.floor(sorted.length / 2)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** The median in bold, and from where to where they go. */
export function spread(ratios: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)]
  return `**${median(ratios).toFixed(digits)}** (${least.toFixed(digits)} – ${most.toFixed(digits)})`
}

export const roundsInTurns = 7

type InTurns = { ours: string; limit: string; ratio: string }

/**
 * Two rates in turns (ABBA), so that whatever else the machine does hits both; the first round warms up. Medians, and of the
 * ratios of the rounds their range too.
 */
export async function inTurns(measure: () => Promise<number>, measureLimit: () => Promise<number>): Promise<InTurns> {
  const rounds: { ours: number; limit: number }[] = []
  for (let round = 0; round <= roundsInTurns; round++) {
    const before = round % 2 === 0 ? await measureLimit() : undefined
    const ours = await measure()
    rounds.push({ ours, limit: before ?? (await measureLimit()) })
  }
  const counted = rounds.slice(1)
  return {
    ours: median(counted.map(({ ours }) => ours)).toFixed(0),
    limit: median(counted.map(({ limit }) => limit)).toFixed(0),
    ratio: spread(
      counted.map(({ ours, limit }) => ours / limit),
      2,
    ),
  }
}
