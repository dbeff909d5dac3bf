/** Vertical virtualization: the visible rows and the scroll position. scroll-scale.ts handles tables longer than a browser can scroll. */
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { createScrollScale, type ScrollPosition } from './scroll-scale.ts'

const coarse = matchMedia('(pointer: coarse)')
/** Must equal the design token --row. */
export const rowHeight = coarse.matches ? 40 : 28
/** How long the row number stays visible after a jump. */
const jumpMs = 700
const overscan = 4

export interface GridScroll {
  element: RefObject<HTMLDivElement | null>
  /** The height of the inner element. */
  height: number
  /** The first and last visible row. */
  first: number
  last: number
  /** The rendered rows: a few more than the visible ones. */
  drawn: readonly [number, number]
  /** The offset of the rendered rows in the inner element. */
  offset: number
  pageRows: number
  /** The scroll bar is dragged, or the table jumped. */
  isJumping: boolean
  onScroll(): void
  /** Scrolls to a row unless it is visible. */
  showRow(row: number, isCentred?: boolean): void
  toTop(): void
  /** Scrolls by so many rows. */
  shift(rows: number): void
}

export function useGridScroll(rows: number, headHeight: number): GridScroll {
  const element = useRef<HTMLDivElement>(null)
  const [viewport, setViewport] = useState(560)
  const [place, setPlace] = useState<ScrollPosition>({ top: 0, scrollTop: 0 })
  const [isJumping, setJumping] = useState(false)
  const calm = useRef<ReturnType<typeof setTimeout>>(undefined)
  const scale = useMemo(() => createScrollScale(rows * rowHeight, viewport), [rows, viewport])
  useEffect(() => observeHeight(element.current, (height) => setViewport(Math.max(rowHeight, height - headHeight))))
  useEffect(() => () => clearTimeout(calm.current), [])
  // Syncs the scroll bar after the table became shorter or jumped.
  useLayoutEffect(() => {
    const bar = element.current
    if (bar && Math.abs(bar.scrollTop - place.scrollTop) > 1) bar.scrollTop = place.scrollTop
  }, [place])
  useLayoutEffect(() => {
    setPlace((before) => (before.top > rows * rowHeight - viewport ? scale.place(before.top) : before))
  }, [scale, rows, viewport])
  const noteJump = () => {
    setJumping(true)
    clearTimeout(calm.current)
    calm.current = setTimeout(() => setJumping(false), jumpMs)
  }
  const onScroll = () => {
    const scrollTop = element.current?.scrollTop ?? 0
    if (Math.abs(scrollTop - place.scrollTop) < 1) return
    if (Math.abs(scrollTop - place.scrollTop) > viewport) noteJump()
    setPlace(scale.follow(place, scrollTop))
  }
  const showRow = (row: number, isCentred = false) => {
    const top = row * rowHeight
    if (top >= place.top && top + rowHeight <= place.top + viewport) return
    const nearest = top < place.top ? top : top + rowHeight - viewport
    setPlace(scale.place(isCentred ? top - viewport / 2 : nearest))
  }
  const toTop = () => setPlace(scale.place(0))
  const shift = (by: number) => setPlace((before) => scale.place(before.top + by * rowHeight))
  const first = Math.floor(place.top / rowHeight)
  const last = Math.max(0, Math.min(rows, Math.ceil((place.top + viewport) / rowHeight)) - 1)
  const drawn = [Math.max(0, first - overscan), Math.min(rows - 1, last + overscan)] as const
  const offset = drawn[0] * rowHeight - place.top + place.scrollTop
  const pageRows = Math.max(1, Math.floor(viewport / rowHeight) - 1)
  const moves = { onScroll, showRow, toTop, shift }
  return { element, height: scale.height, first, last, drawn, offset, pageRows, isJumping, ...moves }
}

function observeHeight(element: HTMLElement | null, onHeight: (height: number) => void): (() => void) | undefined {
  if (!element) return undefined
  const observer = new ResizeObserver(() => onHeight(element.clientHeight))
  observer.observe(element)
  return () => observer.disconnect()
}
