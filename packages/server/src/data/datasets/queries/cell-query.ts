// Queries whose rows are cells: `aggregate`, `value` and `zoom`, and the source that answers them in place of the dataset's.
import { ApiError, type FaultCollector, invalid } from '../../../kernel/errors.ts'
import type { GeometryForm } from '../../../query/execution/dialect.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { type CellAggregate, cellQueryColumns, parseCells } from '../../../query/plan/cell-aggregate.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { geometriesOf } from '../attribute-dto.ts'
import type { CachedDataset } from '../dataset-cache.ts'
import type { Dataset } from '../dataset-record.ts'
import type { Source, SourceRows } from '../dataset-type.ts'
import { visiblePlan } from '../rules/narrowing.ts'

export type CellParameters = {
  readonly aggregate?: string | undefined
  readonly value?: readonly string[] | undefined
  readonly zoom?: number | undefined
}

export type CellCount = {
  readonly source: Source
  readonly applicationId: string
  readonly geometry: Attribute
  readonly aggregate: CellAggregate
  /** Selects the rows. Its limit and offset are those of cells. */
  readonly plan: Plan
}

/** Counts rows by cell. The threads that do are those of tiles. */
export type CellCounting = {
  count(request: CellCount, notation: GeometryForm['geometry'], options: SelectOptions): Promise<SourceRows>
}

type CellQueryInput = {
  readonly parameters: CellParameters
  readonly place: 'query' | 'body'
  /** What the request says of rows, which cells have not. */
  readonly refused: Readonly<Record<string, unknown>>
}

/** Undefined where the query is one of rows. */
export function readCells(
  { parameters: { aggregate, value, zoom }, place, refused }: CellQueryInput,
  { attributes }: CachedDataset,
  faults: FaultCollector,
): CellAggregate | undefined {
  const path = (name: string): string => `${place}/${name}`
  if (aggregate === undefined) {
    for (const [name, given] of Object.entries({ value, zoom })) {
      if (given !== undefined)
        faults.attempt(() => refuse(path(name), 'is only for aggregates: add aggregate, such as h3:5'))
    }
    return undefined
  }
  for (const [name, given] of Object.entries(refused)) {
    if (given === undefined) continue
    const where = name.includes('/') ? name : path(name)
    faults.attempt(() => refuse(where, 'must not be given with aggregate: the answer is cells, not rows'))
  }
  return faults.attempt(() => parseCells({ aggregate, value }, attributes, zoom, path))
}

function refuse(path: string, why: string): never {
  throw invalid(path, why)
}

/** A source of cells, and what else of a query they take the place of. They have no key, and none of the dataset's attributes. */
export function cellSource(
  counting: CellCounting,
  { dataset, source, plan }: { readonly dataset: Dataset; readonly source: Source; readonly plan: Plan },
  aggregate: CellAggregate,
): { dataset: Dataset; source: Source; plan: Plan } {
  const [geometry] = geometriesOf(dataset)
  if (!geometry) throw new ApiError('invalid_request', 'The dataset has no geometry, so its rows are in no cells.')
  const { applicationId } = dataset
  return {
    dataset: { ...dataset, attributes: [] },
    plan: { ...visiblePlan(dataset, plan), columns: cellQueryColumns(aggregate), group: [] },
    source: {
      rows: (cells, { geometry: notation }, options) =>
        counting.count({ source, applicationId, geometry, aggregate, plan: cells }, notation, options),
      explain: (_, options) => source.explain({ ...plan, limit: undefined, offset: 0 }, options),
    },
  }
}
