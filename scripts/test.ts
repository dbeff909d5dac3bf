// npm test [-- [--checks] [--postgres] [--embedded] [--random] PATTERN…]
// A pattern is a part of a file's path or, where no path has it, a regular expression on the names of tests.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type EventData, run } from 'node:test'
import { inspect, parseArgs } from 'node:util'
import { makeDatabaseDirectory } from './database-directory.ts'
import { startPostgres } from './postgres.ts'
import { endDescendants } from './process-tree.ts'
import { allTestFiles, dependsOnDatabase, expectedWork, selectFiles, usesBrowser, usesDatabase } from './test-files.ts'

// A test file on one of the databases.
interface Job {
  file: string
  databaseUrl: string | undefined
  isEmbedded: boolean
  usesBrowser: boolean
}

interface Result {
  name: string
  passed: number
  failed: number
  skipped: number
  // What the reader needs to see of a failure.
  details: string
}

// One more than there are cores, because some files mostly wait, for a time-out or another process; not more than memory
// and the connections of one cluster allow.
const fileConcurrency = Math.min(availableParallelism() + 1, 6)
// A browser takes more than one core: with one lane fewer, pages have time to answer.
const browserConcurrency = Math.max(fileConcurrency - 1, 1)
// For tests that hang: the longest take 90 s, and three times that on a machine that is busy with other work.
const testTimeoutMs = 300_000
// How long a file may go on without a test: a connection left open would keep its process alive for ever.
const idleTimeoutMs = 60_000
// How much of each failure the end of the log repeats, in characters.
const shownAgain = 3000

const total = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []
const interrupted = new AbortController()
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
    tsc: ['node_modules/.bin/tsc'],
    knip: ['node_modules/.bin/knip'],
    layers: ['--test', 'packages/server/src/layers.test.ts'],
  }
  await phase('Checks', async (report) => {
    await Promise.all(Object.entries(checks).map(([name, command]) => report(() => runCheck(name, command))))
  })
}

async function runCheck(name: string, command: string[]): Promise<Result> {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted.signal })
  const exitCode = new Promise((resolve) => child.on('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const failed = (await exitCode) === 0 ? 0 : 1
  return { name, passed: 1 - failed, failed, skipped: 0, details: failed ? output + errors : '' }
}

async function runTests() {
  const isForPostgres = chosen.postgres || runsAll
  const isForBoth = runsAll || (chosen.postgres && chosen.embedded)
  const cluster = isForPostgres && files.some(usesDatabase) ? await startPostgres() : undefined
  const job = (file: string, isEmbedded: boolean): Job => ({
    file,
    databaseUrl: isEmbedded ? undefined : cluster?.url,
    isEmbedded,
    usesBrowser: usesBrowser(file),
  })
  const onEmbedded = isForBoth ? files.filter((file) => usesDatabase(file) && dependsOnDatabase(file)) : files
  const jobs = [
    ...(isForPostgres ? files.map((file) => job(file, false)) : []),
    ...(chosen.embedded || runsAll ? onEmbedded.map((file) => job(file, true)) : []),
  ]
  await phase('Tests', (report) => runJobs(jobs, report))
  await cluster?.stop()
}

// The longest first, on both databases at once: some wait while others work.
async function runJobs(jobs: Job[], report: (test: () => Promise<Result>) => Promise<void>) {
  const work = new Map(jobs.map((job) => [job, expectedWork(job.file, job.isEmbedded)]))
  const queue = jobs.toSorted((a, b) => (work.get(b) ?? 0) - (work.get(a) ?? 0))
  let browsers = 0
  const lane = async () => {
    for (;;) {
      const job = queue.find((next) => !next.usesBrowser || browsers < browserConcurrency)
      if (!job) return
      queue.splice(queue.indexOf(job), 1)
      if (job.usesBrowser) browsers++
      await report(() => runFile(job))
      if (job.usesBrowser) browsers--
    }
  }
  await Promise.all(Array.from({ length: fileConcurrency }, lane))
}

function environmentOf({ databaseUrl }: Job): NodeJS.ProcessEnv {
  const { TEST_DATABASE_URL: _, ...env } = process.env
  if (databaseUrl) env.TEST_DATABASE_URL = databaseUrl
  if (databaseDirectory) env.TEST_DATABASE_DIRECTORY = databaseDirectory
  // Most files load the whole server: half of that time is compiling what another has compiled.
  env.NODE_COMPILE_CACHE ??= resolve('node_modules/.cache/graticule/compiled-tests')
  return env
}

async function runFile(job: Job): Promise<Result> {
  const { file } = job
  const result: Result = { name: nameOf(job), passed: 0, failed: 0, skipped: 0, details: '' }
  const details: string[] = []
  let output = ''
  const idleness = watchIdleness(file)
  const signal = AbortSignal.any([interrupted.signal, idleness.signal])
  const events = run({
    files: [resolve(file)],
    // The packages' sources, not what was built of them.
    execArgv: ['--conditions=graticule-source', '--import', resolve('scripts/seed.ts')],
    env: environmentOf(job),
    testNamePatterns: names,
    timeout: testTimeoutMs,
    signal,
  })
  const suites = trackSuites()
  for await (const { type, data } of events) {
    idleness.note(type)
    suites.note(type, data)
    if (type === 'test:stdout' || type === 'test:stderr') output += data.message
    if (type === 'test:pass' && isTest(data)) result[isSkipped(data) ? 'skipped' : 'passed']++
    // A parent only repeats what its failed subtests have said.
    if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed') {
      result.failed++
      details.push(describeFailure(data, suites.around(data)))
    }
  }
  if (output) details.push(`Output of ${file}:\n${output}`)
  if (result.failed > 0) result.details = details.join('\n\n')
  return result
}

