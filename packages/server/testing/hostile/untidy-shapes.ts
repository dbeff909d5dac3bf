import type { Tile } from '../../src/data/tiles/mvt/projection.ts'
/** Polygons as careless people and programs make them, as rings of places in a tile: [0, 0] is its north-west corner, [1, 1] the other. */

export type Ring = [number, number][]
export type UntidyShape = {
  readonly name: string
  readonly polygons: Ring[][]
  readonly tile: Tile
  /** To be tried also so large that the database cuts it, which takes a while. */
  readonly isCut: boolean
}

const inside: Tile = { z: 4, x: 8, y: 5 }
/** At the antimeridian and at the poles. */
const west: Tile = { z: 4, x: 0, y: 5 }
const east: Tile = { z: 4, x: 15, y: 5 }
const north: Tile = { z: 2, x: 1, y: 0 }
const south: Tile = { z: 2, x: 2, y: 3 }

const box = (x0: number, y0: number, x1: number, y1: number): Ring => [
  [x0, y0],
  [x1, y0],
  [x1, y1],
  [x0, y1],
]
const square = box(0.1, 0.1, 0.9, 0.9)
const corner: Ring = [
  [0.1, 0.1],
  [0.9, 0.1],
  [0.9, 0.3],
  [0.3, 0.3],
  [0.3, 0.9],
  [0.1, 0.9],
]
const spiky: Ring = [...box(0.2, 0.2, 0.8, 0.8), [0.2, 0.5], [0.05, 0.5], [0.2, 0.5]]
const star = Array.from({ length: 5 }, (_, index): [number, number] => {
  const angle = (index * 4 * Math.PI) / 5
  return [0.5 + 0.45 * Math.sin(angle), 0.5 - 0.45 * Math.cos(angle)]
})

/** Not a hole outside of its shell: PostGIS leaves it out with the shell when that is not in the box. */
const cut = /symmetric|star|across|part twice|beyond|longitudes|polar/

const named = (tile: Tile, shapes: Record<string, Ring[][]>): UntidyShape[] =>
  Object.entries(shapes).map(([name, polygons]) => ({ name, polygons, tile, isCut: cut.test(name) }))

export const untidyShapes: UntidyShape[] = [
  ...named(inside, {
    'a symmetric bow-tie': [
      [
        [
          [0.1, 0.1],
          [0.9, 0.9],
          [0.9, 0.1],
          [0.1, 0.9],
        ],
      ],
    ],
    'an asymmetric bow-tie': [
      [
        [
          [0.1, 0.1],
          [0.9, 0.7],
          [0.9, 0.1],
          [0.1, 0.95],
        ],
      ],
    ],
    'a figure of eight through a point': [
      [
        [
          [0.1, 0.1],
          [0.5, 0.5],
          [0.9, 0.9],
          [0.9, 0.1],
          [0.5, 0.5],
          [0.1, 0.9],
        ],
      ],
    ],
    'a ring that touches itself': [
      [
        [
          [0.1, 0.1],
          [0.9, 0.1],
          [0.5, 0.5],
          [0.9, 0.9],
          [0.1, 0.9],
          [0.5, 0.5],
        ],
      ],
    ],
    'a ring around the same place twice': [[[...square, ...box(0.3, 0.3, 0.7, 0.7)]]],
    'a star in one stroke': [[star]],
    'the wrong winding': [[square.toReversed(), box(0.3, 0.3, 0.7, 0.7)]],
    'spikes and points twice': [[spiky.flatMap((point) => [point, point])]],
    'the same part twice': [[square], [square]],
    'the same part with a hole twice': [
      [square, box(0.3, 0.3, 0.7, 0.7)],
      [square, box(0.3, 0.3, 0.7, 0.7)],
    ],
    'a hole twice': [[square, box(0.3, 0.3, 0.7, 0.7), box(0.3, 0.3, 0.7, 0.7)]],
    // Not outside of its box too, for there PostGIS does not look for it.
    'a hole outside of its shell': [[corner, box(0.5, 0.5, 0.8, 0.8)]],
    'a hole across its shell': [[box(0.1, 0.1, 0.6, 0.9), box(0.4, 0.3, 0.9, 0.7)]],
    'a hole that is all of its shell': [[square, square]],
    'a shell beyond the tile and a bow-tie around it': [
      [
        [
          [-3, -2.5],
          [4, 3.5],
          [4, -3],
          [-3, 3],
        ],
      ],
    ],
  }),
  ...named(west, {
    'longitudes below -180': [
      [
        [
          [-0.6, 0.1],
          [0.7, 0.9],
          [0.7, 0.1],
          [-0.6, 0.8],
        ],
      ],
    ],
  }),
  ...named(east, {
    'longitudes above 180': [
      [
        [
          [0.3, 0.1],
          [1.6, 0.9],
          [1.6, 0.1],
          [0.3, 0.8],
        ],
      ],
    ],
  }),
  ...named(west, {
    'longitudes above 180 that are seen in the west': [
      [
        [
          [15.4, 0.1],
          [16.7, 0.9],
          [16.7, 0.1],
          [15.4, 0.8],
        ],
      ],
    ],
  }),
  ...named(north, {
    'a polar cap in the north': [[[...box(-1, -9, 3, 0.5).slice(0, 3), [1.5, 0.7], [0.5, 0.2], [-1, 0.5]]]],
  }),
  ...named(south, { 'a polar cap in the south, the wrong way round': [[box(-2, 0.4, 2, 9).toReversed()]] }),
]
