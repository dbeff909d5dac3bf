/** Natural groups of numbers: the division into contiguous groups with the least squared distances to their means (k-means in one dimension). */

/**
 * Where each group but the first begins, for sorted values. By dynamic programming; the best begin of the last group never moves
 * left as values are added, so halves are solved apart: k n log n steps.
 */
export function naturalGroups(sorted: readonly number[], groups: number): number[] {
  const count = sorted.length
  const spread = spreadOf(sorted)
  let best = sorted.map((_, last) => spread(0, last))
  const begins: Uint32Array[] = []
  for (let group = 1; group < groups; group++) {
    const next = new Array<number>(count).fill(Number.POSITIVE_INFINITY)
    const begin = new Uint32Array(count)
    const solve = (low: number, high: number, from: number, to: number): void => {
      if (low > high) return
      const last = (low + high) >> 1
      for (let first = Math.max(from, group); first <= Math.min(to, last); first++) {
        const total = (best[first - 1] ?? 0) + spread(first, last)
        if (total >= (next[last] ?? 0)) continue
        next[last] = total
        begin[last] = first
      }
      const found = begin[last] ?? from
      solve(low, last - 1, from, found)
      solve(last + 1, high, found, to)
    }
    solve(group, count - 1, group, count - 1)
    begins.push(begin)
    best = next
  }
  const starts: number[] = []
  for (let last = count - 1, group = groups - 2; group >= 0; group--) {
    const start = begins[group]?.[last] ?? 0
    starts.unshift(start)
    last = start - 1
  }
  return starts
}

/** The sum of squared distances to the mean, of any range of the values. */
function spreadOf(sorted: readonly number[]): (first: number, last: number) => number {
  // Distances to a value in the middle: squares of large numbers would lose what tells them apart.
  const middle = sorted[sorted.length >> 1] ?? 0
  const sums = new Float64Array(sorted.length + 1)
  const squares = new Float64Array(sorted.length + 1)
  sorted.forEach((value, index) => {
    sums[index + 1] = (sums[index] ?? 0) + (value - middle)
    squares[index + 1] = (squares[index] ?? 0) + (value - middle) ** 2
  })
  return (first, last) => {
    const sum = (sums[last + 1] ?? 0) - (sums[first] ?? 0)
    return Math.max(0, (squares[last + 1] ?? 0) - (squares[first] ?? 0) - sum ** 2 / (last + 1 - first))
  }
}
