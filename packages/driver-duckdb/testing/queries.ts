/** Queries that only an end by force stops, or that need more memory than there is; all of them pass the check. */

/** A text of 2 ^ `doublings` letters. */
export const longText = (doublings: number): string =>
  `SELECT s FROM (WITH RECURSIVE d(n, s) AS (
     SELECT 0, 'a' UNION ALL SELECT n + 1, s || s FROM d WHERE n < ${doublings}
   ) SELECT s FROM d WHERE n = ${doublings})`

/** One call of a function that takes minutes and does not notice an interrupt. */
export const stubborn = `SELECT s LIKE '%a%a%a%a%a%a%b' ESCAPE '\\' AS r FROM (${longText(16)})`

/** Heeds an interrupt. */
export const endless =
  'SELECT count(*) AS n FROM range(100000000) a, range(100000000) b WHERE a.range % 7 = b.range % 11'

/** Values that DuckDB's own limit of memory does not count. */
export const memoryBombs = [
  `SELECT sum(length(s || range)) AS n FROM (${longText(27)}), range(1000)`,
  `SELECT length(s) AS n FROM (${longText(40)})`,
  `SELECT length(list(s || range)::VARCHAR) AS n FROM (${longText(20)}), range(10000)`,
  `SELECT len(list(range)) AS n FROM range(1000000000)`,
]
