/**
 * Scroll anchoring: the rows at the top of the viewport stay where they are when rows before them come or go. At the beginning of
 * the table they move, so that new rows are seen there.
 */
import { useLayoutEffect, useRef } from 'react'
import type { RowPages } from '../rows/row-pages.ts'
import type { Row, RowId } from '../selection.ts'

type Id = RowId | undefined
type IdAt = (index: number) => Id

/** Some of the anchors may be gone themselves. */
const anchors = 6
/** How far rows are looked for: as far as they are loaded around the viewport. */
const radius = 400

export interface ScrollAnchorOptions {
  pages: RowPages<Row>
  /** The first visible row. */
  first: number
  idOf(row: Row | undefined): Id
  /** Scrolls by so many rows. */
  shift(rows: number): void
}

export function useScrollAnchor({ pages, first, idOf, shift }: ScrollAnchorOptions): void {
  const before = useRef<{ pages: RowPages<Row>; first: number; ids: Id[] }>(null)
  // Before the frame is painted, so that nothing is seen to jump.
  useLayoutEffect(() => {
    const idAt = (index: number) => idOf(pages.row(index))
    const last = before.current
    const rows = last?.pages === pages && last.first === first && first > 0 ? movedBy(last.ids, first, idAt) : 0
    const at = first + rows
    before.current = { pages, first: at, ids: Array.from({ length: anchors }, (_, place) => idAt(at + place)) }
    if (rows !== 0) shift(rows)
  })
}

/** By how many rows the first anchor that is still there has moved. */
export function movedBy(ids: readonly Id[], first: number, idAt: IdAt): number {
  if (ids[0] === undefined || idAt(first) === ids[0]) return 0
  for (const [place, id] of ids.entries()) {
    const index = id === undefined ? undefined : nearest(id, first + place, idAt)
    if (index !== undefined) return index - first - place
  }
  return 0
}

function nearest(id: Id, from: number, idAt: IdAt): number | undefined {
  for (let distance = 0; distance <= radius; distance++) {
    if (idAt(from + distance) === id) return from + distance
    if (distance <= from && idAt(from - distance) === id) return from - distance
  }
  return undefined
}
