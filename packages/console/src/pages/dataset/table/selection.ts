/** The selection model: rows are identified by their key, as features on the map are. */
import type { JsonObject } from '@graticule/client'
import type { DatasetAttribute } from '../dataset.ts'

/** The key's value; for composite keys, JSON. */
export type RowId = string | number
export type Row = JsonObject

/** Undefined without a primary key. */
export function rowId(row: Row | undefined, key: readonly DatasetAttribute[]): RowId | undefined {
  if (!row || key.length === 0) return undefined
  const values = key.map(({ name }) => row[name])
  const [value] = values
  if (values.length > 1) return JSON.stringify(values)
  return typeof value === 'number' || typeof value === 'string' ? value : String(value)
}

/** A filter for rows by id. */
export function whereIds(ids: readonly RowId[], key: readonly DatasetAttribute[]): JsonObject {
  const [first] = key
  if (key.length === 1 && first) return { [first.name]: { $in: [...ids] } }
  const alternatives = ids.map((id) => {
    const values = JSON.parse(String(id)) as JsonObject[string][]
    return Object.fromEntries(key.map(({ name }, index) => [name, values[index] ?? null]))
  })
  return { $or: alternatives }
}

/** The server allows 1 000 values in a list, but only 200 conditions. */
export const maxSelected = 200

export interface Click {
  isAdded: boolean
  isExtended: boolean
}

/** Selects only this row, or none if it was the only one. With `isAdded`, toggles it. */
export function select(selected: readonly RowId[], id: RowId, { isAdded }: Pick<Click, 'isAdded'>): RowId[] {
  const isSelected = selected.includes(id)
  if (!isAdded) return isSelected && selected.length === 1 ? [] : [id]
  return isSelected ? selected.filter((other) => other !== id) : [...selected, id].slice(-maxSelected)
}

/** The loaded rows between two rows; if there are too many, those nearest to the end of the range. */
export function selectRange(from: number, to: number, idAt: (index: number) => RowId | undefined): RowId[] {
  const step = from <= to ? 1 : -1
  const ids: RowId[] = []
  for (let index = from; index !== to + step && ids.length < maxSelected; index += step) {
    const id = idAt(index)
    if (id !== undefined) ids.push(id)
  }
  return ids
}
