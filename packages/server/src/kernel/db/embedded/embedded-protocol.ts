import type { DatabaseFault, ResultCell, ResultColumn } from '../values.ts'
import type { StopReason } from './embedded-limits.ts'

/** What the thread of the embedded database is started with. */
export type SessionOptions = {
  directory: string
  bundle: string
  /** Nothing in it is worth a write to the disk, nor the time of others: the thread gives way to them. */
  isScratch?: boolean
}

/** Of the data directory. PostgreSQL without a postmaster does not empty it, so the thread does at its start. */
export const temporaryDirectory = 'base/pgsql_tmp'

/** The function of the thread that checks the limits of the statement that is running. */
export const checkStatement = 'graticuleCheckStatement'

/** `single`: no transaction may be open behind it. `reused`: the text will come again, with other values. */
export type EmbeddedQuery = { kind: 'query'; text: string; values: ResultCell[]; single: boolean; reused: boolean }

/** A SELECT that somebody else wrote, within limits. */
export type GuardedQuery = {
  kind: 'guarded'
  text: string
  values: ResultCell[]
  role: string | undefined
  schema: string
  cpuMs: number
  elapsedMs: number
  memoryBytes: number
  temporaryBytes: number
  answerBytes: number
  batchSize: number
  /** The file for what is behind the first batch. The thread writes to it and leaves the rest to whoever opened it. */
  spool: number
  /** Shared: 1 when the reader has left. */
  left: Int32Array
}

/** What it is asked. */
export type EmbeddedCommand =
  | EmbeddedQuery
  | { kind: 'script'; text: string; single: boolean }
  | { kind: 'copy'; text: string; data: Uint8Array }
  /** The rows are written to the file `spool`, which the other side opened and closes. */
  | { kind: 'copyOut'; text: string; spool: number }
  | { kind: 'copyFiles'; directory: string; target: string }
  | { kind: 'close' }

export type Outcome = {
  columns: ResultColumn[]
  rows: ResultCell[][]
  command: string
  strayTransaction: boolean
  /** How long a piece of COPY kept the thread. */
  copyMs?: number
}

export type GuardedOutcome = {
  columns: ResultColumn[]
  /** The first batch. */
  rows: ResultCell[][]
  /** Of the batches behind it, in the spool, and of all of them together. */
  lengths: number[]
  bytes: number
  stopped: StopReason | undefined
  fault: DatabaseFault | undefined
  /** The thread has taken so much memory that it should end when it can. */
  isInflated: boolean
}

/** What it answers. A guarded query, whose time is measured from outside too, is also told to have begun. */
export type EmbeddedReply = Outcome | GuardedOutcome | { fault: DatabaseFault }

/** Answers no request: the reason why the thread is about to end. */
export type Breakdown = { broken: { message: string; stopped?: StopReason } }
