// Runs test files in a process of their own, and reports each file as it ends.
import { readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { type EventData, run } from 'node:test'
import { inspect } from 'node:util'
import type { CpuSeconds } from './cpu-time.ts'
import { endDescendants } from './process-tree.ts'

// Test files that share a process, on one of the databases.
export interface Job {
  files: string[]
  databaseUrl: string | undefined
  isEmbedded: boolean
  usesBrowser: boolean
}

export interface Result {
  name: string
  passed: number
  failed: number
  skipped: number
  // What the reader needs to see of a failure.
  details: string
  startedAt: number
  // Undefined where it is not known: outside Linux, and of a process that was killed.
  cpu?: CpuSeconds | undefined
}

export type Report = (result: Result) => void

interface RunOptions {
  env: NodeJS.ProcessEnv
  // Where the job's process writes what each file has cost.
  cpuLog: string
  // Regular expressions: only tests whose name matches one run.
  names: string[]
  signal: AbortSignal
}

// For tests that hang: the longest take 90 s, and six times that on a machine that is busy with other work.
const testTimeoutMs = 600_000
// How long a file may go on without a test: a connection left open would keep its process alive for ever. What it has started
// takes longer to end than one would think, where other work has the cores.
const idleTimeoutMs = 180_000

const nodeFlags = [
  // The packages' sources, not what was built of them.
  '--conditions=graticule-source',
  // The embedded database is 27 MB of WebAssembly. Each file starts one, and ends before it has earned back what optimizing
  // functions, or validating those that it does not call, costs.
  '--liftoff-only',
  '--wasm-lazy-validation',
  // Less garbage collection while a server starts, which each file does: a tenth of its time.
  '--min-semi-space-size=16',
]

export async function runFiles(job: Job, options: RunOptions, report: Report): Promise<void> {
  const paths = job.files.map((file) => resolve(file))
  const [first = ''] = paths
  const isBatch = paths.length > 1
  const idleness = watchIdleness(first)
  const events = run({
    files: isBatch ? [resolve('scripts/test-run/test-batch.ts')] : paths,
    argv: isBatch ? paths : [],
    execArgv: [
      '--import',
      resolve('scripts/seed.ts'),
      '--import',
      resolve('scripts/test-run/note-cpu.ts'),
      ...nodeFlags,
    ],
    env: { ...options.env, TEST_RUNNER: String(process.pid), TEST_CPU_LOG: options.cpuLog },
    testNamePatterns: options.names,
    timeout: testTimeoutMs,
    signal: AbortSignal.any([options.signal, idleness.signal]),
  })
  const suites = trackSuites(isBatch ? 1 : 0)
  const waiting = job.files.map((file) => nameOf(file, job))
  let current = startFile(waiting.shift())
  for await (const event of events) {
    idleness.note(event.type)
    suites.note(event)
    noteEvent(current, event, suites.around)
    if (!isBatch || !isEndOfSuite(event)) continue
    report({ ...resultOf(current), cpu: cpuIn(options.cpuLog, event.data.name) })
    current = startFile(waiting.shift())
  }
  if (current.name !== undefined || current.failures.length > 0) {
    report({ ...resultOf(current), cpu: cpuIn(options.cpuLog, undefined) })
  }
  for (const name of waiting) report(notRun(name))
}

// Of a file of a batch, or of a file that runs alone.
function cpuIn(log: string, file: string | undefined): CpuSeconds | undefined {
  try {
    const notes = readFileSync(log, 'utf8').trim().split('\n')
    return notes.map((note) => JSON.parse(note)).find((note) => note.file === file)
  } catch {
    // Its process ended before it could write one.
    return undefined
  }
}

type TestEvent = ReturnType<typeof run> extends AsyncIterable<infer Event> ? Event : never

// What is known of a file while it runs. Without a name: what happens when all files of a batch are done.
interface FileRun {
  name: string | undefined
  passed: number
  skipped: number
  failures: string[]
  output: string
  startedAt: number
}

function startFile(name: string | undefined): FileRun {
  return { name, passed: 0, skipped: 0, failures: [], output: '', startedAt: performance.now() }
}

function noteEvent(file: FileRun, { type, data }: TestEvent, suitesAround: (data: EventData.TestFail) => string[]) {
  if (type === 'test:stdout' || type === 'test:stderr') file.output += data.message
  // An error that nobody waited for, after its test had ended: all that is told of why the process ends with 1.
  if (type === 'test:diagnostic' && data.message.includes('asynchronous activity')) file.output += `${data.message}\n`
  if (type === 'test:pass' && isTest(data)) file[isSkipped(data) ? 'skipped' : 'passed']++
  // A parent only repeats what its failed subtests have said.
  if (type === 'test:fail' && data.details.error.failureType !== 'subtestsFailed') {
    file.failures.push(describeFailure(data, suitesAround(data)))
  }
}

// Of a file of a batch: it is a suite, and the only kind at this level.
function isEndOfSuite({ type, data }: TestEvent) {
  return (type === 'test:pass' || type === 'test:fail') && data.nesting === 0 && data.details.type === 'suite'
}

function resultOf({ name = 'after all files of a batch', failures, output, ...rest }: FileRun): Result {
  const shown = output ? [...failures, `Output of ${name}:\n${output}`] : failures
  return { ...rest, name, failed: failures.length, details: failures.length > 0 ? shown.join('\n\n') : '' }
}

function notRun(name: string): Result {
  const details =
    '✗ It did not run: the process that it shares with the files above ended before. Run each of them alone.'
  return { ...startFile(name), name, failed: 1, details }
}

function nameOf(file: string, { isEmbedded }: Job) {
  return `${file}${isEmbedded ? ' on the embedded database' : ''}`
}

function watchIdleness(path: string) {
  const controller = new AbortController()
  const stop = (timeoutMs: number) => {
    // Those that the file has started would go on without it.
    endDescendants(process.pid, path)
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

// The names of the suites around a test but the `outermost`, so that the line of a failure makes sense alone.
function trackSuites(outermost: number) {
  const started: string[] = []
  return {
    note({ type, data }: TestEvent) {
      if (type === 'test:start') started[data.nesting] = data.name
    },
    around: ({ nesting }: EventData.TestFail) => started.slice(outermost, nesting),
  }
}

// Not a suite, nor the file itself, which is reported as a test when it holds none that match.
function isTest({ name, file, details }: EventData.TestPass) {
  return details.type !== 'suite' && name !== file
}

function isSkipped({ skip, todo }: EventData.TestPass) {
  return skip !== undefined || todo !== undefined
}

// How a process ended that failed though its tests passed.
function endOf(error: Error & { exitCode?: unknown; signal?: unknown }) {
  const { exitCode, signal } = error
  if (typeof exitCode !== 'number' && typeof signal !== 'string') return ''
  return `\nIts process ended with ${signal ? `the signal ${signal}` : `code ${exitCode}`}`
}

function describeFailure({ name, file = '', line = 1, details }: EventData.TestFail, suites: string[]) {
  const cause = inspect(details.error.cause ?? details.error.message)
  // Without Node's own frames, the last of which may open the braces of the error's properties.
  const description = cause.replaceAll(/\n +at .*\(?node:.*?( \{)?$/gm, '$1')
  const title = name === file ? 'the file itself' : [...suites, name].join(' › ')
  return `✗ ${title} (${relative('.', file)}:${line})\n${description}${endOf(details.error)}`
}
