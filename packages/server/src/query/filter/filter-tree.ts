// The filter's syntax tree (AST), after validation.
import type { Geometry } from '../geometry/geojson.ts'
import type { SpatialRelation } from '../geometry/relation/relation.ts'
import type { Attribute, ScalarAttribute, ScalarType } from '../values/attribute.ts'
import type { Comparison, ExpressionTest } from './expression.ts'

/**
 * A validated filter, interpreted by filter-sql.ts and filter-predicate.ts. Every value is the canonical text of its
 * attribute's type (see value.ts), so that 64-bit integers and decimals of 30 digits lose nothing.
 */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'is'; readonly attribute: Attribute; readonly value: null | boolean }
  | {
      readonly kind: 'compare'
      readonly attribute: ScalarAttribute
      readonly comparison: Comparison
      readonly value: string
    }
  | { readonly kind: 'in'; readonly attribute: ScalarAttribute; readonly values: readonly string[] }
  | { readonly kind: 'like'; readonly attribute: Attribute; readonly pattern: string; readonly ignoreCase: boolean }
  | {
      readonly kind: 'items'
      readonly attribute: Attribute
      readonly itemType: ScalarType
      readonly relation: 'eq' | 'contains' | 'contained' | 'overlap'
      readonly values: readonly string[]
    }
  | {
      readonly kind: 'json'
      readonly attribute: Attribute
      readonly relation: 'eq' | 'contains'
      readonly value: string
    }
  | { readonly kind: SpatialRelation; readonly attribute: Attribute; readonly geometry: Geometry }
  | {
      readonly kind: 'dwithin'
      readonly attribute: Attribute
      readonly geometry: Geometry
      readonly distanceMetres: number
    }
  /** A test that the leaves above cannot say; they come first, because indexes and other engines serve them. */
  | ({ readonly kind: 'expression' } & ExpressionTest)
  /** Whether a filter is neither true nor false. */
  | { readonly kind: 'isUnknown'; readonly inner: Filter }

/** Conjunction; an empty list matches every row. */
export function allOf(filters: readonly Filter[]): Filter {
  return filters.length === 1 && filters[0] ? filters[0] : { kind: 'and', filters }
}

/** Disjunction; an empty list matches no row. */
export function anyOf(filters: readonly Filter[]): Filter {
  return filters.length === 1 && filters[0] ? filters[0] : { kind: 'or', filters }
}

/** Whether a value is missing, or the test holds. */
export const orNull = (attribute: Attribute, filter: Filter): Filter => anyOf([filter, isNull(attribute)])

export const isNull = (attribute: Attribute): Filter => ({ kind: 'is', attribute, value: null })

export const not = (filter: Filter): Filter => ({ kind: 'not', filter })
