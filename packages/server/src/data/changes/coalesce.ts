// Coalesces logged statements into the events that listeners get.
import {
  around,
  type ChangeExtent,
  type ChangeOperation,
  changeOperations,
  type LoggedChange,
  withoutRows,
} from './change-log.ts'
import { type LogPosition, versionOf, writeEventId } from './position.ts'

/** The most keys in one event; more rows than that become several events. */
const maxKeys = 1_000
/** The most bytes of keys at a time, as many as the trigger logs of one statement: of the rest only the place is told. */
const maxKeyBytes = 65_536
/** More boxes than this become the one around them all. */
const maxBoxes = 16

type Draft = {
  position: LogPosition
  readonly operations: Set<ChangeOperation>
  rows: number | undefined
  readonly keys: Set<string> | undefined
  boxes: readonly ChangeExtent[] | undefined
}

/**
 * `isOpaque`: not every caller may see every row of the table, so that only the fact of a change is told. `isBound`: rules bind the caller, who is
 * not even told what was done, since it may have been done to rows of others.
 */
export type DatasetVisibility = { readonly era: string; readonly isOpaque: boolean; readonly isBound?: boolean }

export type Coalescer = {
  add(change: LoggedChange): void
  /** The frames of Server-Sent Events, in order. */
  frames(): string[]
}

export function createCoalescer({ era, isOpaque, isBound = false }: DatasetVisibility): Coalescer {
  const drafts: Draft[] = []
  let keyBytes = 0
  return {
    add(logged) {
      keyBytes += lengthOf(logged.keys)
      const change =
        isOpaque || isBound ? withoutRows(logged) : keyBytes > maxKeyBytes ? { ...logged, keys: undefined } : logged
      const last = drafts.at(-1)
      if (last && canHold(last, change)) add(last, change)
      else drafts.push(begin(change, isBound ? changeOperations : [change.operation]))
    },
    frames: () => drafts.map((draft) => frameOf('change', dataOf(draft), writeEventId(era, draft.position))),
  }
}

/** The frames of some changes of one table. */
export function framesOf(changes: readonly LoggedChange[], shown: DatasetVisibility): string[] {
  const coalescer = createCoalescer(shown)
  for (const change of changes) coalescer.add(change)
  return coalescer.frames()
}

/** JSON escapes line ends, so no text can end a frame or begin another. */
export const frameOf = (event: string, data: string, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`

/** Changes with and without keys stay apart, because an event without keys says nothing of its rows. */
function canHold({ keys }: Draft, change: LoggedChange): boolean {
  if (!keys || !change.keys) return keys === undefined && change.keys === undefined
  return keys.size + change.keys.length <= maxKeys
}

const lengthOf = (keys: readonly string[] = []): number => keys.reduce((sum, key) => sum + key.length, 0)

const begin = ({ position, rowCount, keys, boxes }: LoggedChange, operations: readonly ChangeOperation[]): Draft => ({
  position,
  operations: new Set(operations),
  rows: rowCount,
  keys: keys && new Set(keys),
  boxes,
})

function add(draft: Draft, { position, operation, rowCount, keys = [], boxes }: LoggedChange): void {
  draft.position = position
  draft.operations.add(operation)
  draft.rows = draft.rows === undefined || rowCount === undefined ? undefined : draft.rows + rowCount
  for (const key of keys) draft.keys?.add(key)
  draft.boxes = draft.boxes && boxes && merged([...draft.boxes, ...boxes])
}

function merged(boxes: readonly ChangeExtent[]): readonly ChangeExtent[] {
  const different = [...new Map(boxes.map((box) => [box.join(), box])).values()]
  return different.length > maxBoxes ? [different.reduce(around)] : different
}

/** Keys are JSON already. */
function dataOf({ position, operations, rows, keys, boxes }: Draft): string {
  const rest = { version: versionOf(position), operations: [...operations], rows: rows ?? null }
  const keysText = keys ? `[${[...keys].join(',')}]` : 'null'
  return `${JSON.stringify(rest).slice(0, -1)},"keys":${keysText},"boxes":${JSON.stringify(boxes ?? null)}}`
}
