// Filter interpreter in memory; filter-sql.ts is the other interpreter of the same tree.

import { wrapGeometry } from '../geometry/antimeridian.ts'
import type { Geometry } from '../geometry/geojson.ts'
import { nearnessTest } from '../geometry/relation/distance.ts'
import { relationTest } from '../geometry/relation/relation.ts'
import type { Attribute } from '../values/attribute.ts'
import { geometryOf } from '../values/geometry-text.ts'
import { compareValues, decodeValue } from '../values/value.ts'
import {
  comparisons,
  expressionPredicate,
  type Predicate,
  readScalar,
  scalarReader,
  type ValueRow,
  valueAt,
} from './expression-value.ts'
import type { Filter } from './filter-tree.ts'
import { jsonContains, jsonEquals } from './json-relation.ts'
import { likeMatcher } from './like.ts'

/**
 * Compiles a filter to a predicate on JSON rows, for sources without SQL. Geometry is GeoJSON in 4326. The result is
 * the same as that of filter-sql.ts on the same rows. A value that does not fit its attribute's type counts as null.
 */
export function filterPredicate(filter: Filter): Predicate {
  switch (filter.kind) {
    case 'and':
      return conjunction(filter.filters.map(filterPredicate))
    case 'or':
      return negated(conjunction(filter.filters.map((inner) => negated(filterPredicate(inner)))))
    case 'not':
      return negated(filterPredicate(filter.filter))
    case 'is':
      return isPredicate(filter)
    case 'compare':
      return comparePredicate(filter)
    case 'in':
      return inPredicate(filter)
    case 'like':
      return likePredicate(filter)
    case 'items':
      return itemsPredicate(filter)
    case 'json':
      return jsonPredicate(filter)
    case 'dwithin':
      return spatialPredicate(filter.attribute, nearnessTest(filter.geometry, filter.distanceMetres))
    case 'expression':
      return expressionPredicate(filter)
    case 'isUnknown': {
      const holds = filterPredicate(filter.inner)
      return (row) => holds(row) === null
    }
    default:
      return relationPredicate(filter.attribute, relationTest(filter.kind, filter.geometry))
  }
}

function conjunction(predicates: readonly Predicate[]): Predicate {
  return (row) => {
    let result: boolean | null = true
    for (const predicate of predicates) {
      const holds = predicate(row)
      if (holds === false) return false
      if (holds === null) result = null
    }
    return result
  }
}

function negated(predicate: Predicate): Predicate {
  return (row) => {
    const holds = predicate(row)
    return holds === null ? null : !holds
  }
}

function isPredicate({ attribute, value }: Filter & { kind: 'is' }): Predicate {
  const read = reader(attribute)
  return (row) => read(row) === value
}

function comparePredicate({ attribute, comparison, value }: Filter & { kind: 'compare' }): Predicate {
  const read = scalarReader(attribute, attribute.type)
  const wanted = decodeValue(attribute.type, value)
  const holds = comparisons[comparison]
  return (row) => {
    const actual = read(row)
    return actual === null ? null : holds(compareValues(actual, wanted))
  }
}

/** An empty list is never unknown: `NULL = ANY ('{}')` is false. */
function inPredicate({ attribute, values }: Filter & { kind: 'in' }): Predicate {
  const read = scalarReader(attribute, attribute.type)
  const wanted = new Set(values.map((value) => decodeValue(attribute.type, value)))
  return (row) => {
    const actual = wanted.size === 0 ? false : read(row)
    return actual === null ? null : wanted.has(actual)
  }
}

function likePredicate({ attribute, pattern, ignoreCase }: Filter & { kind: 'like' }): Predicate {
  const read = scalarReader(attribute, 'string')
  const matches = likeMatcher(pattern, ignoreCase)
  return (row) => {
    const actual = read(row)
    return actual === null ? null : matches(String(actual))
  }
}

/** PostgreSQL's array operators search nested arrays at any depth; null is never found and equals nothing. */
function itemsPredicate({ attribute, itemType, relation, values }: Filter & { kind: 'items' }): Predicate {
  const wanted = values.map((value) => decodeValue(itemType, value))
  return (row) => {
    const list = valueAt(row, attribute.name)
    if (!Array.isArray(list)) return null
    if (relation === 'eq') {
      return list.length === wanted.length && list.every((item, index) => readScalar(itemType, item) === wanted[index])
    }
    const actual = new Set(list.flat(Infinity).map((item) => readScalar(itemType, item)))
    if (relation === 'contained') return [...actual].every((item) => item !== null && wanted.includes(item))
    return relation === 'contains'
      ? wanted.every((value) => actual.has(value))
      : wanted.some((value) => actual.has(value))
  }
}

function jsonPredicate({ attribute, relation, value }: Filter & { kind: 'json' }): Predicate {
  const wanted: unknown = JSON.parse(value)
  const relate = relation === 'eq' ? jsonEquals : jsonContains
  return (row) => {
    const actual = valueAt(row, attribute.name)
    return actual === null ? null : relate(actual, wanted)
  }
}

const relationPredicate = (attribute: Attribute, holds: (geometry: Geometry) => boolean): Predicate =>
  spatialPredicate(attribute, (geometry) => holds(wrapGeometry(geometry)))

function spatialPredicate({ name }: Attribute, holds: (geometry: Geometry) => boolean): Predicate {
  return (row) => {
    const actual = geometryOf(valueAt(row, name))
    return actual && holds(actual)
  }
}

/** The value that null tests look at. */
function reader(attribute: Attribute): (row: ValueRow) => unknown {
  switch (attribute.type) {
    case 'json':
    case 'binary':
      return (row) => valueAt(row, attribute.name)
    case 'array':
      return (row) => (Array.isArray(valueAt(row, attribute.name)) ? true : null)
    case 'geometry':
      return (row) => geometryOf(valueAt(row, attribute.name))
    default:
      return scalarReader(attribute, attribute.type)
  }
}
