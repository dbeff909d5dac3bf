import { join } from 'node:path'
import { batchWindow, type DatabaseAddress, type Reply, type Request, type Task } from '../messages.ts'
import type { ChildSettings } from '../spawn-child.ts'
import { createDatabases } from './database.ts'
import { faultOf, isFatal } from './engine-error.ts'
import { createFactsCache } from './file-facts.ts'
import { createInstance, createInstanceMaker } from './instance.ts'
import { createSqlChecker } from './sql/check-sql.ts'
import { type Job, runTask } from './tasks.ts'

// Reads the files of one tenant for the server and ends with it. It knows no secret and no other tenant.

const { directory, memoryMb, threads } = JSON.parse(process.argv[2] ?? '{}') as ChildSettings
/** The rest is for JavaScript and for what DuckDB does not count. */
const engineMemoryMb = Math.floor(memoryMb / 2)
const parserMemoryMb = 128

const reply = (message: Reply, onSent: () => void = () => undefined): void => void process.send?.(message, onSent)
const end = (): void => void process.kill(process.pid, 'SIGKILL')

const instances = createInstanceMaker({ directory, memoryMb: engineMemoryMb, threads })
const databases = createDatabases(
  instances,
  createFactsCache(instances, (file) => reply({ kind: 'opening', file })),
)
const checker = createSqlChecker(
  createInstance({ temporaryDirectory: join(directory, 'parser'), memoryMb: parserMemoryMb, threads: 1 }),
)

type RunningJob = Job & { cancel(): void; more(): void }

const jobs = new Map<number, RunningJob>()

function createJob(id: number): RunningJob {
  const controller = new AbortController()
  let credit = batchWindow
  let wake: (() => void) | undefined
  return {
    signal: controller.signal,
    async ready() {
      while (credit === 0 && !controller.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      controller.signal.throwIfAborted()
    },
    more() {
      credit++
      wake?.()
    },
    cancel() {
      controller.abort()
      wake?.()
    },
    sendColumns: (columns) => reply({ id, kind: 'columns', columns }),
    send(batch) {
      credit--
      reply({ id, ...batch })
    },
  }
}

async function begin(id: number, database: DatabaseAddress, task: Task): Promise<void> {
  const job = createJob(id)
  jobs.set(id, job)
  try {
    const value = await runTask({ databases, checker }, database, task, job)
    reply({ id, kind: 'done', value })
  } catch (error) {
    const { code, message } = faultOf(error, [database.directory, directory])
    if (isFatal(error)) process.stderr.write(String(error))
    // Whatever else runs here would fail, or worse.
    reply({ id, kind: 'fault', code, message }, isFatal(error) ? end : undefined)
  } finally {
    jobs.delete(id)
  }
}

process.on('message', (request: Request) => {
  if (request.kind === 'begin') void begin(request.id, request.database, request.task)
  else if (request.kind === 'more') jobs.get(request.id)?.more()
  else jobs.get(request.id)?.cancel()
})
process.on('disconnect', end)
reply({ kind: 'ready' })
