import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { VectorTile, type VectorTileFeature, type VectorTileLayer } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import type { TileColumn } from './columns.ts'
import { createTileEncoder, type EncoderOptions } from './tile-encoder.ts'
import { tileAsGeoJson } from './tile-geojson.ts'

const world = { z: 0, x: 0, y: 0 }
const geometryColumn: TileColumn = { name: 'geom', kind: 'geometry' }
const half = 20037508.342789244

/** A geometry in units of the tile 0/0/0, as the encoder gets it in metres. */
const metres = (coordinates: unknown): unknown => {
  if (!Array.isArray(coordinates)) return coordinates
  if (typeof coordinates[0] !== 'number') return coordinates.map(metres)
  const [x, y] = coordinates as [number, number]
  return [(x / 2048 - 1) * half, (1 - y / 2048) * half]
}

const geometry = (type: string, coordinates: unknown) => ({ type, coordinates: metres(coordinates) })

function layerOf(bytes: Buffer): VectorTileLayer | undefined {
  return new VectorTile(new PbfReader(bytes)).layers.geometry
}

function encode(geometries: unknown[], options: Partial<EncoderOptions> = {}) {
  const encoder = createTileEncoder({ tile: world, projection: 'mercator', columns: [geometryColumn], ...options })
  for (const value of geometries) encoder.addFeature([value])
  return encoder.finish()
}

function draw(
  value: unknown,
  options: Partial<EncoderOptions> = {},
): { type: number; paths: number[][][] } | undefined {
  // Without a buffer nothing of the copies of the world is seen.
  const layer = layerOf(encode([value], { buffer: options.tile ? 64 : 0, ...options }).bytes)
  if (!layer) return undefined
  const feature = layer.feature(0)
  return { type: feature.type, paths: pathsOf(feature) }
}

const pathsOf = (feature: VectorTileFeature): number[][][] =>
  feature.loadGeometry().map((path) => path.map(({ x, y }) => [x, y]))

const signedArea = (path: number[][]): number =>
  path.reduce((sum, [x = 0, y = 0], index) => {
    const [a = 0, b = 0] = path[(index + 1) % path.length] as number[]
    return sum + x * b - a * y
  }, 0) / 2

function attributesOf(kind: TileColumn['kind'], value: unknown, rest: Partial<TileColumn> = {}) {
  const columns = [{ name: 'a', kind, ...rest }, geometryColumn]
  const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
  encoder.addFeature([value, { type: 'Point', coordinates: [0, 0] }])
  return layerOf(encoder.finish().bytes)?.feature(0) as VectorTileFeature
}

function rowOf(kind: TileColumn['kind'], cell: Buffer, rest: Partial<TileColumn> = {}): VectorTileFeature {
  const columns = [{ name: 'a', kind, ...rest }, geometryColumn]
  const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
  const bytes = Buffer.concat([Buffer.from('x'), cell, wkbPoint(1, 2)])
  encoder.addRow(bytes, Int32Array.of(1, 1 + cell.length, 1 + cell.length, bytes.length))
  return layerOf(encoder.finish().bytes)?.feature(0) as VectorTileFeature
}

function wkbPoint(x: number, y: number): Buffer {
  const bytes = Buffer.alloc(21)
  bytes.writeUInt8(1)
  bytes.writeUInt32LE(1, 1)
  bytes.writeDoubleLE(x, 5)
  bytes.writeDoubleLE(y, 13)
  return bytes
}

/** WKB from bytes (u8), counts (u32) and doubles, in either order. */
function wkb(isLittle: boolean, ...parts: (['u8' | 'u32' | 'f64', number] | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.map((part) => {
      if (Buffer.isBuffer(part)) return part
      const [type, value] = part
      const bytes = Buffer.alloc({ u8: 1, u32: 4, f64: 8 }[type])
      if (type === 'u8') bytes.writeUInt8(value)
      else if (type === 'u32') isLittle ? bytes.writeUInt32LE(value) : bytes.writeUInt32BE(value)
      else isLittle ? bytes.writeDoubleLE(value) : bytes.writeDoubleBE(value)
      return bytes
    }),
  )
}

