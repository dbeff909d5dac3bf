import type { CpuCost } from '../cpu.ts'
import { type Outcome, ourName, type Part } from '../part.ts'
import { changeOf, median, ratiosOf, type Sample, spreadOf } from '../statistics.ts'
import type { Results } from './results.ts'

/** Graticule against one contender, or alone. */
export type Line = {
  readonly part: string
  readonly work: string
  readonly ours: readonly number[]
  readonly peer: string
  readonly theirs: readonly number[]
  readonly ratios: readonly number[]
  readonly unit: Outcome['unit']
  readonly wanted: number | undefined
  readonly most: number | undefined
  /** Of Graticule, and of the other. */
  readonly costs: readonly [string, string]
}

const valuesOf = (samples: readonly Sample[] | undefined): number[] => (samples ?? []).map(({ value }) => value)

export function linesOf(outcome: Outcome): Line[] {
  const { part, work, unit, better, wanted, samples } = outcome
  const ours = valuesOf(samples[ourName] ?? Object.values(samples)[0])
  const peers = Object.keys(samples).slice(1)
  const about = { part, work, ours, unit, most: wanted?.most }
  const own = costText(samples[ourName])
  if (peers.length === 0) return [{ ...about, peer: '', theirs: [], ratios: [], wanted: undefined, costs: [own, ''] }]
  return peers.map((peer) => {
    const theirs = valuesOf(samples[peer])
    const costs = [own, costText(samples[peer])] as const
    return { ...about, peer, theirs, ratios: ratiosOf(ours, theirs, better), wanted: wanted?.ratio?.[peer], costs }
  })
}

/** `server + PostgreSQL`, in microseconds; empty where it was not measured. */
function costText(samples: readonly Sample[] = []): string {
  const costs = samples.flatMap(({ cpu }) => cpu ?? [])
  if (costs.length === 0) return ''
  const of = (side: keyof CpuCost): number => Math.round(median(costs.map((cost) => cost[side])))
  return `${of('server')} + ${of('database')}`
}

const shown = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value >= 10 ? value.toFixed(1) : value.toFixed(2)

const withSpread = (values: readonly number[]): string => {
  const { median, least, most } = spreadOf(values)
  return values.length > 1 ? `**${shown(median)}** (${shown(least)} – ${shown(most)})` : `**${shown(median)}**`
}

function lineText(line: Line): string {
  const { work, ours, peer, theirs, ratios, unit, wanted, most, costs } = line
  const mine = `${shown(spreadOf(ours).median)} ${unit}`
  const other = peer ? `${peer}: ${shown(spreadOf(theirs).median)} ${unit}` : ''
  const ratio = peer ? withSpread(ratios) : ours.length > 1 ? withSpread(ours) : ''
  return `| ${work} | ${mine} | ${other} | ${ratio} | ${wantedText(wanted, most, unit)} | ${costs[0]} | ${costs[1]} |`
}

function wantedText(ratio: number | undefined, most: number | undefined, unit: string): string {
  const texts = [ratio === undefined ? '' : `≥ ${ratio}`, most === undefined ? '' : `≤ ${most} ${unit}`]
  return texts.filter(Boolean).join(', ')
}

const table = (lines: readonly Line[]): string[] => [
  '| work | Graticule | beside | times better (spread) | wanted | CPU µs: server + PostgreSQL | beside |',
  '|---|---|---|---|---|---|---|',
  ...lines.map(lineText),
]

function curveTable(outcomes: readonly Outcome[]): string[] {
  const rows = outcomes.flatMap(({ work, samples }) =>
    Object.entries(samples).map(([name, taken]) => {
      const of = (key: 'value' | 'p95Ms' | 'memoryMb') =>
        shown(spreadOf(taken.map((sample) => sample[key] ?? Number.NaN)).median)
      return `| ${work} | ${name} | ${of('value')} | ${of('p95Ms')} ms | ${of('memoryMb')} MB |`
    }),
  )
  return ['| work | server | a second | p95 | memory |', '|---|---|---|---|---|', ...rows]
}

function partText({ name, about }: Part, outcomes: readonly Outcome[]): string[] {
  const own = outcomes.filter(({ part }) => part === name)
  if (own.length === 0) return []
  const rows = own.filter(({ curve }) => !curve)
  const points = own.filter(({ curve }) => curve)
  const tables = [rows.length > 0 ? table(rows.flatMap(linesOf)) : [], points.length > 0 ? curveTable(points) : []]
  return [`## ${name}`, '', about, '', ...tables.flat(), '']
}

export function reportText(results: Results, parts: readonly Part[]): string {
  const { takenAt, commit, machine, minutes, peers, missing, outcomes, notes } = results
  return [
    '# Benchmarks',
    '',
    `Written by \`npm run bench\`${results.isQuick ? ' (quick)' : ''} on ${takenAt.slice(0, 10)} at commit ${commit}, in ${minutes.toFixed(1)} minutes. ${machine}; the load generator, the servers and PostgreSQL share them. What is measured, and how: [docs/performance.md](../../docs/performance.md).`,
    '',
    `Beside: ${peers.join(', ') || 'nothing else'}.${missing.length > 0 ? ` Not installed here: ${missing.join(', ')}.` : ''}`,
    '',
    ...parts.flatMap((part) => partText(part, outcomes)),
    ...(notes.length > 0
      ? ['## Left out or failed', '', ...notes.map((note) => `- ${note.replaceAll('\n', ' ')}`), '']
      : []),
  ].join('\n')
}

/** What has changed for Graticule since an earlier run. A factor is good or bad by the unit, so both are named. */
export function comparisonText(before: Results, now: Results): string {
  const rows = now.outcomes.flatMap((outcome) => {
    const earlier = before.outcomes.find(({ part, work }) => part === outcome.part && work === outcome.work)
    const [old, own] = [valuesOf(earlier?.samples[ourName]), valuesOf(outcome.samples[ourName])]
    if (old.length === 0 || own.length === 0) return []
    const { factor, isClear } = changeOf(old, own)
    const isBetter = factor > 1 === (outcome.better === 'more')
    const verdict = isClear ? (isBetter ? 'better' : '**worse**') : 'within the spread'
    const figures = `${withSpread(old)} | ${withSpread(own)} ${outcome.unit}`
    return [`| ${outcome.work} | ${figures} | ${factor.toFixed(2)} | ${verdict} |`]
  })
  const title = `Compared with ${before.commit}, ${before.takenAt}:`
  return [title, '', '| work | before | now | now / before | |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}

/** A cost that is higher by less may be that of another machine's day. */
const mostRise = 1.15

/** What takes more CPU for a request than in an earlier run, beyond the spread of both. */
export function dearerWork(before: Results, now: Results): string[] {
  return now.outcomes.flatMap(({ part, work, samples }) => {
    const earlier = before.outcomes.find((one) => one.part === part && one.work === work)
    const [old, own] = [totalsOf(earlier?.samples[ourName]), totalsOf(samples[ourName])]
    if (old.length === 0 || own.length === 0) return []
    const { factor, isClear } = changeOf(old, own)
    const figures = `${withSpread(old)} to ${withSpread(own)} µs`
    return isClear && factor > mostRise ? [`${work}: ${figures} of CPU for a request`] : []
  })
}

const totalsOf = (samples: readonly Sample[] = []): number[] =>
  samples.flatMap(({ cpu }) => (cpu ? [cpu.server + cpu.database] : []))
