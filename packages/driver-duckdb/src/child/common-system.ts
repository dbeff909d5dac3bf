import type { DuckdbColumn, DuckdbTable, GeometryFact } from '../messages.ts'

/**
 * The reference system of a query's geometry. DuckDB drops some that a file tells, but none of its functions changes one: where all
 * tables that are read agree, the answer is in their system.
 */
export function commonSystem(
  tables: ReadonlyMap<string, DuckdbTable>,
  names: readonly string[],
): (column: DuckdbColumn) => DuckdbColumn {
  const geometries = names.flatMap((name) =>
    (tables.get(name)?.columns ?? []).flatMap(({ geometry }) => geometry ?? []),
  )
  const [first] = geometries
  const isCommon = geometries.every(({ srid, system }) => srid === first?.srid && system === first.system)
  return (column) => {
    const { geometry } = column
    if (geometry?.srid !== 0 || geometry.system !== undefined || !first || !isCommon) return column
    return { ...column, geometry: { ...geometry, ...systemFields(first) } }
  }
}

const systemFields = ({ srid, system }: GeometryFact): Pick<GeometryFact, 'srid' | 'system'> => ({
  srid,
  ...(system !== undefined && { system }),
})
