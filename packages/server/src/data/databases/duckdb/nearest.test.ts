import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { testFolder } from '../../../../../driver-duckdb/testing/folder.ts'
import { type Tenant, type TestApp, testApp } from '../../../../testing/harness.ts'
import { limits } from '../../../kernel/limits/limits.ts'
import type { Geometry } from '../../../query/geometry/geojson.ts'
import { distanceFrom } from '../../../query/geometry/relation/distance.ts'

// One database is enough: rows are read by DuckDB; where its record is stored does not matter.

/** More than are measured in memory, so that only a search that looks around the place answers at all. */
const count = 2 * limits.rowsInMemory.value

/** Most are in a town of twenty kilometres, some anywhere; the same numbers here and in the file. */
const positionOf = (id: number): [number, number] => {
  const [a, b] = [(id * 7919) % 100_003, (id * 104_729) % 100_019]
  if (id % 100 === 0) return [a * 0.0036 - 180, b * 0.0017 - 85]
  return [8.3 + a * 2e-6, 47.3 + b * 2e-6]
}
const position = `SELECT i AS id, i % 5 AS kind, CASE WHEN i % 100 = 0
    THEN [(i * 7919 % 100003) * 0.0036 - 180, (i * 104729 % 100019) * 0.0017 - 85]
    ELSE [8.3 + (i * 7919 % 100003) * 2e-6, 47.3 + (i * 104729 % 100019) * 2e-6] END AS p
  FROM range(1, ${count + 1}) t(i)`
const side = 0.0001

let app: TestApp
let tenant: Tenant
let directory: string
const ids: Record<string, string> = {}

const call: TestApp['call'] = (method, url, request = {}) =>
  app.call(method, url, { key: tenant.developer, ...request })

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'graticule-duckdb-nearest-'))
  app = await testApp({ DATA_DIR: directory })
  tenant = await app.tenant('files')
  const data = join(directory, 'files', tenant.id, 'data')
  await mkdir(data, { recursive: true })
  const point = `('POINT(' || p[1] || ' ' || p[2] || ')')::GEOMETRY('OGC:CRS84') AS geom`
  const square = `('POLYGON((' || p[1] || ' ' || p[2] || ',' || p[1] + ${side} || ' ' || p[2] || ',' || p[1] + ${side} || ' ' || p[2] + ${side}
    || ',' || p[1] || ' ' || p[2] + ${side} || ',' || p[1] || ' ' || p[2] || '))')::GEOMETRY('OGC:CRS84') AS geom`
  const copy = (file: string, shape: string): string => `COPY (SELECT id, kind, ${shape} FROM (${position}))
    TO '${join(data, file)}' (FORMAT parquet, GEOPARQUET_VERSION 'BOTH')`
  await testFolder({ after: () => {} }).run(copy('points.parquet', point), copy('squares.parquet', square))
  const { body: database } = await call('POST', '/api/v1/databases', {
    body: { type: 'duckdb', name: 'Files', db: 'data' },
  })
  for (const source of ['points', 'squares']) {
    const body = { type: 'table', name: source, source, databaseId: database.id }
    const made = await call('POST', '/api/v1/datasets', { body })
    assert.equal(made.status, 201, made.text)
    ids[source] = made.body.id
  }
})
after(async () => {
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

type Answered = { readonly id: number; readonly distance: number }

async function ask(source: string, body: object): Promise<Answered[]> {
  const reply = await call('POST', `/api/v1/datasets/${ids[source]}/query?timeout=120000`, {
    body: { attributes: ['id'], order: ['id'], ...body },
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

const squareAt = ([x, y]: [number, number]): Geometry => ({
  type: 'Polygon',
  coordinates: [
    [
      [x, y],
      [x + side, y],
      [x + side, y + side],
      [x, y + side],
      [x, y],
    ],
  ],
})
const pointAt = (at: [number, number]): Geometry => ({ type: 'Point', coordinates: at })
const shapes: Record<string, (at: [number, number]) => Geometry> = { points: pointAt, squares: squareAt }

/** By measuring every row. */
function expectedOf(source: string, place: Geometry, isMeant: (id: number) => boolean = () => true): Answered[] {
  const measure = distanceFrom(place)
  const rows = Array.from({ length: count }, (_, index) => index + 1).filter(isMeant)
  let most = Number.POSITIVE_INFINITY
  let nearest: Answered[] = []
  for (const id of rows) {
    const distance = measure(shapes[source]?.(positionOf(id)) as Geometry, { enough: 0, most })
    if (distance > most) continue
    nearest.push({ id, distance })
    if (nearest.length < 1_000) continue
    nearest = nearest.sort((a, b) => a.distance - b.distance || a.id - b.id).slice(0, 50)
    most = nearest.at(-1)?.distance ?? most
  }
  return nearest.sort((a, b) => a.distance - b.distance || a.id - b.id).slice(0, 50)
}

const places: Record<string, Geometry> = {
  'a point in the town': { type: 'Point', coordinates: [8.4, 47.4] },
  'a point beside the antimeridian': { type: 'Point', coordinates: [179.999, 10] },
  'a point near the pole': { type: 'Point', coordinates: [40, 89.5] },
  'a line through the town': {
    type: 'LineString',
    coordinates: [
      [8.35, 47.31],
      [8.352, 47.312],
    ],
  },
}

describe('the nearest of more rows than are measured', () => {
  for (const [name, place] of Object.entries(places)) {
    for (const source of ['points', 'squares']) {
      test(`${source} to ${name} are those that measuring every row finds, page by page`, async () => {
        const expected = expectedOf(source, place)
        const nearest = { geometry: place }
        const pages = [await ask(source, { nearest, limit: 20 }), await ask(source, { nearest, limit: 20, offset: 20 })]
        const answered = pages.flat()
        assert.deepEqual(
          answered.map(({ id }) => id),
          expected.slice(0, 40).map(({ id }) => id),
        )
        for (const [index, { distance }] of answered.entries()) {
          assert.ok(Math.abs(distance - (expected[index]?.distance ?? -1)) < 0.01, `${distance}`)
        }
      })
    }
  }

  test('under a filter are those that match it, also one that is tested in memory', async () => {
    const place = places['a point in the town'] as Geometry
    const expected = expectedOf('points', place, (id) => id % 5 === 3).slice(0, 10)
    const nearest = { geometry: place }
    const simple = await ask('points', { nearest, limit: 10, where: { kind: 3 } })
    assert.deepEqual(
      simple.map(({ id }) => id),
      expected.map(({ id }) => id),
    )
    const far = {
      type: 'Polygon',
      coordinates: [
        [
          [-30, -30],
          [-20, -30],
          [-20, -20],
          [-30, -20],
          [-30, -30],
        ],
      ],
    }
    const distant = await ask('points', { nearest, limit: 3, where: { geom: { $intersects: far } } })
    const inFar = (id: number): boolean => {
      const [x, y] = positionOf(id)
      return x >= -30 && x <= -20 && y >= -30 && y <= -20
    }
    assert.deepEqual(
      distant.map(({ id }) => id),
      expectedOf('points', place, inFar)
        .slice(0, 3)
        .map(({ id }) => id),
    )
  })
})
