// Keeps the nearest rows of a stream, however long it is, in memory for a few times as many as are wanted.
import { filterPredicate } from '../filter/filter-predicate.ts'
import { positionsOf } from '../geometry/geojson.ts'
import { distanceFrom } from '../geometry/relation/distance.ts'
import type { Plan } from '../plan/plan.ts'
import type { Attribute } from '../values/attribute.ts'
import { geometryOf } from '../values/geometry-text.ts'
import type { Definitions } from '../values/projection.ts'
import { rawReader } from './cell-reader.ts'
import { roundingMetres } from './nearest-reach.ts'
import { firstInOrder } from './plan-rows.ts'
import { rowReader } from './wkb-cells.ts'

export type NearestKeeper = {
  add(cells: Cells): void
  /** The rows among which the wanted ones are. */
  kept(): Cells[]
  /** How far the last wanted one is; undefined while there are fewer rows with a geometry. */
  readonly reach: number | undefined
}

type Cells = (string | null)[]

/** Rows that are kept beside the wanted ones before all are sorted. */
const reserve = 2_000

/** Where each kept row has the cells that it was read from. */
const cellsKey = Symbol('cells')
type KeptRow = Record<string, unknown> & { readonly [cellsKey]: Cells }

/** `plan` is what is left to do in memory, its rows sorted by a distance first; `attributes` are those of the cells. */
export function createNearestKeeper(
  plan: Plan,
  attributes: readonly Attribute[],
  definitions: Definitions,
): NearestKeeper {
  const { order, limit = 0, offset } = plan
  const { attribute, distanceTo } = order[0]?.by ?? {}
  if (!attribute || !distanceTo) throw new Error('The plan does not sort by a distance')
  const wanted = limit + offset
  const read = rowReader(attributes, definitions)
  const shapeIn = rawReader(attribute.name)
  const holds = filterPredicate(plan.where)
  const measure = distanceFrom(distanceTo)
  let rows: KeptRow[] = []
  let reach: number | undefined

  const distanceOf = (row: KeptRow): number | undefined => {
    const geometry = geometryOf(shapeIn(row))
    if (!geometry || positionsOf(geometry).length === 0) return undefined
    return measure(geometry, { enough: 0, most: reach === undefined ? Infinity : reach + roundingMetres })
  }

  function cut(): void {
    rows = firstInOrder(plan, rows, wanted)
    const last = rows.at(-1)
    const furthest = rows.length === wanted && last ? fullDistance(last) : undefined
    reach = furthest ?? reach
  }

  function fullDistance(row: KeptRow): number | undefined {
    const geometry = geometryOf(shapeIn(row))
    return geometry && positionsOf(geometry).length > 0 ? measure(geometry) : undefined
  }

  return {
    add(cells) {
      const row: KeptRow = { ...read(cells), [cellsKey]: cells }
      if (holds(row) !== true) return
      if (reach !== undefined && !((distanceOf(row) ?? Infinity) <= reach + roundingMetres)) return
      rows.push(row)
      if (rows.length >= wanted + Math.max(wanted, reserve)) cut()
    },
    kept() {
      cut()
      return rows.map((row) => row[cellsKey])
    },
    get reach() {
      return reach
    },
  }
}
