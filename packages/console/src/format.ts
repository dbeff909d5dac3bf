/** Formats numbers, sizes and times for the user's locale. */
const numbers = new Intl.NumberFormat()
const compactNumbers = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

/** 1 004 442 */
export const formatNumber = (value: number | bigint): string => numbers.format(value)

/** 1 M */
export const formatCompact = (value: number): string => compactNumbers.format(value)

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']
const wholeNumbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const shortNumbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Estimates of fewer rows are as good as counted. */
const aboutFrom = 1_000

/** "1 row", "about 1 000 000 rows" */
export function formatRows(rows: number): string {
  const text = `${formatNumber(rows)} ${rows === 1 ? 'row' : 'rows'}`
  return rows < aboutFrom ? text : `about ${text}`
}

/** 8.2 MB. Not by `Intl`, which writes "146 byte". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), byteUnits.length - 1)
  return `${(power > 1 ? shortNumbers : wholeNumbers).format(bytes / 1000 ** power)} ${byteUnits[power]}`
}

/** 16 Nov 2026, 12:30 */
export const formatDate = (date: string | Date): string => dates.format(new Date(date))

const relativeUnits = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** 2 min. ago */
export function formatRelative(date: string | Date, now: number = Date.now()): string {
  const seconds = (new Date(date).getTime() - now) / 1000
  const [unit, size] = relativeUnits.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return relative.format(Math.round(seconds / size), unit)
}

/** 42 ms, 3.1 s, 12.5 min, 3.4 h */
export function formatDuration(seconds: number): string {
  if (seconds < longSeconds) return formatMs(seconds * 1000)
  const minutes = seconds / 60
  return minutes < longMinutes ? `${shortNumbers.format(minutes)} min` : `${shortNumbers.format(minutes / 60)} h`
}

const longSeconds = 120
const longMinutes = 120

/** 42 ms, 3.1 s */
export const formatMs = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${numbers.format(Math.round(ms / 100) / 10)} s`
