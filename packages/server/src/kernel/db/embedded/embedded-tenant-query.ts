import { pastFirstTransforms } from '../database-error.ts'
import { quoted } from '../sql.ts'
import type { DatabaseFault, ResultCell } from '../values.ts'
import type { Engine, StatementResult } from './embedded-engine.ts'
import type { StopReason } from './embedded-limits.ts'
import type { GuardedOutcome, GuardedQuery } from './embedded-protocol.ts'
import { createSpoolWriter } from './embedded-spool.ts'
import { type StatementClock, startClock } from './embedded-statement-guard.ts'

const outOfMemory = '53200'
const limitExceeded = '53400'
const diskFull = '53100'
const kibibyte = 1024

/** Runs a tenant's SELECT in the thread of the database, to its end, and spools its rows. */
export function runGuarded(engine: Engine, query: GuardedQuery): Promise<GuardedOutcome> {
  const clock = startClock(query)
  return pastFirstTransforms(() => runOnce(engine, query, clock))
}

/** In a read-only transaction, as the role. The limits hold for what the tenant wrote, not for what is around it. */
async function runOnce(engine: Engine, query: GuardedQuery, clock: StatementClock): Promise<GuardedOutcome> {
  const { guard } = engine
  const spool = spoolRows(engine, query)
  let result = await engine.script(prologue(query))
  let stopped: StopReason | undefined
  if (!result.fault) {
    guard.begin({ clock, memoryBytes: query.memoryBytes, left: query.left })
    result = await select(engine, query, spool.add)
    stopped = guard.end() ?? limitOf(result.fault)
  }
  const ended = await engine.script(result.fault ? 'ROLLBACK' : 'COMMIT')
  const answer = spool.finish()
  return {
    ...answer,
    columns: result.columns,
    stopped: result.fault && stopped,
    fault: answer.failure ?? result.fault ?? ended.fault,
    isInflated: guard.isInflated,
  }
}

function prologue({ role, schema, temporaryBytes }: GuardedQuery): string {
  return [
    'BEGIN READ ONLY',
    `SET LOCAL search_path = ${quoted(schema)}, public`,
    // In kB, and only for a superuser to set: so before the role is taken on.
    `SET LOCAL temp_file_limit = ${Math.ceil(temporaryBytes / kibibyte)}`,
    ...(role === undefined ? [] : [`SET LOCAL ROLE ${quoted(role)}`]),
  ].join(';')
}

const cursor = 'graticule_guarded'

/** Through a cursor, because nothing but a SELECT can have one. A plan cannot, and is short. */
async function select(
  engine: Engine,
  { text, values }: GuardedQuery,
  onRow: (row: ResultCell[]) => void,
): Promise<StatementResult> {
  if (!isExplain(text)) {
    const declared = await engine.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`, values)
    return declared.fault ? declared : await engine.drain(cursor, onRow)
  }
  const explained = await engine.query(text, values)
  explained.rows.forEach(onRow)
  return explained
}

const isExplain = (text: string): boolean => /^\s*EXPLAIN\b/i.test(text)

/** Compiled code hands over the rows, through which nothing can be thrown: a failure is told at the end. */
function spoolRows({ guard }: Engine, { spool, batchSize, answerBytes }: GuardedQuery) {
  const writer = createSpoolWriter(spool, batchSize)
  let failure: DatabaseFault | undefined
  let isOver = false
  const attempt = (step: () => void): void => {
    try {
      step()
    } catch (error) {
      failure ??= { message: `The answer could not be written to disk: ${error}`, code: diskFull }
      isOver = true
      guard.stop('files')
    }
  }
  return {
    add(row: ResultCell[]): void {
      if (isOver) return
      attempt(() => writer.add(row))
      if (writer.bytes <= answerBytes) return
      isOver = true
      guard.stop('answer')
    },
    finish() {
      if (!isOver) attempt(writer.flush)
      return { failure, rows: writer.first, lengths: writer.lengths, bytes: writer.bytes }
    },
  }
}

function limitOf(fault: DatabaseFault | undefined): StopReason | undefined {
  if (fault?.code === outOfMemory) return 'memory'
  return fault?.code === limitExceeded ? 'files' : undefined
}
