import { untilAborted } from './cursor.ts'
import { firstTransforms, isFirstTransform } from './database-error.ts'
import type { Outcome } from './embedded-protocol.ts'
import type { Session } from './embedded-session.ts'
import {
  type GuardedOptions,
  type GuardedRows,
  graceMs,
  guardedBatchSize,
  inOneBatch,
  queryTimeout,
  whenAborted,
} from './guarded.ts'
import { quoted, raw, type Sql, sql } from './sql.ts'
import type { Turn } from './turn.ts'
import { type Cell, encodeStatement } from './values.ts'

let cursorsMade = 0

/**
 * There is one session for all, so the query runs to its end under the role, into a cursor that outlives its
 * transaction and spills to disk; its rows are then fetched between the statements of others. A statement cannot be
 * cancelled: one that takes too long ends with the session, which starts anew.
 */
export async function guardedOnEmbedded(
  session: Session,
  turn: Turn,
  statement: Sql,
  options: GuardedOptions,
): Promise<GuardedRows> {
  const batchSize = options.batchSize ?? guardedBatchSize
  const name = `graticule_guarded_${++cursorsMade}`
  const run = (text: string, values: Cell[] = []): Promise<Outcome> =>
    session.call({ kind: 'query', text, values, single: false, reused: false })
  const fetch = (): Promise<Outcome> => turn.shared(() => run(`FETCH ${batchSize} FROM ${name}`))
  let closing: Promise<unknown> | undefined
  const close = (): Promise<unknown> => {
    // A cursor that cannot be closed is gone already, with its session.
    closing ??= turn.shared(() => run(`CLOSE ${name}`)).catch(() => undefined)
    return closing
  }
  options.signal?.throwIfAborted()
  // A plan has no cursor.
  if (isExplain(statement))
    return explained(await turn.exclusive(() => limited(session, guardedRun(run, statement, options), options)))
  const declared = turn.exclusive(() => limited(session, declare(run, name, statement, options), options))
  // The reader who leaves does not wait, but the others do: the statement has the session until it ends.
  await untilAborted(declared, options.signal).catch((error) => {
    void declared.then(close, () => undefined)
    throw error
  })
  const first = await fetch().catch(async (error) => {
    await close()
    throw error
  })
  // Also for the reader who leaves before asking for the first batch: a generator not begun cleans nothing up.
  whenAborted(options.signal, close)
  return {
    columns: first.columns,
    batches: readOn(first, batchSize, fetch, close),
    isWhole: first.rows.length < batchSize,
  }
}

/** The only way to stop a statement is to end the session; what others were doing fails as `unavailable`. */
async function limited<T>(session: Session, work: Promise<T>, { timeoutMs }: GuardedOptions): Promise<T> {
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    void session.terminate()
  }, timeoutMs + graceMs)
  try {
    return await work
  } catch (error) {
    throw isOver ? queryTimeout(error) : error
  } finally {
    clearTimeout(timer)
  }
}

type Run = (text: string, values?: Cell[]) => Promise<Outcome>

const declare = (run: Run, name: string, statement: Sql, options: GuardedOptions): Promise<Outcome> =>
  guardedRun(run, sql`${raw(`DECLARE ${name} NO SCROLL CURSOR WITH HOLD FOR `)}${statement}`, options)

async function guardedRun(run: Run, statement: Sql, options: GuardedOptions): Promise<Outcome> {
  for (let tries = 0; ; tries++) {
    try {
      return await runOnce(run, statement, options)
    } catch (error) {
      if (tries === firstTransforms || !isFirstTransform(error)) throw error
    }
  }
}

/** One statement in a read-only transaction, as the role. */
async function runOnce(run: Run, statement: Sql, { role, schema }: GuardedOptions): Promise<Outcome> {
  const { text, values } = encodeStatement(statement)
  await run('BEGIN READ ONLY')
  try {
    await run(`SET LOCAL search_path = ${quoted(schema)}, public`)
    if (role !== undefined) await run(`SET LOCAL ROLE ${quoted(role)}`)
    const outcome = await run(text, values)
    await run('COMMIT')
    return outcome
  } catch (error) {
    await run('ROLLBACK').catch(() => undefined)
    throw error
  }
}

const isExplain = (statement: Sql): boolean => /^\s*EXPLAIN\b/i.test(encodeStatement(statement).text)

const explained = ({ columns, rows }: Outcome): GuardedRows => ({ columns, batches: inOneBatch(rows), isWhole: true })

async function* readOn(
  first: Outcome,
  batchSize: number,
  fetch: () => Promise<Outcome>,
  close: () => Promise<unknown>,
): AsyncGenerator<Cell[][], void, undefined> {
  try {
    for (let batch = first; ; batch = await fetch()) {
      if (batch.rows.length > 0) yield batch.rows
      if (batch.rows.length < batchSize) return
    }
  } finally {
    await close()
  }
}
