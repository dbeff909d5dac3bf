/** The sort order of rows, in the server's syntax: `-pop,name`. */

export interface SortKey {
  attribute: string
  isDescending: boolean
}

export const parseSort = (text: string | undefined): SortKey[] =>
  (text ?? '')
    .split(',')
    .filter((part) => part !== '' && part !== '-')
    .map((part) => ({ attribute: part.replace(/^-/, ''), isDescending: part.startsWith('-') }))

export const formatSort = (keys: readonly SortKey[]): string | undefined =>
  keys.length === 0 ? undefined : orderOf(keys).join(',')

export const orderOf = (keys: readonly SortKey[]): string[] =>
  keys.map(({ attribute, isDescending }) => `${isDescending ? '-' : ''}${attribute}`)

/** Cycles ascending → descending → unsorted. With `isAdded` the other keys stay and this one is last. */
export function toggleSort(keys: readonly SortKey[], attribute: string, isAdded: boolean): SortKey[] {
  const before = keys.find((key) => key.attribute === attribute)
  const after = before?.isDescending ? [] : [{ attribute, isDescending: before !== undefined }]
  if (!isAdded) return after
  const place = keys.findIndex((key) => key.attribute === attribute)
  return place < 0 ? [...keys, ...after] : keys.toSpliced(place, 1, ...after)
}
