// Reads text rows into the tile encoder.
import type { TileColumn } from '../mvt/columns.ts'
import type { TileEncoder } from '../mvt/tile-encoder.ts'
import type { TileRows } from './tile-job.ts'

type Row = readonly (string | null)[]
type Cells = { readonly cells: Iterable<Row>; readonly geometry: 'ewkb' | 'geojson' }

/** Adds rows of texts: of the embedded database, and of sources without a database. Returns how many were left out. */
export function addCells(encoder: TileEncoder, { cells, geometry }: Cells, columns: readonly TileColumn[]): number {
  const readers = columns.map(({ kind }) =>
    kind === 'geometry' ? geometryReaders[geometry] : (textReaders[kind] ?? asText),
  )
  let refused = 0
  for (const row of cells) {
    const values = row.map((cell, index) => (cell === null ? null : readers[index]?.(cell)))
    if (!encoder.addFeature(values)) refused++
  }
  return refused
}

/** A generator, so that only one row at a time is parsed. */
export function* chosenCells({
  bytes,
  starts,
  chosen,
  counts,
}: Extract<TileRows, { chosen: unknown }>): Generator<Row> {
  const all = Buffer.from(bytes)
  for (const [at, row] of chosen.entries()) {
    const cells = JSON.parse(all.toString('utf8', starts[row], starts[row + 1])) as Row
    yield counts ? [...cells, String(counts[at])] : cells
  }
}

type ReadText = (cell: string) => unknown

const asText: ReadText = (cell) => cell
const textReaders: Partial<Record<TileColumn['kind'], ReadText>> = {
  number: Number,
  boolean: (cell) => cell === 't' || cell === 'true',
}

const geometryReaders: Record<Cells['geometry'], ReadText> = {
  ewkb: (cell) => Buffer.from(cell, 'hex'),
  geojson: (cell) => {
    try {
      return JSON.parse(cell)
    } catch {
      return undefined
    }
  },
}
