import { parentPort, workerData } from 'node:worker_threads'
import { firstTransforms, isFirstTransform, isStaleStatement } from './database-error.ts'
import { openEngine, type Result } from './embedded-engine.ts'
import {
  brokenId,
  type Command,
  type GuardedQuery,
  openedId,
  type Query,
  type Reply,
  type Request,
  type SessionOptions,
} from './embedded-protocol.ts'
import { runGuarded } from './embedded-tenant-query.ts'
import { createUpkeep } from './embedded-upkeep.ts'
import { createStatementNames } from './statement-names.ts'

// The thread of the embedded database. Whatever it cannot answer for ends it, and the other side starts a new one.

const upkeepEveryMs = 30_000

const engine = await openEngine(workerData as SessionOptions, (error) => {
  const stopped = engine.guard.isRefusing ? ({ stopped: 'memory' } as const) : {}
  parentPort?.postMessage({ id: brokenId, fault: { message: String(error) }, ...stopped } satisfies Reply)
  process.exit(1)
})
const upkeep = createUpkeep(engine)
const names = createStatementNames()
const parsed = new Set<string>()

async function query(statement: Query): Promise<Result> {
  let result = await queryOnce(statement)
  for (let tries = 0; statement.single && tries < firstTransforms && isFirstTransform(result.fault); tries++) {
    result = await queryOnce(statement)
  }
  return result
}

async function queryOnce({ text, values, single, reused }: Query): Promise<Result> {
  const name = reused ? names.nameOf(text) : undefined
  if (name === undefined) return await engine.query(text, values)
  const result = await engine.query(text, values, { name, parsed: parsed.has(name) })
  if (result.parsed) parsed.add(name)
  if (!isStaleStatement(result.fault)) return result
  names.forget(text)
  return single ? await engine.query(text, values) : result
}

async function run(command: Command): Promise<Result & { strayTransaction: boolean }> {
  if (command.kind === 'close') {
    await engine.query('CHECKPOINT', [])
    await engine.close()
    return { columns: [], rows: [], command: '', parsed: false, fault: undefined, status: 'I', strayTransaction: false }
  }
  if (command.kind === 'copy') {
    const result = await engine.copy(command.text, command.data)
    if (!result.fault) await upkeep.afterPieceOfCopy()
    return { ...result, strayTransaction: false }
  }
  const result = command.kind === 'query' ? await query(command) : await engine.script(command.text)
  const strayTransaction = command.single && result.status !== 'I'
  if (strayTransaction) await engine.query('ROLLBACK', [])
  await upkeep.afterStatement(strayTransaction ? { ...result, status: 'I' } : result)
  return { ...result, strayTransaction }
}

async function answerGuarded(id: number, command: GuardedQuery): Promise<void> {
  parentPort?.postMessage({ id, begun: true } satisfies Reply)
  const guarded = await runGuarded(engine, command)
  upkeep.afterReading()
  parentPort?.postMessage({ id, guarded } satisfies Reply)
}

async function answer({ id, command }: Request): Promise<void> {
  if (command.kind === 'guarded') return await answerGuarded(id, command)
  const { fault, columns, rows, command: tag, strayTransaction } = await run(command)
  const reply: Reply = fault ? { id, fault } : { id, outcome: { columns, rows, command: tag, strayTransaction } }
  parentPort?.postMessage(reply)
  if (command.kind === 'close') process.exit()
}

let last: Promise<void> = Promise.resolve()

// One at a time. An error that is no answer of the database's is left unhandled, which ends the thread.
function inOrder(work: () => Promise<void>): void {
  last = last.then(work)
}

parentPort?.on('message', (request: Request) => inOrder(() => answer(request)))
setInterval(() => inOrder(upkeep.whenIdle), upkeepEveryMs).unref()
parentPort?.postMessage({
  id: openedId,
  outcome: { columns: [], rows: [], command: '', strayTransaction: false },
} satisfies Reply)
