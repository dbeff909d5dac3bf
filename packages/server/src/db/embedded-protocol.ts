import type { Cell, Column, Fault } from './values.ts'

/** What the thread of the embedded database is started with. */
export type SessionOptions = { directory: string; bundle: string }

/** `single`: no transaction may be open behind it. `reused`: the text will come again, with other values. */
export type Query = { kind: 'query'; text: string; values: Cell[]; single: boolean; reused: boolean }

/** What it is asked. */
export type Command =
  | Query
  | { kind: 'script'; text: string; single: boolean }
  | { kind: 'copy'; text: string; data: Uint8Array }
  | { kind: 'close' }

export type Outcome = { columns: Column[]; rows: Cell[][]; command: string; strayTransaction: boolean }

export type Request = { id: number; command: Command }

/** What it answers. */
export type Reply = { id: number; outcome: Outcome } | { id: number; fault: Fault }

/** Answers no request: the database is open. */
export const openedId = 0

/** Answers no request either: the reason why the thread is about to end. */
export const brokenId = -1
