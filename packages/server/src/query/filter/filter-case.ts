// Case folding of filters.
import type { Attribute } from '../values/attribute.ts'
import type { Filter } from './filter-tree.ts'

/** Lower-cases the filter's values for these attributes, whose columns hold lower case. */
export function foldCase(filter: Filter, isFolded: (attribute: Attribute) => boolean): Filter {
  if (filter.kind === 'not') return { ...filter, filter: foldCase(filter.filter, isFolded) }
  if ('filters' in filter) {
    return { ...filter, filters: filter.filters.map((inner) => foldCase(inner, isFolded)) }
  }
  // Lists have no expressions: only CQL2 makes them.
  if (filter.kind === 'expression' || filter.kind === 'isUnknown' || !isFolded(filter.attribute)) return filter
  if (filter.kind === 'compare') return { ...filter, value: asciiLower(filter.value) }
  if (filter.kind === 'in') return { ...filter, values: filter.values.map(asciiLower) }
  return filter.kind === 'like' ? { ...filter, pattern: asciiLower(filter.pattern) } : filter
}

/** ASCII only, like `lower(… COLLATE "C")`: other letters stay distinct. */
const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
