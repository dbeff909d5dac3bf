// Places in the change log, and the ids of events that name them.

/** Everything up to and including this row of the log, in the order (xid, seq), has been read. */
export type LogPosition = { readonly xid: bigint; readonly seq: bigint }

/** An event id: the place in the log of one era of a table. An id of another era cannot be resumed from. */
export type EventId = { readonly era: string; readonly position: LogPosition }

export const writeEventId = (era: string, { xid, seq }: LogPosition): string => `${era}.${xid}.${seq}`

/** Of the data at a place in the log. */
export const versionOf = ({ xid, seq }: LogPosition): string => `${xid}.${seq}`

const maxNumber = 2n ** 63n - 1n

/** Undefined for everything that this server cannot have written. */
export function readEventId(text: string): EventId | undefined {
  const [, era, xid, seq] = /^([0-9a-f]{16})\.(\d{1,19})\.(\d{1,19})$/.exec(text) ?? []
  if (era === undefined || xid === undefined || seq === undefined) return undefined
  const position = { xid: BigInt(xid), seq: BigInt(seq) }
  return position.xid <= maxNumber && position.seq <= maxNumber ? { era, position } : undefined
}

/** Before the first row of a transaction: what every transaction below has written is read. */
export const startOf = (xid: bigint): LogPosition => ({ xid, seq: 0n })
