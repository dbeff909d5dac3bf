import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Outcome } from '../part.ts'
import { median, type Sample } from '../statistics.ts'
import { type Curve, growthPlot, type Panel, ratioPlot } from './plot.ts'
import { linesOf } from './report.ts'

/** The plots that docs/performance.md shows. */
export async function writePlots(folder: string, outcomes: readonly Outcome[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const bars = outcomes
    .filter(({ curve }) => !curve)
    .flatMap(linesOf)
    .filter(({ peer }) => peer)
    .map(({ work, peer, ratios, wanted }) => ({ label: `${work} : ${peer}`, ratios, wanted }))
  await writeFile(join(folder, 'ratios.svg'), ratioPlot('Graticule, times better', bars))
  for (const [plot, axis] of [
    ['rows', 'rows'],
    ['connections', 'connections'],
  ] as const) {
    const points = outcomes.filter(({ curve }) => curve?.plot === plot)
    await writeFile(join(folder, `${plot}.svg`), growthPlot(`Tiles by ${axis}`, axis, growthPanels(points)))
  }
}

const growthPanels = (outcomes: readonly Outcome[]): Panel[] =>
  (
    [
      ['tiles a second', 'value'],
      ['p95, ms', 'p95Ms'],
      ['memory, MB', 'memoryMb'],
    ] as const
  ).map(([title, key]) => ({ title, curves: curvesOf(outcomes, key) }))

function curvesOf(outcomes: readonly Outcome[], key: Exclude<keyof Sample, 'cpu'>): Curve[] {
  const names = [...new Set(outcomes.flatMap(({ samples }) => Object.keys(samples)))]
  return names.map((name) => ({
    name,
    points: outcomes.map(({ curve, samples }) => {
      const taken = samples[name] ?? []
      return [curve?.x ?? 0, median(taken.map((sample) => sample[key] ?? Number.NaN))] as const
    }),
  }))
}
