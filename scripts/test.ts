// npm test [-- [--checks] [--postgres] [--embedded] [--random] PATTERN…]
// A pattern is a part of a file's path or, where no path has it, a regular expression on the names of tests.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type EventData, run } from 'node:test'
import { inspect, parseArgs } from 'node:util'
import { startPostgres } from './postgres.ts'

interface Result {
  name: string
  passed: number
  failed: number
  skipped: number
  // What the reader needs to see of a failure.
  details: string
}

const fileConcurrency = 2
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
const { files, names } = select(patterns)
const databaseFiles = files.filter((file) => usesDatabase(file))

try {
  if (chosen.checks || (runsAll && patterns.length === 0)) await runChecks()
  if (chosen.postgres || runsAll) await runOnPostgres()
  if (runsAll || (chosen.postgres && chosen.embedded)) await runFiles('Embedded database', databaseFiles)
  else if (chosen.embedded) await runFiles('Embedded database', files)
} catch (error) {
  console.log(error)
  total.failed++
}
if (total.passed + total.failed === 0) console.log('\nNo test ran.')
// Once more, for logs of which only the end is kept.
if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`)
console.log(`\n${summary(total)} (TEST_SEED=${process.env.TEST_SEED})`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

function select(patterns: string[]) {
  const all = globSync(['packages/*/{src,build}/**/*.test.{ts,tsx}', 'examples/**/*.test.ts', 'scripts/**/*.test.ts'], {
    exclude: (name) => name === 'node_modules',
  }).sort()
  const isPath = (pattern: string) => all.some((file) => file.includes(pattern))
  const paths = patterns.filter(isPath)
  return {
    files: paths.length > 0 ? all.filter((file) => paths.some((path) => file.includes(path))) : all,
    names: patterns.filter((pattern) => !isPath(pattern)),
  }
}

// Only TEST_DATABASE_URL tells the two databases apart, so a file that cannot reach a mention of it runs once.
function usesDatabase(file: string, seen = new Set<string>()): boolean {
  const path = resolve(file)
  if (seen.has(path) || !existsSync(path)) return false
  seen.add(path)
  const source = readFileSync(path, 'utf8')
  if (source.includes('TEST_DATABASE_URL')) return true
  const imports = source.matchAll(/(?:from|import|new URL)\s*\(?\s*'(\.[^']+\.ts)'/g)
  return imports.some(([, specifier = '']) => usesDatabase(resolve(dirname(path), specifier), seen))
}

async function runChecks() {
  const checks = { biome: ['check'], tsc: [], knip: [] }
  await phase('Checks', async (report) => {
    await Promise.all(Object.entries(checks).map(([tool, args]) => report(() => runCheck(tool, args))))
  })
}

async function runCheck(tool: string, args: string[]): Promise<Result> {
  const command = [`node_modules/.bin/${tool}`, ...args]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], signal: interrupted.signal })
  const exitCode = new Promise((resolve) => child.on('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const failed = (await exitCode) === 0 ? 0 : 1
  return { name: tool, passed: 1 - failed, failed, skipped: 0, details: failed ? output + errors : '' }
}

async function runOnPostgres() {
  if (databaseFiles.length === 0) return runFiles('Without database', files)
  const cluster = await startPostgres()
  await runFiles('PostgreSQL', files, cluster.url)
  await cluster.stop()
}

async function runFiles(title: string, files: string[], databaseUrl?: string) {
  if (files.length === 0) return
  const { TEST_DATABASE_URL: _, ...env } = process.env
  if (databaseUrl) env.TEST_DATABASE_URL = databaseUrl
  const queue = files.values()
  await phase(title, async (report) => {
    const lane = async () => {
      for (const file of queue) await report(() => runFile(file, env))
    }
    await Promise.all(Array.from({ length: fileConcurrency }, lane))
  })
}

async function runFile(file: string, env: NodeJS.ProcessEnv): Promise<Result> {
  const result: Result = { name: file, passed: 0, failed: 0, skipped: 0, details: '' }
  const details: string[] = []
  let output = ''
  const idleness = watchIdleness()
  const signal = AbortSignal.any([interrupted.signal, idleness.signal])
  const events = run({
    files: [resolve(file)],
    // The packages' sources, not what was built of them.
    execArgv: ['--conditions=graticule-source', '--import', resolve('scripts/seed.ts')],
    env,
    testNamePatterns: names,
    timeout: testTimeoutMs,
    signal,
  })
  for await (const { type, data } of events) {
    idleness.note(type)
    if (type === 'test:stdout' || type === 'test:stderr') output += data.message
    if (type === 'test:pass' && isTest(data)) result[isSkipped(data) ? 'skipped' : 'passed']++
    // A parent only repeats what its failed subtests have said.
    if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed') {
      result.failed++
      details.push(describeFailure(data))
    }
  }
  if (output) details.push(`Output of ${file}:\n${output}`)
  if (result.failed > 0) result.details = details.join('\n\n')
  return result
}

function watchIdleness() {
  const controller = new AbortController()
  const stop = () => controller.abort(new Error(`No test ran for ${idleTimeoutMs / 1000} s, yet the file did not end`))
  let timer: NodeJS.Timeout | undefined
  let running = 0
  return {
    signal: controller.signal,
    note(type: string) {
      if (type !== 'test:dequeue' && type !== 'test:complete') return
      running += type === 'test:dequeue' ? 1 : -1
      clearTimeout(timer)
      // The file itself is one of them.
      if (running === 1) timer = setTimeout(stop, idleTimeoutMs)
    },
  }
}

// Not a suite, nor the file itself, which is reported as a test when it holds none that match.
function isTest({ name, file, details }: EventData.TestPass) {
  return details.type !== 'suite' && name !== file
}

function isSkipped({ skip, todo }: EventData.TestPass) {
  return skip !== undefined || todo !== undefined
}

function describeFailure({ name, file = '', line = 1, details }: EventData.TestFail) {
  const cause = inspect(details.error.cause ?? details.error.message)
  // Without Node's own frames, the last of which may open the braces of the error's properties.
  const description = cause.replaceAll(/\n +at .*\(?node:.*?( \{)?$/gm, '$1')
  return `✗ ${name === file ? 'the file itself' : name} (${relative('.', file)}:${line})\n${description}`
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
