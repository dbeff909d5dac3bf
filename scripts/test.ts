// npm test [-- [--since REVISION] [--all] [--checks] [--postgres] [--embedded] [--random] PATTERN…]
// A pattern is a part of a file's path or, where no path has it, a regular expression on the names of tests; what it selects runs
// on both databases. Without one `test-tiers.ts` says what runs.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { makeDatabaseDirectory } from './database-directory.ts'
import { startPostgres } from './postgres.ts'
import { watchBrowsers } from './test-run/browser-cpu.ts'
import { createCostTable, type Part } from './test-run/cost-table.ts'
import { cpuOf, cpuOfFamily } from './test-run/cpu-time.ts'
import { changedSince, reachedTests } from './test-run/reached-tests.ts'
import { type Job, type Report, type Result, runFiles } from './test-run/run-files.ts'
import { allTestFiles, batchesOf, expectedWork, selectFiles, usesBrowser, usesDatabase } from './test-run/test-files.ts'
import { canUseBoth, type Plan, planOf } from './test-run/test-tiers.ts'

// Two more than there are cores, because many files mostly wait, for a time-out or another process; not more than memory
// and the connections of one cluster allow.
const fileConcurrency = Math.min(availableParallelism() + 2, 6)
// A browser takes more than one core: with two lanes fewer, pages have time to answer.
const browserConcurrency = Math.max(fileConcurrency - 2, 1)
// How much of each failure the end of the log repeats, in characters.
const shownAgain = 3000

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
const interrupted = new AbortController()
const costs = createCostTable()
let externalUrl: string | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)

process.chdir(resolve(import.meta.dirname, '..'))
const { values: chosen, positionals: patterns } = parseArgs({
  options: {
    checks: { type: 'boolean' },
    postgres: { type: 'boolean' },
    embedded: { type: 'boolean' },
    random: { type: 'boolean' },
    all: { type: 'boolean' },
    since: { type: 'string' },
  },
  allowPositionals: true,
})
const runsBoth = !(chosen.checks || chosen.postgres || chosen.embedded)
// A change is judged by the same cases each time; --random looks for new ones.
process.env.TEST_SEED ??= chosen.random ? String(randomInt(2 ** 26)) : '1'
// Those that can, look for longer then.
if (chosen.random) process.env.TEST_RANDOM = '1'
// Some do more of the same.
if (chosen.all) process.env.TEST_ALL = '1'
const selected = selectOrExit()
const { names } = selected
const changed = chosen.since === undefined ? [] : changedSince(chosen.since)
const files = chosen.since === undefined ? selected.files : reachedTests(changed, selected.files)
const plan = choosePlan()
const databaseDirectory = makeDatabaseDirectory()
const cpuDirectory = mkdtempSync(join(tmpdir(), 'graticule-cpu-'))
process.on('exit', () => rmSync(cpuDirectory, { recursive: true, force: true }))
if (chosen.since !== undefined) {
  console.log(
    `${changed.length} files differ from ${chosen.since}; ${files.length} of ${selected.files.length} test files can reach them.`,
  )
}
sayLeftOut()
if (names.length > 0) console.log(`Tests whose name matches ${names.join(' or ')}, in ${files.length} files.`)

