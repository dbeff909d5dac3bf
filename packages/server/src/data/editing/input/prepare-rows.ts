// Checks rows against their table, all faults at once, before the database sees them.
import { FaultCollector, maxFaults } from '../../../kernel/errors.ts'
import { unknownName } from '../../../kernel/nearest-name.ts'
import type { Connection } from '../../../query/execution/connection.ts'
import type { EditColumn, EditTable } from '../writing/edit-table.ts'
import { cellText } from './cell-text.ts'
import { type GeometryInput, type GeometryOptions, invalidFault, invalidSql } from './geometry-column.ts'
import type { InputCell, InputRow } from './input-row.ts'

export type PreparedRow = { readonly path: string; readonly cells: ReadonlyMap<EditColumn, string | null> }

export type PrepareOptions = GeometryOptions & {
  /** Columns that get a value though the row has none. */
  readonly filled?: ReadonlySet<string>
  /** The writer may not know the columns: a name that is none gets no hint. */
  readonly hidesColumns?: boolean
}

/** Collects what is wrong with rows. */
export type RowPreparation = { readonly faults: FaultCollector; readonly geometries: GeometryInput[] }

export const startPreparing = (): RowPreparation => ({ faults: new FaultCollector(), geometries: [] })

/** A row to insert, which must be whole. */
export function prepareNewRow(
  input: InputRow,
  table: EditTable,
  options: PrepareOptions,
  preparing: RowPreparation,
): PreparedRow {
  const row = prepareCells(input, table, options, preparing)
  const names = new Set(input.cells.map(({ name }) => name))
  for (const { name, isNotNull, hasDefault, identity, isGenerated } of table.columns.values()) {
    if (!isNotNull || hasDefault || identity || isGenerated || names.has(name) || options.filled?.has(name)) continue
    const message = 'is required: the column takes no null and has no default'
    preparing.faults.add({ path: `${input.path}/${name}`, code: 'required', message })
  }
  if (row.cells.size === 0 && input.cells.length === 0)
    preparing.faults.add({ path: input.path, code: 'invalid', message: 'must have at least one value' })
  return row
}

/** The cells that are given, whatever the others are. */
export function prepareCells(
  { path, cells, isText }: InputRow,
  { columns }: Pick<EditTable, 'columns'>,
  { repair, crs, hidesColumns = false }: PrepareOptions,
  { faults, geometries }: RowPreparation,
): PreparedRow {
  const prepared = new Map<EditColumn, string | null>()
  for (const cell of cells) {
    const column = columns.get(cell.name)
    const refusal = refusalOf(cell, column, hidesColumns ? undefined : columns)
    if (!column || refusal) {
      faults.add({ path: cell.path, code: column ? 'invalid' : 'unknown_column', message: refusal ?? '' })
      continue
    }
    const text = faults.attempt(() => cellText(column, cell.value, cell.path, { isText, repair, crs }))
    if (text === undefined) continue
    prepared.set(column, text)
    if (column.geometry && text !== null && !repair) geometries.push({ text, path: cell.path })
  }
  return { path, cells: prepared }
}

function refusalOf(
  { name }: InputCell,
  column: EditColumn | undefined,
  columns: EditTable['columns'] | undefined,
): string | undefined {
  if (!column) return columns ? unknownName('a column', name, columns.keys()) : 'is not a column'
  if (column.isGenerated) return 'is computed by the database: leave it out'
  if (column.identity === 'always') return 'is always given by the database (GENERATED ALWAYS): leave it out'
  return undefined
}

/** The key of a row as one text; undefined where a part is left to the database. */
export function keyText({ cells }: PreparedRow, { key }: Pick<EditTable, 'key'>): string | undefined {
  const parts = key.map((column) => cells.get(column))
  return key.length === 0 || parts.some((part) => typeof part !== 'string') ? undefined : JSON.stringify(parts)
}

export function finish({ faults }: RowPreparation): void {
  faults.finish()
}

/** Finds geometries that are not valid. Asked as a query of the application, with its limits: a large polygon takes long. */
export async function findInvalid(
  connection: Pick<Connection, 'select'>,
  { faults, geometries }: RowPreparation,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<void> {
  if (geometries.length === 0) return
  const options = { timeoutMs, signal, atMost: maxFaults, isTrusted: true, reads: 'page' } as const
  const { batches } = await connection.select(invalidSql(geometries), options)
  for await (const batch of batches) {
    for (const [n, reason] of batch) {
      const geometry = geometries[Number(n) - 1]
      if (geometry) faults.add(invalidFault(geometry, String(reason)))
    }
  }
}

/** Refuses them. */
export async function checkValidity(...parameters: Parameters<typeof findInvalid>): Promise<void> {
  await findInvalid(...parameters)
  finish(parameters[1])
}
