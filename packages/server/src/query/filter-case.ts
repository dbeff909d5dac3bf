import type { Attribute } from './attribute.ts'
import type { Filter } from './filter-tree.ts'

/** The filter with the values of these attributes in lower case, to be compared with columns that hold lower case. */
export function foldCase(filter: Filter, isFolded: (attribute: Attribute) => boolean): Filter {
  if (filter.kind === 'not') return { ...filter, filter: foldCase(filter.filter, isFolded) }
  if ('filters' in filter) {
    return { ...filter, filters: filter.filters.map((inner) => foldCase(inner, isFolded)) }
  }
  if (!isFolded(filter.attribute)) return filter
  if (filter.kind === 'compare') return { ...filter, value: asciiLower(filter.value) }
  if (filter.kind === 'in') return { ...filter, values: filter.values.map(asciiLower) }
  return filter.kind === 'like' ? { ...filter, pattern: asciiLower(filter.pattern) } : filter
}

/** As `lower(… COLLATE "C")` does: two texts that merely look alike stay two. */
const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
