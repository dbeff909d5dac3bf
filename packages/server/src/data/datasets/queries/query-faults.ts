// The faults of a query's body that its schema does not find, told beside those that it does.
import type { TObject } from 'typebox'
import { Check } from 'typebox/value'
import type { FaultCollector } from '../../../kernel/errors.ts'
import { everyRow } from '../../../query/plan/every-row.ts'
import { type Nearest, nearestFirst } from '../../../query/plan/nearest.ts'
import { bodyPaths, type Plan, parsePlan, type QueryPaths, type QueryRequest } from '../../../query/plan/plan.ts'
import type { Attributes } from '../../../query/values/attribute.ts'

type PlannedQuery = {
  readonly query: QueryRequest
  readonly nearest?: Nearest | undefined
  readonly paths: QueryPaths
}

/** The plan of a query; what is wrong with it is added to `faults`. `missing` are the faults of parts that the query lacks for them. */
export function planIn(
  { query, nearest, paths }: PlannedQuery,
  attributes: Attributes,
  faults: FaultCollector,
  missing?: FaultCollector,
): Plan | undefined {
  const plan = faults.attempt(() => parsePlan(query, attributes, paths, missing))
  return faults.attempt(() => nearestFirst(plan ?? everyRow, nearest, attributes, 'body/nearest'))
}

/** Adds the faults of those parts of a body that fit their schemas. The others have told theirs. */
export function addQueryFaults(schema: TObject, body: unknown, attributes: Attributes, faults: FaultCollector): void {
  if (typeof body !== 'object' || body === null) return
  const isFit = ([name, part]: [string, unknown]): boolean =>
    Object.hasOwn(schema.properties, name) && Check(schema.properties[name] as TObject, part)
  const parts = Object.fromEntries(Object.entries(body).filter(isFit)) as QueryRequest & { nearest?: Nearest }
  planIn({ query: parts, nearest: parts.nearest, paths: bodyPaths }, attributes, faults, faults)
}
