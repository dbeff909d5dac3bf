import { parentPort, workerData } from 'node:worker_threads'
import type { ThreadData } from '../../concurrency/channel.ts'
import { lowerThreadPriority } from '../../concurrency/priority.ts'
import { serveRequests } from '../../concurrency/serve-requests.ts'
import { isStaleStatement, pastFirstTransforms } from '../database-error.ts'
import { createStatementNames } from '../statement-names.ts'
import { copyFiles, copyOut } from './embedded-copies.ts'
import { openEngine, type StatementResult } from './embedded-engine.ts'
import { createMaintenance } from './embedded-maintenance.ts'
import {
  type Breakdown,
  checkStatement,
  type EmbeddedCommand,
  type EmbeddedQuery,
  type EmbeddedReply,
  type GuardedQuery,
  type SessionOptions,
} from './embedded-protocol.ts'
import { runGuarded } from './embedded-tenant-query.ts'

// The thread of the embedded database. Whatever it cannot answer for ends it, and the other side starts a new one.

const maintenanceMs = 30_000

const options = (workerData as ThreadData<SessionOptions>).data
if (options.isScratch) lowerThreadPriority()
const engine = await openEngine(options, (error) => {
  const stopped = engine.guard.isRefusing ? ({ stopped: 'memory' } as const) : {}
  parentPort?.postMessage({ broken: { message: String(error), ...stopped } } satisfies Breakdown)
  process.exit(1)
})
// For the main thread, which evaluates it while a statement keeps this thread from reading messages.
Object.assign(globalThis, { [checkStatement]: engine.guard.check })
const maintenance = createMaintenance(engine)
const names = createStatementNames()
const parsed = new Set<string>()

const query = (statement: EmbeddedQuery): Promise<StatementResult> =>
  statement.single ? pastFirstTransforms(() => queryOnce(statement)) : queryOnce(statement)

async function queryOnce({ text, values, single, reused }: EmbeddedQuery): Promise<StatementResult> {
  const name = reused ? names.nameOf(text) : undefined
  if (name === undefined) return await engine.query(text, values)
  const result = await engine.query(text, values, { name, parsed: parsed.has(name) })
  if (result.parsed) parsed.add(name)
  if (!isStaleStatement(result.fault)) return result
  names.forget(text)
  return single ? await engine.query(text, values) : result
}

type Ran = StatementResult & { strayTransaction: boolean; copyMs?: number }

async function copyPiece({ text, data }: Extract<EmbeddedCommand, { kind: 'copy' }>): Promise<Ran> {
  const begunAt = performance.now()
  const result = await engine.copy(text, data)
  const copyMs = performance.now() - begunAt
  if (!result.fault) await maintenance.afterPieceOfCopy()
  return { ...result, strayTransaction: false, copyMs }
}

async function run(command: EmbeddedCommand): Promise<Ran> {
  if (command.kind === 'close') {
    await engine.query('CHECKPOINT', [])
    await engine.close()
    return { columns: [], rows: [], command: '', parsed: false, fault: undefined, status: 'I', strayTransaction: false }
  }
  if (command.kind === 'copy') return await copyPiece(command)
  if (command.kind === 'copyOut') return { ...(await copyOut(engine, command)), strayTransaction: false }
  if (command.kind === 'copyFiles') return { ...(await copyFiles(engine, command)), strayTransaction: false }
  const result = command.kind === 'query' ? await query(command) : await engine.script(command.text)
  const strayTransaction = command.single && result.status !== 'I'
  if (strayTransaction) await engine.query('ROLLBACK', [])
  await maintenance.afterStatement(strayTransaction ? { ...result, status: 'I' } : result)
  return { ...result, strayTransaction }
}

async function answerGuarded(command: GuardedQuery, notify: (notice: 'begun') => void): Promise<EmbeddedReply> {
  notify('begun')
  const guarded = await runGuarded(engine, command)
  maintenance.afterReading()
  return guarded
}

async function answer(
  command: EmbeddedCommand | GuardedQuery,
  notify: (notice: 'begun') => void,
): Promise<EmbeddedReply> {
  if (command.kind === 'guarded') return await answerGuarded(command, notify)
  const { fault, columns, rows, command: tag, strayTransaction, copyMs } = await run(command)
  // When the answer is on its way.
  if (command.kind === 'close') setImmediate(() => process.exit())
  return fault ? { fault } : { columns, rows, command: tag, strayTransaction, ...(copyMs !== undefined && { copyMs }) }
}

let last: Promise<unknown> = Promise.resolve()

/** One at a time. An error that is no answer of the database's is thrown where nobody catches it, which ends the thread. */
function inOrder<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work).catch((error) => {
    setImmediate(() => {
      throw error
    })
    return new Promise<never>(() => {})
  })
  last = done
  return done
}

serveRequests<EmbeddedCommand | GuardedQuery>((command, { notify }) => inOrder(() => answer(command, notify)))
setInterval(() => inOrder(maintenance.whenIdle), maintenanceMs).unref()
