// Ranks and places of rows for the thinning of tiles. The engine has no functions that tell a coordinate: points are read from
// their text, and the boxes of shapes come from the file's covering, or from their text where there is none.
import { ident, joinSql, raw, type Sql, sql } from '../../../kernel/db/sql.ts'
import type { Thinning } from '../../../query/execution/dialect.ts'
import type { Attribute } from '../../../query/values/attribute.ts'
import type { DuckdbTable } from './package.ts'
import { type GeometryFacts, side } from './spatial.ts'

/** Hashes have 64 bits, ranks 31. */
const rankMask = raw(String(2 ** 31 - 1))

export function thinningOf(table: DuckdbTable | undefined, facts: GeometryFacts): Thinning {
  const { withPositions, version, rows, columns = [] } = table ?? {}
  const geometries = columns.flatMap(({ geometry }) => geometry ?? [])
  return {
    ...(withPositions && { from: ident(withPositions) }),
    // Where rows have no position all that is shown of them: equal rows are then shown together, or none of them.
    rank: (attributes) =>
      withPositions
        ? sql`(hash(q.svc_row) & ${rankMask})::BIGINT`
        : sql`(hash(${joinSql(attributes.map(hashable), ', ')}) & ${rankMask})::BIGINT`,
    place: (geometry) => positionOf(geometry, facts),
    ...(version && { version }),
    ...(typeof rows === 'number' && { rows }),
    isSorted: geometries.some(({ covering, hasGroupBoxes }) => covering || hasGroupBoxes),
  }
}

const hashable = ({ name, type }: Attribute): Sql =>
  type === 'geometry' ? sql`ST_AsWKB(q.${ident(name)})` : sql`q.${ident(name)}`

function positionOf(geometry: Attribute, facts: GeometryFacts): ReturnType<Thinning['place']> {
  const covering = facts.get(geometry.name)?.covering
  if (covering) {
    const [west, south, east, north] = [covering.xmin, covering.ymin, covering.xmax, covering.ymax].map(
      (path) => sql`${side(path)}::DOUBLE`,
    ) as [Sql, Sql, Sql, Sql]
    return boxPosition(west, south, east, north)
  }
  const text = sql`ST_AsText(q.${ident(geometry.name)})`
  if (geometry.isPoint) return pointPosition(text)
  const numbers = (group: number): Sql =>
    sql`list_transform(regexp_extract_all(${text}, ${raw(`'(?:\\(|, )(-?[0-9.]+(?:e[-+]?[0-9]+)?) (-?[0-9.]+(?:e[-+]?[0-9]+)?)'`)}, ${raw(String(group))}), lambda v: v::DOUBLE)`
  const [xs, ys] = [numbers(1), numbers(2)]
  return boxPosition(sql`list_min(${xs})`, sql`list_min(${ys})`, sql`list_max(${xs})`, sql`list_max(${ys})`)
}

/** `POINT (8.5 47.4)`, `POINT Z (8.5 47.4 400)`; `POINT EMPTY` has no place. */
function pointPosition(text: Sql): ReturnType<Thinning['place']> {
  const inside = sql`split_part(${text}, '(', 2)`
  const part = (number: number): Sql =>
    sql`TRY_CAST(rtrim(split_part(${inside}, ' ', ${raw(String(number))}), ')') AS DOUBLE)`
  return { x: part(1), y: part(2), width: raw('0') }
}

const boxPosition = (west: Sql, south: Sql, east: Sql, north: Sql): ReturnType<Thinning['place']> => ({
  x: sql`(${west} + ${east}) / 2`,
  y: sql`(${south} + ${north}) / 2`,
  width: sql`greatest(${east} - ${west}, ${north} - ${south})`,
})