const pointOf = (isLittle: boolean, type: number, numbers: number[], srid?: number): Buffer =>
  wkb(
    isLittle,
    ['u8', isLittle ? 1 : 0],
    ['u32', type],
    ...(srid === undefined ? [] : [['u32', srid] as ['u32', number]]),
    ...numbers.map((number) => ['f64', number] as ['f64', number]),
  )

describe('geometry in a tile', () => {
  test('a point lies where web mercator puts it', () => {
    const tile = { z: 10, x: 536, y: 345 }
    const value = { type: 'Point', coordinates: [8.5417, 50.3769] }
    const [x, y] = draw(value, { tile, projection: 'lonlat' })?.paths[0]?.[0] ?? []
    const size = 4096 * 2 ** 10
    assert.equal(x, Math.round((8.5417 / 360 + 0.5) * size) - 536 * 4096)
    const latitude = (50.3769 * Math.PI) / 180
    assert.equal(y, Math.round((0.5 - Math.asinh(Math.tan(latitude)) / (2 * Math.PI)) * size) - 345 * 4096)
  })

  test('the polynomial for latitudes gives the same units as the formula, on every zoom and near the poles', () => {
    for (let z = 0; z <= 22; z++) {
      for (const share of [0, 0.013, 0.31, 0.5, 0.77, 0.999]) {
        const tile = { z, x: Math.floor(2 ** z / 3), y: Math.floor(2 ** z * share) }
        const size = 4096 * 2 ** z
        for (let step = 0; step < 40; step++) {
          const unit = -60.25 + step * 105.5
          const y = (tile.y * 4096 + unit) / size
          const latitude = (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI
          if (Math.abs(latitude) > 85.05) continue
          const longitude = ((tile.x + 0.5) / 2 ** z - 0.5) * 360
          const value = { type: 'Point', coordinates: [longitude, latitude] }
          const drawn = draw(value, { tile, projection: 'lonlat' })?.paths[0]?.[0]?.[1] as number
          assert.ok(Math.abs(drawn - unit) <= 0.5 + 1e-4, `${z}/${tile.y} ${unit} → ${drawn}`)
        }
      }
    }
  })

  test('what is too small to be drawn is half a pixel wide where rows stand for others, and left out elsewhere', () => {
    const line = geometry('LineString', [
      [100.2, 200],
      [100.4, 200.3],
    ])
    const area = geometry('Polygon', [
      [
        [100, 200],
        [101, 200],
        [101, 200.2],
        [100, 200],
      ],
    ])
    const columns: TileColumn[] = [geometryColumn, { name: 'svc_count', kind: 'integer', isCount: true }]
    const shown = [line, area].map((value) => {
      const encoder = createTileEncoder({ tile: world, projection: 'mercator', columns, buffer: 0 })
      encoder.addFeature([value, 7])
      const feature = layerOf(encoder.finish().bytes)?.feature(0)
      return feature && pathsOf(feature)
    })
    assert.deepEqual(shown, [
      [
        [
          [98, 200],
          [102, 200],
        ],
      ],
      [
        [
          [98, 200],
          [102, 200],
          [102, 204],
          [98, 204],
          [98, 200],
        ],
      ],
    ])
    for (const value of [line, area]) assert.equal(draw(value), undefined)
  })

  test('latitudes beyond the map are drawn at its edge', () => {
    const value = {
      type: 'MultiPoint',
      coordinates: [
        [0, 90],
        [0, -90],
      ],
    }
    assert.deepEqual(draw(value, { projection: 'lonlat' })?.paths, [[[2048, 0]], [[2048, 4096]]])
  })

  test('points are kept to the edge of the buffer and not beyond', () => {
    const place = (x: number) => draw(geometry('Point', [x, 2000]), { tile: { z: 1, x: 0, y: 0 } })?.paths[0]?.[0]?.[0]
    assert.equal(place(2048 + 32), 4160)
    assert.equal(place(2048 + 32.4), undefined)
  })

  test('a line that leaves the tile and comes back is cut into parts', () => {
    const tile = { z: 1, x: 0, y: 0 }
    const line = geometry('LineString', [
      [1000, 100],
      [3000, 100],
      [3000, 500],
      [1000, 500],
    ])
    assert.deepEqual(draw(line, { tile })?.paths, [
      [
        [2000, 200],
        [4160, 200],
      ],
      [
        [4160, 1000],
        [2000, 1000],
      ],
    ])
  })

  test('a line with only one vertex outside is cut into two parts', () => {
    const line = geometry('LineString', [
      [1500, 100],
      [2500, 300],
      [1500, 500],
    ])
    const { paths } = draw(line, { tile: { z: 1, x: 0, y: 0 } }) ?? { paths: [] }
    assert.deepEqual(paths, [
      [
        [3000, 200],
        [4160, 432],
      ],
      [
        [4160, 768],
        [3000, 1000],
      ],
    ])
  })

  test('a line through the tile with both ends outside is cut at both', () => {
    const line = geometry('LineString', [
      [-500, 0],
      [4596, 4096],
    ])
    const { paths } = draw(line, { tile: { z: 2, x: 1, y: 1 } }) ?? { paths: [] }
    assert.equal(paths.length, 1)
    const [start, end] = [paths[0]?.[0], paths[0]?.at(-1)]
    assert.deepEqual([start?.[0], end?.[0]], [-64, 4160])
  })

  test('lines lose repeated points and points on the way, but not a turn back; lines without length vanish', () => {
    const line = geometry('LineString', [
      [1, 1],
      [1, 1],
      [2, 2],
      [5, 5],
      [3, 3],
      [3, 9],
    ])
    assert.deepEqual(draw(line)?.paths, [
      [
        [1, 1],
        [5, 5],
        [3, 3],
        [3, 9],
      ],
    ])
    assert.equal(
      draw(
        geometry('LineString', [
          [1, 1],
          [1.2, 1.1],
        ]),
      ),
      undefined,
    )
  })

  test('outer rings have a positive area and holes a negative one, whatever the winding of the source', () => {
    const outer = [
      [10, 10],
      [10, 100],
      [100, 100],
      [100, 10],
      [10, 10],
    ]
    const hole = [
      [20, 20],
      [20, 50],
      [50, 50],
      [50, 20],
      [20, 20],
    ]
    for (const [a, b] of [
      [outer, hole],
      [outer.toReversed(), hole],
      [outer, hole.toReversed()],
    ]) {
      const drawn = draw(geometry('Polygon', [a, b]))
      assert.equal(drawn?.type, 3)
      assert.deepEqual(drawn?.paths.map(signedArea), [8100, -900])
    }
  })

  test('the holes of a ring that vanished vanish too, and a hole without area leaves its ring', () => {
    const speck = [
      [10, 10],
      [10.1, 10],
      [10, 10.1],
      [10, 10],
    ]
    const ring = [
      [20, 20],
      [20, 50],
      [50, 50],
      [50, 20],
      [20, 20],
    ]
    const small = [
      [10, 10.2],
      [10.1, 10],
      [11, 10.1],
      [10, 10.2],
    ]
    assert.equal(draw(geometry('Polygon', [speck, small])), undefined)
    assert.equal(draw(geometry('Polygon', [ring, speck]))?.paths.length, 1)
  })

  test('rings lose points on straight stretches, also at their start, and spikes', () => {
    const ring = [
      [20, 10],
      [30, 10],
      [30, 20],
      [30, 60],
      [30, 30],
      [10, 30],
      [10, 10],
      [15, 10],
      [20, 10],
    ]
    const [path] = draw(geometry('Polygon', [ring]))?.paths ?? []
    assert.deepEqual([...new Set(path?.map(String))].sort(), ['10,10', '10,30', '30,10', '30,30'])
  })

  test('a polygon around the tile fills it to the buffer, and one that only surrounds it is not there', () => {
    const tile = { z: 3, x: 3, y: 3 }
    const around = [
      [0, 0],
      [4096, 0],
      [4096, 4096],
      [0, 4096],
      [0, 0],
    ]
    assert.equal(signedArea(draw(geometry('Polygon', [around]), { tile })?.paths[0] ?? []), 4224 ** 2)
    const hole = [
      [1000, 1000],
      [3000, 1000],
      [3000, 3000],
      [1000, 3000],
      [1000, 1000],
    ]
    assert.equal(draw(geometry('Polygon', [around, hole]), { tile }), undefined)
    const horseshoe = [
      [1000, 1000],
      [3000, 1000],
      [3000, 3000],
      [2900, 3000],
      [2900, 1100],
      [1100, 1100],
      [1100, 3000],
      [1000, 3000],
      [1000, 1000],
    ]
    assert.equal(draw(geometry('Polygon', [horseshoe]), { tile }), undefined)
  })

  test('of a collection only the highest dimension is drawn, as ST_AsMVTGeom does', () => {
    const line = geometry('LineString', [
      [1, 1],
      [9, 5],
    ])
    const nested = { type: 'GeometryCollection', geometries: [line, geometry('Point', [7, 7])] }
    const value = { type: 'GeometryCollection', geometries: [geometry('Point', [3, 3]), nested, line] }
    assert.deepEqual(draw(value), {
      type: 2,
      paths: [
        [
          [1, 1],
          [9, 5],
        ],
        [
          [1, 1],
          [9, 5],
        ],
      ],
    })
  })

  test('what runs over the date line is drawn in each copy of the world', () => {
    const line = {
      type: 'LineString',
      coordinates: [
        [170, 0],
        [190, 0],
      ],
    }
    const at = (x: number) => draw(line, { tile: { z: 3, x, y: 4 }, projection: 'lonlat' })?.paths
    assert.deepEqual(at(7), [
      [
        [Math.round((35 / 45) * 4096), 0],
        [4160, 0],
      ],
    ])
    assert.deepEqual(at(0), [
      [
        [-64, 0],
        [Math.round((10 / 45) * 4096), 0],
      ],
    ])
    const back = {
      type: 'Polygon',
      coordinates: [
        [
          [-190, -5],
          [-170, -5],
          [-170, 5],
          [-190, 5],
          [-190, -5],
        ],
      ],
    }
    assert.ok(draw(back, { tile: { z: 3, x: 7, y: 3 }, projection: 'lonlat' }))
    assert.ok(draw(back, { tile: { z: 3, x: 0, y: 3 }, projection: 'lonlat' }))
    assert.equal(draw(back, { tile: { z: 3, x: 3, y: 3 }, projection: 'lonlat' }), undefined)
  })

  test('the buffer shows what lies beyond the date line', () => {
    const point = { type: 'Point', coordinates: [-179.99, 10] }
    const east = draw(point, { tile: { z: 5, x: 31, y: 15 }, projection: 'lonlat' })
    assert.ok((east?.paths[0]?.[0]?.[0] ?? 0) >= 4096)
    assert.equal(draw({ ...point, coordinates: [-179.99, 0] }, { projection: 'lonlat', buffer: 64 })?.paths.length, 2)
  })
})

describe('WKB', () => {
  const place = (bytes: Buffer) => draw(bytes, { projection: 'lonlat' })?.paths[0]?.[0]
  const expected = place(wkbPoint(10, 20))

  test('is read in both byte orders, with SRID, and Z and M in the manner of ISO and of PostGIS', () => {
    assert.ok(expected)
    for (const isLittle of [true, false]) {
      for (const [type, numbers] of [
        [1, [10, 20]],
        [1001, [10, 20, 5]],
        [2001, [10, 20, 5]],
        [3001, [10, 20, 5, 6]],
        [0x80000001, [10, 20, 5]],
        [0x40000001, [10, 20, 5]],
        [0xc0000001, [10, 20, 5, 6]],
      ] as [number, number[]][]) {
        assert.deepEqual(place(pointOf(isLittle, type, numbers)), expected)
        if (type < 1000 || type > 4000) {
          assert.deepEqual(place(pointOf(isLittle, (type | 0x20000000) >>> 0, numbers, 4326)), expected)
        }
      }
    }
  })

  test('polyhedral surfaces and triangles are polygons', () => {
    const ring = [
      [0, 0],
      [40, 0],
      [0, 40],
      [0, 0],
    ]
      .flat()
      .map((n) => ['f64', n] as ['f64', number])
    const triangle = (type: number) => wkb(true, ['u8', 1], ['u32', type], ['u32', 1], ['u32', 4], ...ring)
    const surface = (type: number, member: number) => wkb(true, ['u8', 1], ['u32', type], ['u32', 1], triangle(member))
    for (const bytes of [triangle(17), surface(16, 17), surface(15, 3)])
      assert.equal(draw(bytes, { projection: 'lonlat' })?.type, 3)
  })

  test('a row whose geometry is null, empty, curved, not finite, cut off or nested too deep is counted as invalid', () => {
    const count = (n: number) => ['u32', n] as ['u32', number]
    const bomb = Array.from({ length: 5000 }, () => wkb(true, ['u8', 1], count(7), count(1)))
    const bad: [string, unknown][] = [
      ['null', null],
      ['text', 'POINT(1 1)'],
      ['nothing', Buffer.alloc(0)],
      ['an empty point', pointOf(true, 1, [Number.NaN, Number.NaN])],
      ['an empty line', wkb(true, ['u8', 1], count(2), count(0))],
      ['an empty collection', wkb(true, ['u8', 1], count(7), count(0))],
      ['a curve', wkb(true, ['u8', 1], count(8), count(2), ['f64', 0], ['f64', 0], ['f64', 1], ['f64', 1])],
      ['one NaN', pointOf(true, 1, [Number.NaN, 1])],
      ['infinity', pointOf(true, 1, [1, Number.POSITIVE_INFINITY])],
      ['far away', pointOf(true, 1, [1e300, 1])],
      ['cut off', wkbPoint(1, 1).subarray(0, 20)],
      ['a false count', wkb(true, ['u8', 1], count(2), count(0xffffffff), ['f64', 1], ['f64', 1])],
      ['an unknown type', pointOf(true, 99, [1, 1])],
      ['an unknown byte order', Buffer.concat([Buffer.of(7), wkbPoint(1, 1).subarray(1)])],
      ['a bomb', Buffer.concat([...bomb, wkbPoint(1, 1)])],
      ['GeoJSON without coordinates', { type: 'Point' }],
      ['GeoJSON of an unknown type', { type: 'Circle', coordinates: [1, 2] }],
      ['GeoJSON with text', { type: 'Point', coordinates: ['1', '2'] }],
    ]
    for (const [name, value] of bad) {
      const { invalid, seen, shown, bytes } = encode([value], { projection: 'lonlat' })
      assert.deepEqual({ invalid, seen, shown, size: bytes.length }, { invalid: 1, seen: 1, shown: 0, size: 0 }, name)
    }
  })

  test('that was changed at random neither throws, nor hangs, nor takes memory', () => {
    const numbers = Array.from({ length: 40 }, (_, k) => (k % 2 === 0 ? Math.cos(k / 2) : Math.sin((k - 1) / 2)) * 50)
    const ring = numbers.map((number) => ['f64', number] as ['f64', number])
    const polygon = wkb(true, ['u8', 1], ['u32', 3], ['u32', 2], ['u32', 20], ...ring, ['u32', 20], ...ring)
    const line = wkb(true, ['u8', 1], ['u32', 2], ['u32', 20], ...ring)
    const collection = wkb(true, ['u8', 1], ['u32', 7], ['u32', 4], polygon, line, wkbPoint(1, 1), polygon)
    const start = process.memoryUsage().rss
    for (let round = 0; round < 60; round++) {
      const tile = { z: random(20), x: 0, y: 0 }
      const encoder = createTileEncoder({ tile, projection: 'lonlat', columns: [geometryColumn] })
      for (let run = 0; run < 1000; run++) encoder.addFeature([mutant([polygon, line, collection][run % 3] as Buffer)])
      const { bytes, seen } = encoder.finish()
      assert.equal(seen, 1000)
      const layer = layerOf(bytes)
      for (let index = 0; index < (layer?.length ?? 0); index++) layer?.feature(index).loadGeometry()
    }
    assert.ok(process.memoryUsage().rss - start < 200 * 2 ** 20)
  })
})

let state = 7
function random(below: number): number {
  state = (state * 48271) % 2147483647
  return Math.floor((state / 2147483647) * below)
}

/** The bytes with some changed, most of them among the first, where most of the sense is, and sometimes cut off. */
function mutant(original: Buffer): Buffer {
  const bytes = Buffer.from(original)
  for (let change = random(4); change >= 0; change--) {
    const at = random(random(2) === 0 ? 20 : bytes.length)
    bytes[at] = random(2) === 0 ? random(256) : (bytes[at] as number) ^ (1 << random(8))
  }
  return random(8) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
}

describe('attributes in a tile', () => {
  const int8 = (value: bigint) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(value)
    return bytes
  }
  const double = (value: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return bytes
  }
  const valueIn = (feature: VectorTileFeature) => feature.properties.a

  test('integers of any size come back as they were, as text where a reader would lose digits', () => {
    for (const value of [0, 1, -1, 127, 128, -300, 2 ** 31, -(2 ** 40), 2 ** 53 - 1, -(2 ** 53 - 1), -(2 ** 52) - 1]) {
      assert.equal(valueIn(rowOf('integer', int8(BigInt(value)))), value)
      assert.equal(valueIn(attributesOf('integer', value)), value)
      assert.equal(valueIn(attributesOf('integer', BigInt(value))), value)
      assert.equal(valueIn(rowOf('decimal', Buffer.from(String(value)))), value)
    }
    assert.equal(valueIn(rowOf('integer', int8(2n ** 53n))), '9007199254740992')
    assert.equal(valueIn(rowOf('integer', int8(-(2n ** 63n)))), '-9223372036854775808')
    assert.equal(valueIn(rowOf('integer', Buffer.of(0xff, 0xfe))), -2)
    assert.equal(valueIn(rowOf('integer', Buffer.of(0, 0, 1, 0))), 256)
  })

  test('numbers are doubles, a float4 a float, and what is not finite is text as in the JSON of a query', () => {
    for (const value of [0.1, -1e300, 5e-324, 3]) assert.equal(valueIn(rowOf('number', double(value))), value)
    assert.equal(valueIn(rowOf('number', Buffer.of(0x3d, 0xcc, 0xcc, 0xcd))), Math.fround(0.1))
    assert.equal(valueIn(rowOf('number', double(Number.NaN))), 'NaN')
    assert.equal(valueIn(attributesOf('number', Number.NEGATIVE_INFINITY)), '-Infinity')
  })

  test('decimals are numbers when a double holds them and text otherwise', () => {
    const read = (text: string) => valueIn(rowOf('decimal', Buffer.from(text)))
    assert.equal(read('12.50'), 12.5)
    assert.equal(read('-0.1'), -0.1)
    assert.equal(read('12345678901234567890'), '12345678901234567890')
    assert.equal(read('0.12345678901234567890'), '0.12345678901234567890')
    assert.equal(read('NaN'), 'NaN')
  })

  test('text, booleans, objects and dates come back; null is left out', () => {
    assert.equal(valueIn(rowOf('text', Buffer.from('Zürich 🗺'))), 'Zürich 🗺')
    assert.equal(valueIn(attributesOf('text', 'x'.repeat(100_000))), 'x'.repeat(100_000))
    assert.equal(valueIn(rowOf('boolean', Buffer.of(1))), true)
    assert.equal(valueIn(rowOf('boolean', Buffer.of(0))), false)
    assert.equal(valueIn(attributesOf('text', { a: [1] })), '{"a":[1]}')
    assert.equal(valueIn(attributesOf('text', new Date(0))), '1970-01-01T00:00:00.000Z')
    assert.deepEqual({ ...attributesOf('text', null).properties }, {})
  })

  test('the key is the id when it is a non-negative integer, and a property unless it is hidden', () => {
    const key = (value: unknown, rest = {}) => attributesOf('integer', value, { isKey: true, ...rest })
    assert.equal(key(7).id, 7)
    assert.deepEqual({ ...key(7).properties }, { a: 7 })
    assert.deepEqual({ ...key(7, { isHidden: true }).properties }, {})
    assert.equal(key(2 ** 53 - 1).id, 2 ** 53 - 1)
    for (const value of [-1, 1.5, null, 2n ** 53n]) assert.equal(key(value).id, undefined)
    assert.equal(rowOf('decimal', Buffer.from('42'), { isKey: true }).id, 42)
    assert.equal(rowOf('integer', int8(2n ** 40n), { isKey: true }).id, 2 ** 40)
    assert.equal(rowOf('integer', int8(-5n), { isKey: true }).id, undefined)
    assert.equal(attributesOf('text', '7', { isKey: true }).id, undefined)
  })

  test('equal values are written once, and 200 000 different ones come back as they were', () => {
    const columns: TileColumn[] = [{ name: 'a', kind: 'text' }, { name: 'b', kind: 'integer' }, geometryColumn]
    const point = wkbPoint(1, 1)
    const fill = (count: number, text: (index: number) => string) => {
      const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
      for (let index = 0; index < count; index++) encoder.addFeature([text(index), index % 5, point])
      return encoder.finish().bytes
    }
    const few = fill(1000, (index) => `value ${index % 3}`)
    assert.equal(few.toString('latin1').split('value ').length - 1, 3)
    const layer = layerOf(fill(200_000, (index) => `value ${index}`))
    assert.equal(layer?.length, 200_000)
    assert.deepEqual({ ...layer?.feature(77).properties }, { a: 'value 77', b: 2 })
    for (let index = 0; index < 200_000; index++) {
      const { a, b }: Record<string, unknown> = layer?.feature(index).properties ?? {}
      if (a !== `value ${index}` || b !== index % 5) assert.fail(`${index} became ${a}, ${b}`)
    }
  })

  test('a column that begins with different values and goes on with one is not written again and again', () => {
    const columns: TileColumn[] = [{ name: 'a', kind: 'text' }, geometryColumn]
    const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
    const point = wkbPoint(1, 1)
    for (let index = 0; index < 40_000; index++)
      encoder.addFeature([index < 20_000 ? `first ${index}` : 'later', point])
    assert.ok(encoder.finish().bytes.toString('latin1').split('later').length - 1 < 10)
  })
})

