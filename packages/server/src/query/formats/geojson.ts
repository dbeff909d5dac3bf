import type { Cell, OutputColumn, RowFormat } from './cell.ts'
import { jsonWriter, objectWriter } from './json.ts'
import { noteName } from './table-note.ts'

/** A FeatureCollection of RFC 7946, with a note of its columns for uploads where there is one. */
export function geojsonFormat(
  columns: readonly OutputColumn[],
  idName: string | undefined,
  isShown: (name: string) => boolean,
  note?: string,
): RowFormat {
  const member = note === undefined ? '' : `${JSON.stringify(noteName)}:${note},`
  return {
    contentType: 'application/geo+json; charset=utf-8',
    begin: `{"type":"FeatureCollection",${member}"features":[`,
    separator: ',\n',
    end: ']}\n',
    row: featureWriter(columns, idName, isShown),
  }
}

/** Cells → the text of a Feature. `idName` is the column that identifies a row; `isShown` tells the properties. */
export function featureWriter(
  columns: readonly OutputColumn[],
  idName: string | undefined,
  isShown: (name: string) => boolean,
): RowFormat['row'] {
  const geometryIndex = columns.findIndex(({ type }) => type === 'geometry')
  const idIndex = columns.findIndex(({ name }) => name === idName)
  const writeId = jsonWriter(columns[idIndex]?.type ?? 'string')
  const kept = columns
    .map((_, index) => index)
    .filter((index) => index !== geometryIndex && isShown(columns[index]?.name ?? ''))
  const writeProperties = objectWriter(kept.map((index) => columns[index] as OutputColumn))
  return (cells) => {
    const id = cells[idIndex] ?? null
    const properties = writeProperties(kept.map((index) => cells[index] as Cell))
    const identity = id === null ? '' : `"id":${writeId(id)},`
    return `{"type":"Feature",${identity}"geometry":${cells[geometryIndex] ?? 'null'},"properties":${properties}}`
  }
}
