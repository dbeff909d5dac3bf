// CQL2 filters (OGC 21-065r2) in text and in JSON.
import { FaultCollector } from '../../../kernel/errors.ts'
import type { Attributes } from '../../values/attribute.ts'
import { fault, show } from '../../values/fault.ts'
import { allOf, type Filter } from '../filter-tree.ts'
import { degreesFrom, type FilterCrs } from './filter-crs.ts'
import { readJson } from './json-reader.ts'
import { resolveFilter } from './resolve.ts'
import { checkLength, type Node } from './syntax.ts'
import { parseText } from './text-parser.ts'

export type Cql2Options = {
  /** The path of the filter in the request, for messages. */
  readonly path: string
  /** The EPSG code of the filter's geometries, in the authority's axis order; CRS84 by default. */
  readonly filterSrid?: number
  /** What is known of that system. */
  readonly filterCrs?: Omit<FilterCrs, 'srid'>
  /** The path of the parameter that names that system. */
  readonly crsPath?: string
}

/** Parses CQL2 text to the filter tree that all of Graticule's interpreters share. */
export function parseCql2Text(text: string, attributes: Attributes, options: Cql2Options): Filter {
  return resolved(parseText(text, options.path), attributes, options)
}

/** Parses CQL2 JSON, as a value or as its text. All faults are reported together. */
export function parseCql2Json(value: unknown, attributes: Attributes, options: Cql2Options): Filter {
  const { path } = options
  return resolved(readJson(typeof value === 'string' ? fromText(value, path) : value, path), attributes, options)
}

function fromText(text: string, path: string): unknown {
  checkLength(text, { path })
  try {
    return JSON.parse(text)
  } catch {
    throw fault(path, 'invalid_json', `must be JSON, not ${show(text)}`)
  }
}

function resolved(node: Node, attributes: Attributes, options: Cql2Options): Filter {
  const { filterSrid: srid, filterCrs, crsPath = 'query/filter-crs' } = options
  const faults = new FaultCollector()
  const toDegrees = srid === undefined ? undefined : degreesFrom({ srid, ...filterCrs }, crsPath)
  const scope = { attributes, faults, toDegrees, folds: 0 }
  const filter = faults.attempt(() => resolveFilter(scope, node))
  faults.finish()
  return filter ?? allOf([])
}
