// The query of tiles from an engine without PostGIS.
import { raw, type Sql } from '../../../kernel/db/sql.ts'
import type { Thinning } from '../../../query/execution/dialect.ts'
import type { Plan } from '../../../query/plan/plan.ts'
import type { Definitions } from '../../../query/values/projection.ts'
import type { BlockSource } from '../../datasets/dataset-type.ts'
import type { DatasetLayer } from '../source/dataset-layer.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import { coordinatesOf, tileMargin } from '../sql/tile-sql.ts'
import { type BlockGrid, blockGrid } from './block-grid.ts'
import type { MakeTile } from './run-tile-strategy.ts'

/** The query of one tile; the columns follow the geometry. */
export type BlockQuery = {
  readonly source: BlockSource
  readonly columns: readonly SelectedColumn[]
  readonly values: readonly Sql[]
  /** The attributes of the values. */
  readonly names: readonly string[]
  readonly projection: Parameters<MakeTile>[2]
  readonly isPoint: boolean
  readonly thinning: Thinning
  /** Of a row of the relation with ranks. */
  readonly rank: Sql
  readonly grid: BlockGrid
  /** The relation with ranks, and the filter of all tiles. */
  readonly rowsFrom: Sql
  readonly filter: Sql
  /** The relation of rows that are in a box around the tile, and the condition that they are: of the tile and its buffer, or further. */
  inTile(margin?: number): { readonly from: Sql; readonly condition: Sql }
}

export type WantedBlocks = {
  readonly plan: Plan
  /** With the box of the tile and so much around it. */
  inTile(margin: number): Plan
  readonly columns: readonly SelectedColumn[]
}

const timeoutMs = 30_000

/**
 * Undefined if the engine cannot test the whole filter or the reference system is unknown: then rows are read as text.
 */
export async function blockQuery(
  source: BlockSource,
  { attributes, geometry }: DatasetLayer,
  { plan, inTile, columns }: WantedBlocks,
  signal: AbortSignal,
): Promise<BlockQuery | undefined> {
  const dialect = await source.connection.dialect({ ...source.subject, srid: 4326, timeoutMs, signal })
  const { thinning, definitions = {} } = dialect
  const projection = projectionOf(geometry, definitions)
  const { condition: filter, rest } = dialect.where(plan.where)
  if (!thinning || !projection || rest) return undefined
  const shown = [geometry, ...columns.flatMap(({ name }) => attributes.get(name) ?? [])] as const
  const rowsFrom = thinning.from ?? source.relation.from
  return {
    source,
    columns,
    values: shown.map(dialect.column),
    names: shown.map(({ name }) => name),
    projection,
    isPoint: Boolean(geometry.isPoint),
    thinning,
    rank: thinning.rank([...source.subject.attributes].filter(({ type }) => type !== 'json')),
    grid: blockGrid(geometry, thinning, definitions),
    rowsFrom,
    filter,
    // The engine tests bounding boxes only; the worker tests the shapes.
    inTile(margin = tileMargin) {
      const { where } = inTile(margin)
      return { from: dialect.scan?.(rowsFrom, where) ?? rowsFrom, condition: dialect.where(where).condition }
    },
  }
}

function projectionOf(
  geometry: DatasetLayer['geometry'],
  definitions: Definitions,
): BlockQuery['projection'] | undefined {
  if (coordinatesOf(geometry) === 'lonlat') return 'lonlat'
  const definition = definitions[geometry.srid ?? 0]
  // Plain WKB has no SRID.
  return definition && /^\s*\+proj=/.test(definition) ? { definitions: { 0: definition } } : undefined
}

export const whole = (number: number): Sql => raw(String(Math.round(number)))
