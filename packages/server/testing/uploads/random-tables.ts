/** Random tables such as uploads make: odd names, every type, extreme values, and geometries of all kinds. */
import fc from 'fast-check'
import { columnNames } from '../../src/data/uploads/load/column-names.ts'

export type RandomColumn = { readonly name: string; readonly type: keyof typeof values; readonly isNull: boolean }
type Shapes = { readonly type: string; readonly srid: number; readonly wkt: readonly string[] }
export type RandomTable = {
  readonly columns: readonly RandomColumn[]
  readonly geometry: Shapes | undefined
  /** By column; texts that PostgreSQL reads. */
  readonly rows: readonly Record<string, unknown>[]
}

/** The first of each is what it seems to be in whatever format: no guess mistakes it. */
const values = {
  text: [
    ...[
      'plain',
      '',
      ' ',
      ' a ',
      'a,b;"c"\'d',
      'line\nand\r\nline',
      '007',
      '12',
      '1,5',
      'true',
      '2024-01-31',
      '10:20:30',
    ],
    ...[
      'NULL',
      'N/A',
      '-',
      '=1+1',
      "'x",
      'ü 東京 🌍',
      '<b>&amp;</b> ]]>',
      'x'.repeat(300),
      '{"a":1}',
      '[1]',
      'POINT(1 2)',
    ],
    ...['\\N', '_x0041_', '\t', '0b0e1c9e-5f5c-4a52-9d0e-0a4c5b1f6a01', 'a\tb', 'yes', '\u00a0'],
  ],
  integer: [7, 0, -1, 2_147_483_647, -2_147_483_648],
  bigint: ['9007199254740993', 0, 1, '9223372036854775807', '-9223372036854775808', '1234567890123456'],
  'double precision': [0.5, 0, -0.1, 1e300, 5e-324, 1.7976931348623157e308, 123456789.12345679, 3, 1e21, -1e-7],
  'numeric(12,3)': ['0.125', '0.000', '-1.500', '999999999.999', '-999999999.999'],
  'numeric(30,10)': ['0.0000000001', '12345678901234567890.1234567891', '-1.5000000000', '3.0000000000'],
  boolean: [true, false],
  date: ['2024-02-29', '0001-01-01', '9999-12-31', '1899-12-31', '1970-01-01'],
  'time without time zone': ['10:20:30', '00:00:00', '23:59:59.999999', '12:00:00.5', '00:00:01.000001'],
  'timestamp without time zone': [
    '2024-02-29T10:20:30.123456',
    '0001-01-01T00:00:00',
    '9999-12-31T23:59:59.999999',
    '2024-01-31T00:00:00',
  ],
  'timestamp with time zone': ['2024-02-29T10:20:30.123456Z', '1969-12-31T23:59:59.999Z', '2024-01-31T00:00:00Z'],
  uuid: ['0b0e1c9e-5f5c-4a52-9d0e-0a4c5b1f6a01', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  jsonb: [{ a: [1, 'ü'], b: null }, [], {}, [1, [2]], 'text', 5, true, { '': '' }],
  bytea: ['\\x00ff10', '\\x', '\\xdeadbeef'],
} as const

const oddNames = [
  ...[
    'id',
    'ID',
    'gid',
    'ogc_fid',
    'fid',
    'FID',
    'geom',
    'geometry',
    'the_geom',
    'wkt',
    'bbox',
    'name',
    'Name',
    'title',
    'type',
  ],
  ...[
    'properties',
    'select',
    'user',
    'table',
    'x',
    'y',
    'lat',
    'lon',
    'date',
    'folder',
    'description',
    'rowid',
    'oid',
    'ctid',
  ],
  ...[
    'grüße',
    '名前',
    '2024',
    '1',
    '_',
    '__proto__',
    'constructor',
    'Ünï',
    'a_very_long_name_of_more_than_ten_letters',
  ],
  ...[
    'ä'.repeat(31),
    'a'.repeat(63),
    'a'.repeat(62),
    'column',
    'when',
    'feature_id',
    'xmin',
    'north',
    'south',
    'OBJECTID',
  ],
]

const shapes = {
  points: { type: 'Point', srid: 4326, wkt: ['POINT(7.5 46.25)', 'POINT EMPTY', 'POINT(-180 90)', 'POINT(0.1 -0.2)'] },
  highPoints: { type: 'PointZ', srid: 4326, wkt: ['POINT Z (7.5 46.25 500.5)', 'POINT Z (1 2 -3)'] },
  multiPolygons: {
    type: 'MultiPolygon',
    srid: 4326,
    wkt: ['MULTIPOLYGON(((0 0,10 0,10 10,0 10,0 0),(2 2,2 4,4 4,4 2,2 2)))', 'MULTIPOLYGON EMPTY'],
  },
  lines: {
    type: 'LineString',
    srid: 3067,
    wkt: ['LINESTRING(385000 6672000,385001.5 6672000.125)', 'LINESTRING EMPTY'],
  },
  mixed: {
    type: 'Geometry',
    srid: 4326,
    wkt: [
      ...['POINT(7.5 46.25)', 'LINESTRING(0 0,1 1,2 0)', 'POLYGON((0 0,10 0,10 10,0 0))', 'MULTIPOINT((1 2),(3 4))'],
      ...[
        'MULTILINESTRING((0 0,1 1),(5 5,6 6,7 5))',
        'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))',
        'POLYGON EMPTY',
      ],
    ],
  },
} satisfies Record<string, Shapes>

/** Column names that an upload makes of odd ones. */
const nameLists = fc.uniqueArray(
  fc.oneof(fc.constantFrom(...oddNames), fc.string({ unit: 'grapheme', maxLength: 12 })),
  {
    minLength: 14,
    maxLength: 18,
  },
)

const types = Object.keys(values) as RandomColumn['type'][]

const columnLists = nameLists.chain((names) =>
  fc.tuple(
    ...columnNames(names).map((name, index) =>
      fc.record({
        name: fc.constant(name),
        type: index < types.length ? fc.constant(types[index] as RandomColumn['type']) : fc.constantFrom(...types),
        isNull: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
      }),
    ),
  ),
)

export type TableKind = keyof typeof shapes | 'none' | 'empty'
export const tableKinds: readonly TableKind[] = [...(Object.keys(shapes) as (keyof typeof shapes)[]), 'none', 'empty']

export function randomTable(kind: TableKind, seed: number): RandomTable {
  const geometry: Shapes | undefined = kind === 'none' ? undefined : shapes[kind === 'empty' ? 'multiPolygons' : kind]
  const arbitrary = columnLists.chain((columns) =>
    rowLists(columns, geometry, kind === 'empty' ? 0 : 4 + (seed % 20)).map((rows) => ({ columns, geometry, rows })),
  )
  const [table] = fc.sample(arbitrary, { seed, numRuns: 1 })
  return table as RandomTable
}

function rowLists(columns: readonly RandomColumn[], geometry: Shapes | undefined, count: number) {
  const cells = columns.map(({ type, isNull }) =>
    isNull
      ? fc.constant(null)
      : fc.oneof(fc.constant(null), { weight: 4, arbitrary: fc.constantFrom(...(values[type] as readonly unknown[])) }),
  )
  const shape = geometry
    ? fc.oneof(fc.constant(null), { weight: 4, arbitrary: fc.constantFrom(...geometry.wkt) })
    : fc.constant(null)
  const keys = fc.uniqueArray(fc.bigInt({ min: 1n, max: 2n ** 40n }), { minLength: count, maxLength: count })
  const rows = fc.array(fc.tuple(shape, ...cells), { minLength: count, maxLength: count })
  return fc.tuple(keys, rows).map(([fids, drawn]) =>
    drawn.map(([place, ...row], at) => {
      const cell = (column: RandomColumn, index: number): unknown =>
        at === 0 && !column.isNull ? values[column.type][0] : row[index]
      const named = columns.map((column, index) => [column.name, cell(column, index)] as const)
      // Of mixed geometries at least two kinds.
      const wkt = at === 0 ? geometry?.wkt[0] : at === 1 && geometry?.type === 'Geometry' ? geometry.wkt[2] : place
      return {
        fid: String(fids[at]),
        ...Object.fromEntries(named),
        ...(geometry && { geom: wkt ? `SRID=${geometry.srid};${wkt}` : null }),
      }
    }),
  )
}
