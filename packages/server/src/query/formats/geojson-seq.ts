import type { OutputColumn, RowFormat } from './cell.ts'
import { featureWriter } from './geojson.ts'
import { objectWriter } from './json.ts'

/** RFC 7464: each text begins with a record separator, so that a reader finds the next after a damaged one. */
const recordSeparator = '\u001e'

/** A GeoJSON text sequence (RFC 8142), or lines of JSON objects where the rows have no geometry. */
export function geojsonSeqFormat(
  columns: readonly OutputColumn[],
  idName: string | undefined,
  isShown: (name: string) => boolean,
): RowFormat {
  const lines = { begin: '', separator: '', end: '' }
  if (columns.some(({ type }) => type === 'geometry')) {
    const write = featureWriter(columns, idName, isShown)
    const row: RowFormat['row'] = (cells) => `${recordSeparator}${write(cells)}\n`
    return { ...lines, contentType: 'application/geo+json-seq', row }
  }
  const kept = columns.flatMap((column, index) => (isShown(column.name) ? [{ column, index }] : []))
  const write = objectWriter(kept.map(({ column }) => column))
  const row: RowFormat['row'] = (cells) => `${write(kept.map(({ index }) => cells[index] ?? null))}\n`
  return { ...lines, contentType: 'application/x-ndjson; charset=utf-8', row }
}
