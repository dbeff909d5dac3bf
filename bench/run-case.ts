import { type Case, type Contender, type Outcome, ourName } from './part.ts'
import type { Sample } from './statistics.ts'

export type Rounds = {
  readonly count: number
  /** At most so many come before. */
  readonly warmUps: number
  /** When no further round is begun. */
  readonly deadline: number
  note(text: string): void
}

/** Measures the contenders in turns, forth and back (ABBA), so that whatever else the machine does hits all of them. */
export async function runCase(part: string, one: Case, rounds: Rounds): Promise<Outcome> {
  const { contenders, longRounds, ...about } = one
  const left = new Set(contenders)
  /** Leaves out a contender that fails. Without Graticule there is nothing to measure. */
  const attempt = async (contender: Contender, run: () => Promise<unknown>): Promise<void> => {
    try {
      await run()
    } catch (error) {
      if (contender.name === ourName) throw error
      left.delete(contender)
      rounds.note(`${one.work}: ${contender.name} is left out: ${(error as Error).message}`)
    }
  }
  for (const contender of contenders) await attempt(contender, async () => contender.equal?.())
  if (longRounds === undefined)
    for (const contender of left) await attempt(contender, () => warmUp(contender, one, rounds))
  const samples: Record<string, Sample[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round < (longRounds ?? rounds.count) && hasTime(round, rounds); round++)
    for (const contender of round % 2 === 0 ? [...left] : [...left].toReversed())
      await attempt(contender, async () => samples[contender.name]?.push(await contender.measure()))
  const measured = Object.entries(samples).filter(([, taken]) => taken.length > 0)
  return { part, ...about, samples: Object.fromEntries(measured) }
}

/**
 * Rounds until one brings less than a twentieth: an engine that compiles while it runs needs tens of thousands of requests
 * to come to its speed, and servers run for weeks.
 */
async function warmUp({ measure }: Contender, { better }: Case, { warmUps, deadline }: Rounds): Promise<void> {
  let best = await measure()
  for (let round = 1; round < warmUps && performance.now() < deadline; round++) {
    const next = await measure()
    const gain = better === 'more' ? next.value / best.value : best.value / next.value
    if (!(gain > leastGain)) return
    best = next
  }
}

const leastGain = 1.05

/** One round is always measured. */
const hasTime = (round: number, { deadline }: Rounds): boolean => round === 0 || performance.now() < deadline
