// Reads rows of an engine as blocks for the tile threads.
import { raw, type Sql } from '../../../kernel/db/sql.ts'
import type { SelectOptions } from '../../../query/execution/select-options.ts'
import type { BlockSource } from '../../datasets/dataset-type.ts'
import { countColumn } from '../overviews/overview.ts'
import type { SelectedColumn } from '../sql/tile-columns.ts'
import type { MakeTile } from './run-tile-strategy.ts'

/** What making a tile of blocks needs, wherever its rows come from. */
export type BlockWork = {
  readonly make: MakeTile
  readonly zoom: number
  readonly shown: number
  /** Of each statement. */
  readonly limits: SelectOptions
}

/** The most bytes of rows in memory for one tile: a hundred times the largest tile. */
const maxBytes = 64 * 1024 * 1024

export async function readBlocks(
  connection: BlockSource['connection'],
  statement: Sql,
  { limits }: Pick<BlockWork, 'limits'>,
): Promise<{ blocks: Uint8Array[]; isWhole: boolean }> {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for await (const block of await connection.selectBlocks(statement, limits)) {
    blocks.push(block)
    bytes += block.length
    if (bytes > maxBytes) break
  }
  return { blocks, isWhole: bytes <= maxBytes }
}

/** The answer of a statement with one cell. */
export async function numberOf(
  connection: BlockSource['connection'],
  statement: Sql,
  { limits }: Pick<BlockWork, 'limits'>,
): Promise<number> {
  const { batches } = await connection.select(statement, { ...limits, atMost: 1 })
  return Number((await Array.fromAsync(batches)).flat(2)[0])
}

/** With what each feature stands for, unless the rows have an attribute of that name. */
export const withCounts = (columns: readonly SelectedColumn[]): readonly SelectedColumn[] =>
  columns.some(({ name }) => name === countColumn) ? columns : [...columns, svcCount]

const svcCount = { name: countColumn, kind: 'decimal' as const, value: raw('svc_count'), isBinary: false }
