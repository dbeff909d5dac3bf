import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Cell } from '../../../query/formats/cell.ts'
import { createGeometryWriter } from '../../../query/geometry/encoding/ewkb-writer.ts'
import { writeGeometry } from '../../../query/geometry/encoding/geojson-ewkb.ts'
import type { Plan, PlanColumn } from '../../../query/plan/plan.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import { streamRest } from './remaining-plan.ts'

const place: Attribute = { name: 'place', type: 'geometry', srid: 4326 }
const column: PlanColumn = { name: 'place', attribute: place, type: 'geometry' }

function circle(corners: number) {
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * index) / corners
    return [Number((5 * Math.cos(angle)).toFixed(9)), Number((5 * Math.sin(angle)).toFixed(9))]
  })
  return { type: 'Polygon' as const, coordinates: [[...ring, ring[0] ?? ([0, 0] as const)]] }
}

function hexOf(geometry: ReturnType<typeof circle>): string {
  const writer = createGeometryWriter()
  assert.ok(writeGeometry(writer, geometry))
  return writer.bytes.toString('hex', 0, writer.length)
}

async function* batchesOf(...batches: Cell[][][]) {
  yield* batches
}

const planOf = (geometry: ReturnType<typeof circle>, limit?: number): Plan => ({
  columns: [column],
  where: { kind: 'within', attribute: place, geometry },
  order: [],
  group: undefined,
  distinct: [],
  sample: undefined,
  limit,
  offset: 1,
})

test('others have turns between rows with large geometries, also within one batch', async () => {
  const geometry = circle(6_000)
  const plan = planOf(geometry)
  const rows = Array.from({ length: 30 }, (): Cell[] => [hexOf(geometry)])
  let turns = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; turns++) await setImmediate()
  })()
  let found = 0
  for await (const batch of streamRest(plan, plan, batchesOf(rows), {})) found += batch.length
  isOver = true
  await others
  assert.equal(found, rows.length - 1)
  assert.ok(turns >= 10, `${turns} turns`)
})

test('the rows of a page end with its limit, which may be none', async () => {
  const rows = Array.from({ length: 10 }, (): Cell[] => [hexOf(circle(4))])
  for (const limit of [0, 3, 20]) {
    const plan = planOf(circle(400), limit)
    const found: Cell[][] = []
    for await (const batch of streamRest(plan, plan, batchesOf(rows, rows), {})) found.push(...batch)
    assert.equal(found.length, Math.min(limit, 19))
  }
})
