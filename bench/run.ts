// npm run bench [-- [--quick] [--peers] [--compare FILE] [--check] [PART…]]
// Side by side in one run on one machine: the ratios mean something, the absolute figures only here.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bench, openBench } from './bench.ts'
import type { Outcome, Part } from './part.ts'
import { parts } from './parts.ts'
import { type PeerName, peers } from './peers.ts'
import { isOnPath } from './processes.ts'
import { writePlots } from './report/plots.ts'
import { comparisonText, dearerWork, linesOf, reportText } from './report/report.ts'
import {
  currentCommit,
  describeMachine,
  lastResultsFile,
  type Results,
  readResults,
  saveResults,
} from './report/results.ts'
import { runCase } from './run-case.ts'
import { median } from './statistics.ts'

const fullMinutes = 25
const quickMinutes = 3
/** With less left no further part is begun. */
const leastPartMs = 10_000
/** Of each case. */
const rounds = { full: { count: 4, warmUps: 6 }, quick: { count: 3, warmUps: 1 } }

process.chdir(resolve(import.meta.dirname, '..'))
const { values, positionals } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    peers: { type: 'boolean' },
    compare: { type: 'string' },
    check: { type: 'boolean' },
  },
  allowPositionals: true,
})
const isQuick = values.quick ?? false
const hasPeers = values.peers ?? !isQuick
const chosen = choose(positionals)
const isWhole = positionals.length === 0
const budgetMs = (isQuick && !hasPeers ? quickMinutes : fullMinutes) * 60_000
const begun = performance.now()
const notes: string[] = []
const outcomes: Outcome[] = []

if (!isOnPath('wrk')) throw new Error('wrk is needed, the load generator (Debian: apt-get install wrk).')
const names = Object.keys(peers) as PeerName[]
const installed = hasPeers ? names.filter((name) => peers[name].isFound()) : []
say(`${chosen.map(({ name }) => name).join(', ')}: at most ${budgetMs / 60_000} minutes.`)
say(`Beside ${installed.join(', ') || 'nothing else'}.`)
const before = await earlierResults()
const bench = await openBench({ isQuick, hasPeers, note })
try {
  for (const part of chosen) await runPart(part, bench)
} finally {
  await bench.close()
}
await finish()

function choose(wanted: readonly string[]): readonly Part[] {
  const unknown = wanted.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0)
    throw new Error(`There is no ${unknown.join(', ')}. Choose from ${parts.map(({ name }) => name).join(', ')}.`)
  return parts.filter(({ name, isOnDemand }) => (wanted.length > 0 ? wanted.includes(name) : !isOnDemand))
}

function say(text: string): void {
  const seconds = Math.round((performance.now() - begun) / 1000)
  console.error(`${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')} ${text}`)
}

function note(text: string): void {
  if (notes.includes(text)) return
  notes.push(text)
  say(`! ${text}`)
}

/** One that fails does not keep the others from being measured. */
async function runPart(part: Part, bench: Bench): Promise<void> {
  const left = budgetMs - (performance.now() - begun)
  const most = isQuick ? left : part.seconds * 1000
  if (isWhole && left < Math.max(most / 2, leastPartMs)) return note(`${part.name} was left out: the time is up`)
  say(part.name)
  const deadline = performance.now() + Math.min(most, left)
  const amount = isQuick ? rounds.quick : rounds.full
  try {
    for await (const one of part.cases(bench)) {
      const outcome = await runCase(part.name, one, { ...amount, deadline, note })
      outcomes.push(outcome)
      for (const { work, ours, unit, peer, ratios, costs } of linesOf(outcome))
        say(
          `  ${work}: ${median(ours).toFixed(1)} ${unit}${peer && `, ${median(ratios).toFixed(2)} × ${peer}`}${costs[0] && `, ${costs[0]} µs`}`,
        )
      if (performance.now() > deadline) {
        note(`${part.name} was stopped after "${one.work}": its time was up`)
        break
      }
    }
  } catch (error) {
    note(`${part.name} failed: ${(error as Error).message}`)
  } finally {
    await bench.stopServers()
  }
}

async function earlierResults(): Promise<Results | undefined> {
  if (values.compare) return readResults(values.compare)
  const last = lastResultsFile(isQuick)
  return isQuick && existsSync(last) ? readResults(last) : undefined
}

/** A run that costs more than the one that it is compared with fails. */
function check(earlier: Results | undefined, now: Results): void {
  if (!earlier) throw new Error('There is no earlier run to check against. Give its file with --compare.')
  const dearer = dearerWork(earlier, now)
  for (const text of dearer) say(`! ${text}`)
  if (dearer.length > 0) process.exitCode = 1
}

async function finish(): Promise<void> {
  const results: Results = {
    takenAt: new Date().toISOString(),
    commit: currentCommit(),
    isQuick,
    machine: describeMachine(),
    minutes: (performance.now() - begun) / 60_000,
    peers: installed.map((name) => peers[name].version() || name),
    missing: hasPeers ? names.filter((name) => !installed.includes(name)) : [],
    outcomes,
    notes,
  }
  const text = reportText(results, parts)
  console.log(text)
  if (before) console.log(comparisonText(before, results))
  if (values.check) check(before, results)
  if (!isWhole) return
  await saveResults(lastResultsFile(isQuick), results)
  if (isQuick) return
  await writeFile('bench/RESULTS.md', text)
  await writePlots('docs/images/performance', outcomes)
  say('written to bench/RESULTS.md and docs/images/performance')
}
