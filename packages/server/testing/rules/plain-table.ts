// Random tables whose cells can be told apart: nearly every cell has a token that no other has, so that an answer shows where it comes from.
import { pick, type Random } from '../uploads/random.ts'

export type Kind =
  | 'int'
  | 'bigint'
  | 'text'
  | 'numeric'
  | 'bool'
  | 'date'
  | 'timestamptz'
  | 'jsonb'
  | 'text[]'
  | 'point'
  | 'polygon'

export type Corner = { readonly x: number; readonly y: number }

/** As this test thinks of a cell. A bigint is its digits, a polygon the corner of its square. */
export type PlainValue =
  | null
  | boolean
  | number
  | string
  | readonly string[]
  | Corner
  | { readonly [name: string]: unknown }

export type PlainRow = Readonly<Record<string, PlainValue>>

export type PlainTable = {
  readonly name: string
  readonly kinds: Readonly<Record<string, Kind>>
  readonly key: string | undefined
  readonly geometry: string
  readonly rows: readonly PlainRow[]
}

/** The side of the squares. */
export const side = 0.5

/** What rules compare with values of callers: some are what a filter reads as something else. */
export const teams = ['t1', 't2', 't3', 'null', '%', 't1,t2', '1', '{"$ne":""}'] as const

const digits = (random: Random, count: number): string =>
  String(Math.floor((1 + 9 * random()) * 10 ** (count - 1))).slice(0, count)

const day = (year: number, n: number): string => new Date(Date.UTC(year, 0, 1 + n)).toISOString().slice(0, 10)

export function randomTable(random: Random, name: string, count: number): PlainTable {
  const isPoint = random() < 0.5
  const kinds: Record<string, Kind> = {
    id_qz: pick(random, ['int', 'bigint', 'text'] as const),
    mark_qz: 'text',
    team_qz: 'text',
    level_qz: 'int',
    big_qz: 'bigint',
    price_qz: 'numeric',
    open_qz: 'bool',
    day_qz: 'date',
    at_qz: 'timestamptz',
    doc_qz: 'jsonb',
    tags_qz: 'text[]',
    geom_qz: isPoint ? 'point' : 'polygon',
  }
  const rows = Array.from({ length: count }, (_, n) => randomRow(random, n, kinds))
  return { name, kinds, key: random() < 0.75 ? 'id_qz' : undefined, geometry: 'geom_qz', rows }
}

function randomRow(random: Random, n: number, kinds: Readonly<Record<string, Kind>>): PlainRow {
  const orNull = <T>(value: T): T | null => (random() < 0.12 ? null : value)
  const team = orNull(pick(random, teams))
  const mark = `mk${n}q${digits(random, 5)}z`
  const number = 7_100_000 + 13 * n
  return {
    id_qz: kinds.id_qz === 'text' ? `id${n}q${digits(random, 4)}z` : kinds.id_qz === 'int' ? number : String(number),
    mark_qz: mark,
    team_qz: team,
    level_qz: orNull(Math.floor(5 * random())),
    big_qz: orNull(`90071992${digits(random, 8)}`),
    price_qz: orNull(Number(`${digits(random, 6)}.${digits(random, 3)}7`)),
    open_qz: orNull(random() < 0.5),
    day_qz: orNull(day(2011, n)),
    at_qz: orNull(`${day(2013, n)}T0${n % 10}:00:00.000000Z`),
    doc_qz: orNull({ tok: `dc${n}q${digits(random, 4)}z`, team }),
    tags_qz: orNull([`tg${n}q${digits(random, 4)}z`, ...(team === null ? [] : [team])]),
    geom_qz: orNull({
      x: Number(`${7 + (n % 3)}.${digits(random, 4)}7`),
      y: Number(`4${6 + (n % 2)}.${digits(random, 4)}7`),
    }),
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
const isCorner = (value: PlainValue): value is Corner => typeof value === 'object' && value !== null && 'x' in value

function literal(kind: Kind, value: PlainValue): string {
  if (value === null) return 'NULL'
  if (isCorner(value)) {
    const { x, y } = value
    return kind === 'point'
      ? `ST_Point(${x}, ${y}, 4326)`
      : `ST_MakeEnvelope(${x}, ${y}, ${x + side}, ${y + side}, 4326)`
  }
  if (Array.isArray(value)) return `ARRAY[${value.map((item) => quoted(String(item))).join(', ')}]::text[]`
  if (typeof value === 'object') return `${quoted(JSON.stringify(value))}::jsonb`
  return quoted(String(value))
}

const types: Partial<Record<Kind, string>> = { point: 'geometry(Point, 4326)', polygon: 'geometry(Polygon, 4326)' }

/** The statements that make the table. */
export function tableSql({ name, kinds, key, geometry, rows }: PlainTable): string {
  const columns = Object.entries(kinds).map(
    ([column, kind]) => `${column} ${types[kind] ?? kind}${column === key ? ' PRIMARY KEY' : ''}`,
  )
  const values = rows.map(
    (row) =>
      `(${Object.entries(kinds)
        .map(([column, kind]) => literal(kind, row[column] ?? null))
        .join(', ')})`,
  )
  return `CREATE TABLE ${name} (${columns.join(', ')}); INSERT INTO ${name} VALUES ${values.join(', ')};
    CREATE INDEX ON ${name} USING gist (${geometry}); ANALYZE ${name};`
}

/** What of an answer tells of a cell; nothing of one that many rows may have. */
export function tokensOf(column: string, value: PlainValue): string[] {
  if (value === null || column === 'team_qz' || column === 'level_qz' || column === 'open_qz') return []
  if (isCorner(value)) return [String(value.x), String(value.y)]
  if (Array.isArray(value)) return value.slice(0, 1).map(String)
  if (typeof value === 'object') return [String((value as { tok?: unknown }).tok)]
  return [column === 'at_qz' ? String(value).slice(0, 10) : String(value)]
}

const tokenForm = /(?:mk|dc|tg|id)\d+q\d+z|\d+\.\d+|\d{7,}|201[13]-\d\d-\d\d/g

export const tokensIn = (text: string): Set<string> => new Set(text.match(tokenForm) ?? [])
