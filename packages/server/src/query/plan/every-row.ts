import { allOf } from '../filter/filter-tree.ts'
import type { Plan } from './plan.ts'

/** Every row, and none of its columns. */
export const everyRow: Plan = {
  columns: [],
  where: allOf([]),
  order: [],
  group: undefined,
  distinct: [],
  sample: undefined,
  limit: undefined,
  offset: 0,
}
