// npm test [-- [--checks] [--postgres] [--embedded] [--random] PATTERN…]
// A pattern is a part of a file's path or, where no path has it, a regular expression on the names of tests.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { makeDatabaseDirectory } from './database-directory.ts'
import { startPostgres } from './postgres.ts'
import { type Job, type Report, type Result, runFiles } from './run-files.ts'
import {
  allTestFiles,
  batchesOf,
  dependsOnDatabase,
  expectedWork,
  selectFiles,
  usesBrowser,
  usesDatabase,
} from './test-files.ts'

// One more than there are cores, because some files mostly wait, for a time-out or another process; not more than memory
// and the connections of one cluster allow.
const fileConcurrency = Math.min(availableParallelism() + 1, 6)
// A browser takes more than one core: with one lane fewer, pages have time to answer.
const browserConcurrency = Math.max(fileConcurrency - 1, 1)
// How much of each failure the end of the log repeats, in characters.
const shownAgain = 3000

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
const interrupted = new AbortController()
let foreignUrl: string | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)

process.chdir(resolve(import.meta.dirname, '..'))
const { values: chosen, positionals: patterns } = parseArgs({
  options: {
    checks: { type: 'boolean' },
    postgres: { type: 'boolean' },
    embedded: { type: 'boolean' },
    random: { type: 'boolean' },
  },
  allowPositionals: true,
})
const runsAll = !(chosen.checks || chosen.postgres || chosen.embedded)
// A change is judged by the same cases each time; --random looks for new ones.
process.env.TEST_SEED ??= chosen.random ? String(randomInt(2 ** 26)) : '1'
// Those that can, look for longer then.
if (chosen.random) process.env.TEST_RANDOM = '1'
const { files, names } = selectOrExit()
const databaseDirectory = makeDatabaseDirectory()
if (names.length > 0) console.log(`Tests whose name matches ${names.join(' or ')}, in ${files.length} files.`)

try {
  if (chosen.checks || (runsAll && patterns.length === 0)) await runChecks()
  if (chosen.postgres || chosen.embedded || runsAll) await runTests()
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

async function runChecks() {
  const checks = {
    biome: ['node_modules/.bin/biome', 'check'],
    // Each further checker, by default four, checks the types again that files have in common.
    tsc: ['node_modules/.bin/tsc', '--checkers', '1'],
    knip: ['node_modules/.bin/knip'],
    layers: ['--test', 'packages/server/system-tests/layers.test.ts'],
  }
  await phase('Checks', async (report) => {
    await Promise.all(Object.entries(checks).map(async ([name, command]) => report(await runCheck(name, command))))
  })
}

async function runCheck(name: string, command: string[]): Promise<Result> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted.signal })
  const exitCode = new Promise((resolve) => child.on('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const failed = (await exitCode) === 0 ? 0 : 1
  return { name, passed: 1 - failed, failed, skipped: 0, details: failed ? output + errors : '', startedAt }
}

async function runTests() {
  const isForPostgres = chosen.postgres || runsAll
  const isForBoth = runsAll || (chosen.postgres && chosen.embedded)
  const cluster = isForPostgres && files.some(usesDatabase) ? await startPostgres() : undefined
  foreignUrl = cluster?.adminUrl
  const onEmbedded = isForBoth ? files.filter((file) => usesDatabase(file) && dependsOnDatabase(file)) : files
  const jobs = [
    ...(isForPostgres ? jobsOf(files, { isEmbedded: false, databaseUrl: cluster?.adminUrl }) : []),
    ...(chosen.embedded || runsAll ? jobsOf(onEmbedded, { isEmbedded: true, databaseUrl: undefined }) : []),
  ]
  await phase('Tests', (report) => runJobs(jobs, report))
  await cluster?.stop()
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
  if (foreignUrl) env.TEST_FOREIGN_URL = foreignUrl
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
      await runFiles(job, { names, env: environmentOf(job), signal: interrupted.signal }, report)
      if (job.usesBrowser) browsers--
    }
  }
  await Promise.all(Array.from({ length: fileConcurrency }, lane))
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
    console.log(`  ${result.failed ? '✗' : '✓'} ${result.name}: ${summary(result)} ${seconds(result.startedAt)}`)
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

function interrupt() {
  interrupted.abort()
  // The cluster ends with this process.
  process.exit(130)
}
