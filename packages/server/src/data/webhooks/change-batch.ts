// Gathers logged changes into one batch, whose size does not grow with their number.
import { around, type ChangeExtent, type LoggedChange } from '../changes/change-log.ts'
import { type LogPosition, versionOf, writeEventId } from '../changes/position.ts'

/** More than this are not named. */
const maxKeys = 1_000
const maxKeyBytes = 65_536

export type ChangeBatch = {
  readonly isEmpty: boolean
  add(change: LoggedChange): void
  /** What the receiver is told. */
  dataOf(datasetId: string, era: string): Record<string, unknown>
}

export function createBatch(): ChangeBatch {
  const operations = new Set<string>()
  const positions: { first?: LogPosition; last?: LogPosition } = {}
  let rows: number | undefined = 0
  let keys: Set<string> | undefined = new Set()
  let keyBytes = 0
  let isPlaced = true
  let box: ChangeExtent | undefined

  function addKeys(added: readonly string[] | undefined): void {
    for (const key of added ?? []) {
      if (!keys?.has(key)) keyBytes += key.length
      keys?.add(key)
    }
    if (!added || (keys && (keys.size > maxKeys || keyBytes > maxKeyBytes))) keys = undefined
  }

  return {
    get isEmpty() {
      return operations.size === 0
    },
    add({ position, operation, rowCount, keys: added, boxes }) {
      positions.first ??= position
      positions.last = position
      operations.add(operation)
      rows = rows === undefined || rowCount === undefined ? undefined : rows + rowCount
      addKeys(added)
      isPlaced &&= boxes !== undefined
      for (const one of boxes ?? []) box = box ? around(box, one) : one
    },
    dataOf(datasetId, era) {
      const { first, last } = positions
      if (!first || !last) throw new Error('A batch without changes is not told')
      return {
        datasetId,
        version: versionOf(last),
        operations: [...operations],
        rows: rows ?? null,
        keys: keys ? [...keys].map(keyValue) : null,
        bbox: isPlaced && box ? box : null,
        firstEventId: writeEventId(era, first),
        lastEventId: writeEventId(era, last),
      }
    },
  }
}

/** JavaScript numbers have 15 digits for certain. */
const sureDigits = 16
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const exactNumbers: Reviver = (_, value, { source = '' }) =>
  typeof value === 'number' && source.length > sureDigits && String(value) !== source ? source : value

/** The value of a key. A number that JavaScript would round is text. */
export const keyValue = (text: string): unknown => JSON.parse(text, exactNumbers as Parameters<typeof JSON.parse>[1])
