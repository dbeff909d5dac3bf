import type { CpuCost } from './cpu.ts'

/** What a contender did in one round. */
export type Sample = {
  readonly value: number
  readonly p95Ms?: number
  readonly memoryMb?: number
  readonly cpu?: CpuCost
}

export type Better = 'more' | 'less'

export type Spread = { readonly median: number; readonly least: number; readonly most: number }

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[Math.ceil(sorted.length / 2 - 1)], sorted[Math.floor(sorted.length / 2)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  least: Math.min(...values),
  most: Math.max(...values),
})

/** How many times better the first is than the second, round by round: neighbours in time saw the same machine. */
export function ratiosOf(ours: readonly number[], theirs: readonly number[], better: Better): number[] {
  const rounds = Math.min(ours.length, theirs.length)
  return Array.from({ length: rounds }, (_, round) => {
    const [mine = Number.NaN, other = Number.NaN] = [ours[round], theirs[round]]
    return better === 'more' ? mine / other : other / mine
  })
}

/** A change is one only where the two ranges have nothing in common. */
export function changeOf(before: readonly number[], now: readonly number[]): { factor: number; isClear: boolean } {
  const [a, b] = [spreadOf(before), spreadOf(now)]
  return { factor: b.median / a.median, isClear: a.most < b.least || b.most < a.least }
}
