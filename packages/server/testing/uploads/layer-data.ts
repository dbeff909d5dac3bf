export type SourceFeature = { geometry: object | null; properties: Record<string, unknown> }

/** A small layer with one difficulty in it. */
export type SourceLayer = {
  readonly name: string
  readonly srid: number
  readonly features: readonly SourceFeature[]
}

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates })
const line = (...coordinates: number[][]) => ({ type: 'LineString', coordinates })
const polygon = (...coordinates: number[][][]) => ({ type: 'Polygon', coordinates })

/** A closed square, clockwise as GeoJSON does not want it when `hole`. */
function square(x: number, y: number, side: number, hole = false): number[][] {
  const ring = [
    [x, y],
    [x + side, y],
    [x + side, y + side],
    [x, y + side],
    [x, y],
  ]
  return hole ? ring.reverse() : ring
}

function projected(name: string, srid: number, x: number, y: number): SourceLayer {
  const features = Array.from({ length: 6 }, (_, index) => ({
    geometry: polygon(square(x + index * 100.5, y + index * 50.25, 80.125)),
    properties: { id: index + 1, label: `parcel ${index + 1}`, area: 80.125 * 80.125 },
  }))
  return { name, srid, features }
}

const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`c${index}`, index]))

/** The layers, each with a difficulty of its own; the plain table has no geometry. */
export const sourceLayers: readonly SourceLayer[] = [
  {
    name: 'points',
    srid: 4326,
    features: Array.from({ length: 50 }, (_, index) => ({
      geometry: point(-179 + index * 7.123_456_789, -80 + index * 3.3),
      properties: { id: index, name: `point ${index}`, height: index * 1.5, open: index % 2 === 0 },
    })),
  },
  {
    name: 'non_ascii',
    srid: 4326,
    features: [
      { geometry: point(139.69, 35.68), properties: { größe: 1, name: '東京都 🗼', città: 'Forlì' } },
      { geometry: point(2.35, 48.85), properties: { größe: 2, name: 'Île-de-France “œuvre”', città: '' } },
      { geometry: point(37.6, 55.75), properties: { größe: 3, name: 'Москва\nновая строка\t"', città: "L'Aquila" } },
    ],
  },
  {
    name: 'nulls',
    srid: 4326,
    features: [
      { geometry: point(1, 2), properties: { id: 1, text: null, number: 1.5, flag: null, never: null } },
      { geometry: null, properties: { id: 2, text: 'no geometry', number: null, flag: true, never: null } },
      { geometry: point(3, 4), properties: { id: null, text: '', number: 0, flag: false, never: null } },
    ],
  },
  {
    name: 'mixed_types',
    srid: 4326,
    features: [
      { geometry: point(1, 1), properties: { widening: 1, textual: 5, code: '00123' } },
      { geometry: point(2, 2), properties: { widening: 2.5, textual: 'six', code: '45' } },
      { geometry: point(3, 3), properties: { widening: -3, textual: true, code: '' } },
    ],
  },
  {
    name: 'points_3d',
    srid: 4326,
    features: [1, 2, 3].map((z) => ({ geometry: point(10 + z, 50, z * 100.25), properties: { z } })),
  },
  {
    name: 'lines_3d',
    srid: 4326,
    features: [
      { geometry: line([10, 50, 1], [11, 51, 2], [12, 50, 3.5]), properties: { id: 1 } },
      {
        geometry: {
          type: 'MultiLineString',
          coordinates: [
            [
              [0, 0, 5],
              [1, 1, 6],
            ],
            [
              [2, 2, 7],
              [3, 3, 8],
              [4, 3, 9],
            ],
          ],
        },
        properties: { id: 2 },
      },
    ],
  },
  projected('utm32', 32632, 500_000, 5_300_000),
  projected('rijksdriehoek', 28992, 155_000, 463_000),
  projected('swiss', 2056, 2_600_000, 1_200_000),
  projected('lambert93', 2154, 700_000, 6_600_000),
  projected('british', 27700, 400_000, 300_000),
  {
    name: 'dates',
    srid: 4326,
    features: [
      {
        geometry: point(1, 1),
        properties: { day: '2024-02-29', moment: '2024-02-29T12:34:56Z', local: '2024-02-29T12:34:56' },
      },
      {
        geometry: point(2, 2),
        properties: { day: '1899-12-31', moment: '1970-01-01T00:00:00Z', local: '1969-07-20T20:17:40' },
      },
      { geometry: point(3, 3), properties: { day: null, moment: null, local: null } },
    ],
  },
  {
    name: 'int64',
    srid: 4326,
    features: [
      { geometry: point(1, 1), properties: { big: 9007199254740993n, small: -2147483648 } },
      { geometry: point(2, 2), properties: { big: -9223372036854775807n, small: 2147483647 } },
      { geometry: point(3, 3), properties: { big: 0, small: null } },
    ],
  },
  {
    name: 'invalid_polygons',
    srid: 4326,
    features: [
      {
        geometry: polygon([
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [0, 0],
        ]),
        properties: { why: 'bow tie' },
      },
      { geometry: polygon(square(5, 5, 1), square(5.5, 5.5, 1, true)), properties: { why: 'hole sticks out' } },
    ],
  },
  {
    name: 'empty_geometries',
    srid: 4326,
    features: [
      { geometry: polygon(square(0, 0, 1)), properties: { id: 1 } },
      { geometry: { type: 'Polygon', coordinates: [] }, properties: { id: 2 } },
      { geometry: null, properties: { id: 3 } },
    ],
  },
  {
    name: 'holes',
    srid: 4326,
    features: [
      { geometry: polygon(square(0, 0, 10), square(1, 1, 2, true), square(5, 5, 3, true)), properties: { id: 1 } },
      {
        geometry: {
          type: 'MultiPolygon',
          coordinates: [
            [square(20, 0, 10), square(22, 2, 6, true)],
            [square(24, 4, 2), square(24.5, 4.5, 1, true)],
            [square(40, 0, 1)],
          ],
        },
        properties: { id: 2 },
      },
    ],
  },
  {
    name: 'antimeridian',
    srid: 4326,
    features: [
      { geometry: line([179, 10], [180, 11]), properties: { id: 1 } },
      { geometry: line([-180, 11], [-179, 12], [-180, 85]), properties: { id: 2 } },
    ],
  },
  { name: 'wide', srid: 4326, features: [1, 2].map((x) => ({ geometry: point(x, x), properties: wide })) },
  {
    name: 'reserved',
    srid: 4326,
    features: [
      {
        geometry: point(1, 1),
        properties: {
          select: 1,
          user: 'u',
          geom: 'not a geometry',
          fid: 77,
          table: 't',
          _minz: 3,
          'with space': 's',
          'semi;colon': 1,
          ['long_'.repeat(16)]: 'x',
        },
      },
    ],
  },
  {
    name: 'multipoints',
    srid: 4326,
    features: [
      {
        geometry: {
          type: 'MultiPoint',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
        properties: { id: 1 },
      },
      { geometry: { type: 'MultiPoint', coordinates: [[5, 6]] }, properties: { id: 2 } },
    ],
  },
  {
    name: 'mixed_geometries',
    srid: 4326,
    features: [
      { geometry: point(1, 2), properties: { id: 1 } },
      { geometry: line([1, 2], [3, 4]), properties: { id: 2 } },
      { geometry: polygon(square(0, 0, 4), square(1, 1, 2, true)), properties: { id: 3 } },
      {
        geometry: { type: 'GeometryCollection', geometries: [point(9, 9), line([9, 9], [8, 8])] },
        properties: { id: 4 },
      },
    ],
  },
  {
    name: 'plain_table',
    srid: 4326,
    features: [1, 2, 3].map((id) => ({ geometry: null, properties: { id, name: `row ${id}`, share: id / 8 } })),
  },
]
