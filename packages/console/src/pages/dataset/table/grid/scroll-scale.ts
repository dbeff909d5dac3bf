/**
 * Scrolls tables higher than browsers support (Firefox about 17.9 million pixels, Chromium 33.5): the scrolled element is
 * shorter than the table. Small steps move the rows by the same number of pixels; a large step, from dragging the bar, jumps
 * to the same fraction of the table. Every row is reachable, and the wheel keeps its precision.
 */

/** A height that all browsers support. */
const maxHeight = 8_000_000

export interface ScrollScale {
  /** The height of the inner element. */
  height: number
  /** The table's position after a scroll event. */
  follow(before: ScrollPosition, scrollTop: number): ScrollPosition
  /** The scroll position for a position of the table. */
  place(top: number): ScrollPosition
}

export interface ScrollPosition {
  /** The table's position, which may exceed what a browser can scroll. */
  top: number
  /** The element's scroll position. */
  scrollTop: number
}

/** The number of sections of the scroll range, each with its own offset between bar and table. */
const sectionCount = 100

export function createScrollScale(tableHeight: number, viewport: number, limit = maxHeight): ScrollScale {
  const height = Math.min(tableHeight, limit)
  const section = height / sectionCount
  const last = Math.max(1, Math.floor(tableHeight / section) - 1)
  const shiftOf = (top: number) =>
    height === tableHeight ? 0 : (Math.min(last, Math.floor(top / section)) * (tableHeight - height)) / last
  const place = (wanted: number): ScrollPosition => {
    const top = clamp(wanted, 0, Math.max(0, tableHeight - viewport))
    return { top, scrollTop: Math.round(top - shiftOf(top)) }
  }
  return {
    height,
    place,
    follow(before, scrollTop) {
      const step = scrollTop - before.scrollTop
      if (height === tableHeight) return { top: scrollTop, scrollTop }
      if (Math.abs(step) < viewport) return place(before.top + step)
      const top = (scrollTop * (tableHeight - viewport)) / (height - viewport)
      // The bar stays under the pointer.
      return { top: clamp(top, 0, tableHeight - viewport), scrollTop }
    },
  }
}

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))