describe('a tile', () => {
  const columns: TileColumn[] = [
    { name: 'id', kind: 'integer', isKey: true },
    { name: 'name', kind: 'text' },
    geometryColumn,
  ]
  const rows = Array.from({ length: 500 }, (_, id) => [id, `name ${id % 50}`, wkbPoint((id % 300) - 150, 0)])

  test('without features is empty', () => {
    assert.equal(encode([]).bytes.length, 0)
  })

  test('has version 2, its name and its extent', () => {
    const layer = new VectorTile(new PbfReader(encode([wkbPoint(1, 1)], { layer: 'roads', extent: 512 }).bytes)).layers
      .roads
    assert.deepEqual([layer?.version, layer?.name, layer?.extent], [2, 'roads', 512])
  })

  test('takes no more features than it may, and says how many were offered', () => {
    const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns, maxFeatures: 10 })
    assert.deepEqual(
      rows.slice(0, 12).map((row) => encoder.addFeature(row)),
      [...Array(10).fill(true), false, false],
    )
    const { shown, seen, bytes } = encoder.finish()
    assert.deepEqual([shown, seen, layerOf(bytes)?.length], [10, 12, 10])
  })

  test('never becomes larger than it may, and holds only what its features use', () => {
    for (let maxBytes = 20; maxBytes < 3000; maxBytes += 37) {
      const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns, maxBytes })
      let added = 0
      while (added < rows.length && encoder.addFeature(rows[added] as unknown[])) added++
      const { bytes, shown } = encoder.finish()
      assert.ok(bytes.length <= maxBytes)
      assert.equal(shown, added)
      const again = createTileEncoder({ tile: world, projection: 'lonlat', columns })
      for (const row of rows.slice(0, added)) again.addFeature(row)
      assert.deepEqual(again.finish().bytes, bytes)
    }
  })

  test('tells how its bytes fall to the columns', () => {
    const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
    for (const row of rows) encoder.addFeature(row)
    const { bytes, bytesPerColumn } = encoder.finish()
    const sum = bytesPerColumn.reduce((a, b) => a + b, 0)
    assert.ok(sum < bytes.length && sum > bytes.length * 0.6)
    assert.ok(bytesPerColumn.every((size) => size > 0))
  })

  test('that is encoded while another is under way does not mix with it', () => {
    const make = () => createTileEncoder({ tile: world, projection: 'lonlat', columns })
    const alone = make()
    for (const row of rows) alone.addFeature(row)
    const expected = alone.finish().bytes
    const [first, second] = [make(), make()]
    for (const [index, row] of rows.entries()) {
      first.addFeature(row)
      second.addFeature(rows[rows.length - 1 - index] as unknown[])
    }
    assert.deepEqual(first.finish().bytes, expected)
    assert.notDeepEqual(second.finish().bytes, expected)
  })

  test('stays as it is once it is finished, whatever is encoded later', () => {
    const encoder = createTileEncoder({ tile: world, projection: 'lonlat', columns })
    for (const row of rows) encoder.addFeature(row)
    const bytes = Buffer.from(encoder.finish().bytes)
    const later = createTileEncoder({ tile: world, projection: 'lonlat', columns })
    for (const row of rows.toReversed()) later.addFeature(row)
    assert.equal(encoder.addFeature(rows[0] as unknown[]), false)
    assert.deepEqual(encoder.finish().bytes, bytes)
    assert.equal(later.finish().shown, 500)
  })

  test('is covered by its four children', () => {
    const ring = Array.from({ length: 41 }, (_, k) => [Math.cos((k * Math.PI) / 20), Math.sin((k * Math.PI) / 20)])
    const shapes = Array.from({ length: 60 }, (_, index) => ({
      type: 'Polygon',
      coordinates: [
        ring.map(([x = 0, y = 0]) => [
          ((index * 37) % 300) - 150 + x * (1 + (index % 9)),
          ((index * 53) % 120) - 60 + y * 5,
        ]),
      ],
    }))
    const area = (tile: EncoderOptions['tile']) => {
      const layer = layerOf(encode(shapes, { tile, projection: 'lonlat', buffer: 0 }).bytes)
      let sum = 0
      for (let index = 0; index < (layer?.length ?? 0); index++) {
        for (const path of pathsOf(layer?.feature(index) as VectorTileFeature)) sum += signedArea(path)
      }
      return sum
    }
    for (const tile of [world, { z: 1, x: 1, y: 0 }, { z: 2, x: 2, y: 2 }]) {
      const children = [0, 1, 2, 3].map((n) => ({ z: tile.z + 1, x: tile.x * 2 + (n % 2), y: tile.y * 2 + (n >> 1) }))
      const covered = children.reduce((sum, child) => sum + area(child), 0) / 4
      assert.ok(Math.abs(covered - area(tile)) < 0.02 * area(tile), `${covered} ${area(tile)}`)
    }
  })

  test('can be had as GeoJSON in degrees', () => {
    const encoder = createTileEncoder({ tile: { z: 4, x: 8, y: 5 }, projection: 'lonlat', columns })
    encoder.addFeature([3, 'a', { type: 'Point', coordinates: [10, 50] }])
    const { features } = tileAsGeoJson(encoder.finish().bytes, { z: 4, x: 8, y: 5 })
    const [feature] = features
    assert.deepEqual([features.length, feature?.id, { ...feature?.properties }], [1, 3, { id: 3, name: 'a' }])
    const [x = 0, y = 0] = (feature?.geometry as { coordinates: number[] } | undefined)?.coordinates ?? []
    assert.ok(Math.abs(x - 10) < 0.01 && Math.abs(y - 50) < 0.01)
    assert.deepEqual(tileAsGeoJson(Buffer.alloc(0), world).features, [])
  })
})
