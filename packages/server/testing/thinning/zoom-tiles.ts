// Reads the tiles of zooms as a map does, and tells whether they look as if they were one picture.
import assert from 'node:assert/strict'
import type { Queryable } from '../../src/kernel/db/db.ts'
import { type Sql, sql } from '../../src/kernel/db/sql.ts'
import { featuresOf } from '../tiles.ts'
import { borderTest, cellCounts, type SeamRow, tileOf } from './seams.ts'

/** What a server answers to the address of a tile. */
export type GetTile = (path: string) => Promise<{
  readonly statusCode: number
  readonly body: string
  readonly rawPayload: Buffer
  readonly headers: Record<string, unknown>
}>

export type ZoomsOf = {
  /** Of a dataset or a tile source. */
  readonly id: string
  /** Further parameters, such as `&filter[n]=1`. */
  readonly query: string
  readonly zooms: readonly number[]
}

/** The places of a table's rows: the centres of their boxes. */
export const centresOf = (db: Queryable, table: Sql, where: Sql): Promise<SeamRow[]> =>
  db.query<SeamRow>(sql`
    SELECT id::int4 AS id, 0.5 + (ST_XMin(box) + ST_XMax(box)) / 2 / 40075016.685578488 AS x,
      0.5 - (ST_YMin(box) + ST_YMax(box)) / 2 / 40075016.685578488 AS y,
      greatest(ST_XMax(box) - ST_XMin(box), ST_YMax(box) - ST_YMin(box)) / 40075016.685578488 AS width
    FROM (SELECT id, Box2D(ST_Transform(geom, 3857)) AS box FROM ${table} WHERE ${where} OFFSET 0) AS boxes`)

/** Fails where a zoom loses rows of a lower one, where tiles disagree on a border, and where counts do not add up. */
export async function seeNoSeams(
  get: GetTile,
  { id, query, zooms }: ZoomsOf,
  places: readonly SeamRow[],
): Promise<{ thinnedZooms: number; compared: number }> {
  let before: ReadonlySet<number> = new Set()
  let [thinnedZooms, compared] = [0, 0]
  for (const zoom of zooms) {
    const { all, isThinned, shownBy } = await readZoom(get, { id, zoom, query }, places)
    assert.deepEqual(
      [...before].filter((one) => !all.has(one)),
      [],
      `zoom ${zoom} lost rows`,
    )
    before = all
    if (!isThinned) {
      assert.equal(all.size, places.length, `zoom ${zoom} is thinned, but does not say so`)
      continue
    }
    thinnedZooms++
    agreeOnBorders(shownBy, zoom)
    const { probability, borders } = borderTest(places, all, zoom, cellCounts(places, zoom))
    compared += borders
    assert.ok(probability > 1e-4, `zoom ${zoom}: p = ${probability} over ${borders} borders`)
  }
  return { thinnedZooms, compared }
}

type ShownRow = {
  readonly id: number
  readonly count: number | undefined
  readonly west: number
  readonly east: number
  readonly north: number
  readonly south: number
}

async function shownIn(get: GetTile, path: string, query: string): Promise<{ shown: ShownRow[]; counted: string }> {
  const reply = await get(`/tiles/${path}.mvt?attributes=id${query}`)
  assert.ok(reply.statusCode < 300, reply.body)
  const shown = featuresOf(reply.rawPayload).map((feature) => {
    const [west = 0, north = 0, east = 0, south = 0] = feature.bbox?.() ?? []
    const { id, svc_count: count } = feature.properties
    return { id: Number(id), count: count === undefined ? undefined : Number(count), west, north, east, south }
  })
  return { shown, counted: String(reply.headers['x-tile-features']) }
}

/** All tiles of a zoom in which there are rows. What they stand for has to be all rows. */
async function readZoom(
  get: GetTile,
  { id, zoom, query }: { readonly id: string; readonly zoom: number; readonly query: string },
  places: readonly SeamRow[],
) {
  const tiles = Map.groupBy(places, (place) => tileOf(place, zoom))
  const shownBy = new Map<string, ShownRow[]>()
  let [sum, isThinned] = [0, false]
  for (const [tile, own] of tiles) {
    const { shown, counted } = await shownIn(get, `${id}/${zoom}/${tile}`, query)
    if (zoom === 0) assert.equal(counted.split('/')[1], String(places.length))
    shownBy.set(tile, shown)
    isThinned ||= shown.some(({ count }) => count !== undefined)
    sum += sumOf(shown, own)
  }
  assert.equal(sum, places.length, `sum of svc_count at zoom ${zoom}`)
  return { all: new Set([...shownBy.values()].flat().map((one) => one.id)), isThinned, shownBy }
}

/** What a tile's own features stand for, without those of its buffer. */
function sumOf(shown: readonly ShownRow[], own: readonly SeamRow[]): number {
  const ids = new Set(own.map((place) => place.id))
  return shown.filter((one) => ids.has(one.id)).reduce((sum, { count = 1 }) => sum + count, 0)
}

/** What touches the common border of two tiles is in both. */
function agreeOnBorders(shownBy: ReadonlyMap<string, readonly ShownRow[]>, zoom: number): void {
  for (const [tile, shown] of shownBy) {
    const [x = 0, y = 0] = tile.split('/').map(Number)
    const [right, below] = [shownBy.get(`${x + 1}/${y}`), shownBy.get(`${x}/${y + 1}`)]
    const missing = (
      own: readonly ShownRow[],
      other: readonly ShownRow[] | undefined,
      touches: (one: ShownRow) => boolean,
    ): number[] => {
      const there = new Set(other?.map(({ id }) => id))
      return other
        ? own
            .filter(touches)
            .filter(({ id }) => !there.has(id))
            .map(({ id }) => id)
        : []
    }
    // One pixel inside the buffer of 64: of the tip of an area that reaches less far in nothing may be left.
    const sides: [readonly number[], string][] = [
      [missing(shown, right, ({ west, east }) => west < 4096 + 56 && east > 4096 - 56), 'right of'],
      [missing(right ?? [], shown, ({ west, east }) => east > -56 && west < 56), 'left of the one right of'],
      [missing(shown, below, ({ north, south }) => north < 4096 + 56 && south > 4096 - 56), 'below'],
      [missing(below ?? [], shown, ({ north, south }) => south > -56 && north < 56), 'above the one below'],
    ]
    for (const [ids, side] of sides) assert.deepEqual(ids, [], `zoom ${zoom}: ${side} ${tile}`)
  }
}
