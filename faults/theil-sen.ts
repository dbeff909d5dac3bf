import { median } from '../bench/statistics.ts'

/** The slope of a line through points (Theil–Sen): the median of the slopes of all pairs, which single outliers do not move. */
export function theilSen(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).flatMap(([otherX, otherY]) => (otherX === x ? [] : [(otherY - y) / (otherX - x)])),
  )
  return slopes.length === 0 ? 0 : median(slopes)
}