try {
  if (chosen.checks || (runsBoth && patterns.length === 0)) await runChecks()
  if (plan.onPostgres.length + plan.onEmbedded.length > 0) await runTests(plan)
} catch (error) {
  console.log(error)
  total.failed++
}
if (total.passed + total.failed === 0) {
  console.log(
    `\nNo test ran.${names.length > 0 ? ` Neither a path nor the name of a test matches ${names.join(' or ')}.` : ''}`,
  )
}
// Once more, for logs of which only the end is kept.
if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`)
console.log(`\n${costs.lines().join('\n')}`)
sayLeftOut()
console.log(`\n${summary(total)} (TEST_SEED=${process.env.TEST_SEED})`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

function selectOrExit() {
  try {
    return selectFiles(patterns, allTestFiles())
  } catch (error) {
    console.log((error as Error).message)
    process.exit(1)
  }
}

// A database that is named, or a pattern, takes the place of a tier.
function choosePlan(): Plan {
  const leftOut: string[] = []
  if (chosen.checks && !chosen.postgres && !chosen.embedded) return { onPostgres: [], onEmbedded: [], leftOut }
  if (runsBoth && patterns.length > 0) return { onPostgres: files, onEmbedded: files.filter(canUseBoth), leftOut }
  if (runsBoth) return planOf(files, chosen.all ? 'all' : 'main', chosen.since === undefined ? undefined : changed)
  const onEmbedded = chosen.postgres ? files.filter(canUseBoth) : files
  return { onPostgres: chosen.postgres ? files : [], onEmbedded: chosen.embedded ? onEmbedded : [], leftOut }
}

function sayLeftOut() {
  if (plan.leftOut.length === 0) return
  const where = chosen.all ? 'No part of this' : 'Left to npm run test:all'
  console.log(`\n${where}:${plan.leftOut.map((sentence) => `\n  ${sentence}`).join('')}`)
}

async function runChecks() {
  const checks = {
    biome: ['node_modules/.bin/biome', 'check'],
    // Builds, because the folders of numeric loops are a project of their own (tsconfig.numeric.json).
    // Each further checker, by default four, checks the types again that files have in common.
    tsc: ['node_modules/.bin/tsc', '--build', '--checkers', '1'],
    knip: ['node_modules/.bin/knip'],
    layers: ['--test', 'packages/server/system-tests/layers.test.ts'],
  }
  const startedAt = performance.now()
  const before = cpuOf('self')?.children ?? 0
  await phase('Checks', async (report) => {
    await Promise.all(Object.entries(checks).map(async ([name, command]) => report(await runCheck(name, command))))
  })
  const cpu = { own: 0, children: (cpuOf('self')?.children ?? 0) - before }
  costs.add({ name: 'checks', cpu, startedAt }, 'checks')
}

async function runCheck(name: string, command: string[]): Promise<Result> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted.signal })
  const exitCode = new Promise((resolve) => child.on('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const failed = (await exitCode) === 0 ? 0 : 1
  return { name, passed: 1 - failed, failed, skipped: 0, details: failed ? output + errors : '', startedAt }
}

async function runTests({ onPostgres, onEmbedded }: Plan) {
  const cluster = onPostgres.some(usesDatabase) ? await startPostgres() : undefined
  externalUrl = cluster?.adminUrl
  const jobs = [
    ...jobsOf(onPostgres, { isEmbedded: false, databaseUrl: cluster?.adminUrl }),
    ...jobsOf(onEmbedded, { isEmbedded: true, databaseUrl: undefined }),
  ]
  const browserSeconds = watchBrowsers()
  await phase('Tests', (report) => runJobs(jobs, report))
  costs.addBrowsers(browserSeconds())
  if (cluster) {
    costs.addServer(cpuOfFamily(cluster.pid))
    demandNoCrash(cluster.crashes())
  }
  await cluster?.stop()
}

// Whatever file is at work then fails for a reason that it does not know, and the statement is one that tenants can reach.
function demandNoCrash(crashes: string[]) {
  if (crashes.length === 0) return
  total.failed += crashes.length
  failures.push(...crashes.map((crash) => `  A process of PostgreSQL crashed:\n${crash}`))
}

function jobsOf(chosenFiles: string[], database: Pick<Job, 'isEmbedded' | 'databaseUrl'>): Job[] {
  // A pattern for names would match the suites that stand for files.
  const batches = names.length > 0 ? chosenFiles.map((file) => [file]) : batchesOf(chosenFiles, database.isEmbedded)
  return batches.map((batch) => ({ ...database, files: batch, usesBrowser: batch.some(usesBrowser) }))
}

function environmentOf({ databaseUrl }: Job): NodeJS.ProcessEnv {
  const { TEST_DATABASE_URL: _, ...env } = process.env
  if (databaseUrl) env.TEST_DATABASE_URL = databaseUrl
  // For a server of a tenant's own, also where the platform's database is embedded.
  if (externalUrl) env.TEST_EXTERNAL_URL = externalUrl
  if (databaseDirectory) env.TEST_DATABASE_DIRECTORY = databaseDirectory
  // Most files load the whole server: half of that time is compiling what another has compiled.
  env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/graticule/compiled-tests')
  return env
}

// The longest first, on both databases at once: some wait while others work. Before all others files that run alone, since
// most of these wait: at the end they would leave the cores without work.
async function runJobs(jobs: Job[], report: Report) {
  const work = new Map(jobs.map((job) => [job, workOf(job)]))
  const isAlone = ({ files }: Job) => Number(files.length === 1)
  const queue = jobs.toSorted((a, b) => isAlone(b) - isAlone(a) || (work.get(b) ?? 0) - (work.get(a) ?? 0))
  let browsers = 0
  const lane = async () => {
    for (;;) {
      const job = queue.find((next) => !next.usesBrowser || browsers < browserConcurrency)
      if (!job) return
      queue.splice(queue.indexOf(job), 1)
      if (job.usesBrowser) browsers++
      const options = { names, env: environmentOf(job), cpuLog: join(cpuDirectory, String(queue.length)) }
      await runFiles(job, { ...options, signal: interrupted.signal }, (result) => {
        costs.add(result, partOf(job))
        report(result)
      })
      if (job.usesBrowser) browsers--
    }
  }
  await Promise.all(Array.from({ length: fileConcurrency }, lane))
}

function partOf({ files, isEmbedded, usesBrowser }: Job): Part {
  if (usesBrowser) return 'browser'
  if (isEmbedded) return 'embedded'
  return files.some(usesDatabase) ? 'postgres' : 'plain'
}

function workOf({ files, isEmbedded }: Job): number {
  return files.reduce((sum, file) => sum + expectedWork(file, isEmbedded), 0)
}

// Runs a group of tests; prints a line for each as it ends, and a summary of them all.
async function phase(title: string, work: (report: Report) => Promise<void>) {
  const startedAt = performance.now()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  console.log(`\n${title}`)
  await work((result) => {
    for (const key of ['passed', 'failed', 'skipped'] as const) {
      counts[key] += result[key]
      total[key] += result[key]
    }
    if (names.length > 0 && result.passed + result.failed + result.skipped === 0) return
    console.log(`  ${result.failed ? '✗' : '✓'} ${result.name}: ${summary(result)} ${cost(result)}`)
    if (!result.details) return
    const details = result.details.trimEnd().replaceAll(/^(?=.)/gm, '    ')
    console.log(details)
    failures.push(`  ${title}: ${result.name}\n${details.slice(0, shownAgain)}`)
  })
  console.log(`  ${title}: ${summary(counts)} ${seconds(startedAt)}`)
}

function summary({ passed, failed, skipped }: Pick<Result, 'passed' | 'failed' | 'skipped'>) {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`
}

function seconds(startedAt: number) {
  return `(${((performance.now() - startedAt) / 1000).toFixed(1)} s)`
}

function cost({ startedAt, cpu }: Result) {
  const own = cpu ? `, CPU ${(cpu.own + cpu.children).toFixed(1)} s` : ''
  return seconds(startedAt).replace(')', `${own})`)
}

function interrupt() {
  interrupted.abort()
  // The cluster ends with this process.
  process.exit(130)
}
