import type { AttributeType } from '../values/attribute.ts'

/**
 * A value on its way from a source to an answer: text in the canonical form of its type, or null. Text, because a
 * JavaScript number would lose digits that a column has. Booleans are true and false, JSON, arrays and geometries (as
 * GeoJSON or WKT) are their text, bytes are base64.
 */
export type Cell = string | null

export type OutputColumn = { readonly name: string; readonly type: AttributeType }

/** How an answer is written: piece by piece, so that it never is in memory as a whole. */
export type RowFormat = {
  readonly contentType: string
  readonly begin: string
  readonly separator: string
  readonly end: string
  row(cells: readonly Cell[]): string
}
