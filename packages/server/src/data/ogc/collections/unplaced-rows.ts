// Whether a collection has features without a geometry, which match every box. An index on geometries finds them only by
// reading all of it (12 ms for 300 000 points), so they are looked for once per version of the data, not with every box.
import { LRUCache } from 'lru-cache'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import { everyRow } from '../../../query/plan/every-row.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { CachedDataset } from '../../datasets/dataset-cache.ts'
import type { Dataset } from '../../datasets/dataset-record.ts'
import type { Source } from '../../datasets/dataset-type.ts'
import { totalRows } from '../../datasets/queries/total-rows.ts'

export type HasUnplacedRows = (
  opened: { readonly cached: CachedDataset; readonly source: Source },
  geometry: Attribute,
  options: SelectOptions,
) => Promise<boolean>

const capacity = 10_000

/** `versionOf` changes with the data. Where nothing is known the answer is true, which is always right. */
export function createUnplacedCheck(versionOf: (dataset: Dataset) => Promise<string>): HasUnplacedRows {
  const cache = new LRUCache<string, { readonly version: string; readonly has: boolean }>({ max: capacity })
  return async ({ cached: { dataset, parameters }, source }, geometry, options) => {
    const isNullable = dataset.attributes.some(({ name, nullable }) => name === geometry.name && nullable)
    if (!isNullable || !source.isCountable || parameters.size > 0) return isNullable
    const version = `${dataset.revision} ${await versionOf(dataset)}`
    const key = `${dataset.id} ${dataset.narrowing?.digest ?? ''}`
    const last = cache.get(key)
    if (last?.version === version) return last.has
    const has = (await totalRows(source, unplacedPlan(geometry), 'exact', options)) > 0
    cache.set(key, { version, has })
    return has
  }
}

const unplacedPlan = (attribute: Attribute): Plan => ({ ...everyRow, where: { kind: 'is', attribute, value: null } })