function nameOf({ file, isEmbedded }: Job) {
  return `${file}${isEmbedded ? ' on the embedded database' : ''}`
}

function watchIdleness(file: string) {
  const controller = new AbortController()
  const stop = (timeoutMs: number) => {
    // Those that the file has started would go on without it.
    endDescendants(process.pid, resolve(file))
    controller.abort(new Error(`No test ran for ${timeoutMs / 1000} s, yet the file did not end`))
  }
  let timer: NodeJS.Timeout | undefined
  let running = 0
  let hasBegun = false
  return {
    signal: controller.signal,
    note(type: string) {
      if (type !== 'test:dequeue' && type !== 'test:complete') return
      running += type === 'test:dequeue' ? 1 : -1
      clearTimeout(timer)
      hasBegun ||= running > 1
      // On a busy machine it takes long to load a file and to start what its tests need.
      const timeoutMs = hasBegun ? idleTimeoutMs : testTimeoutMs
      // The file itself is one of them.
      if (running === 1) timer = setTimeout(() => stop(timeoutMs), timeoutMs)
    },
  }
}

// The names of the suites around a test, so that the line of a failure makes sense alone.
function trackSuites() {
  const started: string[] = []
  return {
    note(type: string, data: unknown) {
      if (type !== 'test:start') return
      const { nesting, name } = data as EventData.TestStart
      started[nesting] = name
    },
    around: ({ nesting }: EventData.TestFail) => started.slice(0, nesting),
  }
}

// Not a suite, nor the file itself, which is reported as a test when it holds none that match.
function isTest({ name, file, details }: EventData.TestPass) {
  return details.type !== 'suite' && name !== file
}

function isSkipped({ skip, todo }: EventData.TestPass) {
  return skip !== undefined || todo !== undefined
}

function describeFailure({ name, file = '', line = 1, details }: EventData.TestFail, suites: string[]) {
  const cause = inspect(details.error.cause ?? details.error.message)
  // Without Node's own frames, the last of which may open the braces of the error's properties.
  const description = cause.replaceAll(/\n +at .*\(?node:.*?( \{)?$/gm, '$1')
  const title = name === file ? 'the file itself' : [...suites, name].join(' › ')
  return `✗ ${title} (${relative('.', file)}:${line})\n${description}`
}

// Runs a group of tests; prints a line for each as it ends, and a summary of them all.
async function phase(title: string, work: (report: (test: () => Promise<Result>) => Promise<void>) => Promise<void>) {
  const startedAt = performance.now()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  console.log(`\n${title}`)
  await work(async (test) => {
    const testStartedAt = performance.now()
    const result = await test()
    for (const key of ['passed', 'failed', 'skipped'] as const) {
      counts[key] += result[key]
      total[key] += result[key]
    }
    if (names.length > 0 && result.passed + result.failed + result.skipped === 0) return
    console.log(`  ${result.failed ? '✗' : '✓'} ${result.name}: ${summary(result)} ${seconds(testStartedAt)}`)
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
