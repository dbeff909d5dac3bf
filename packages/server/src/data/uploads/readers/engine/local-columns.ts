/**
 * What the values of a column are together, where people wrote them by the customs of their country. A column is typed only if all
 * its values are read in one way and no other; where two are left it stays text, and a warning says which upload field settles it.
 */
import { withoutGuard } from '../../../../query/formats/formula-guard.ts'
import type { FieldType, Warning } from '../reader.ts'
import type { DateOrder, DecimalMark, LocalRules } from '../table-rules.ts'
import { readCompactDate, readLocalDate } from './local-dates.ts'
import { plainDigits, readYesOrNo } from './local-numbers.ts'
import { fieldTypeOf, kind, localKinds } from './type-inference.ts'

/** How the values of a column are written. */
export type LocalFormat =
  | { of: 'date'; order: DateOrder | undefined }
  | { of: 'number'; decimal: DecimalMark }
  | { of: 'boolean' }
  /** Text with an apostrophe before what a spreadsheet would take for a formula. */
  | { of: 'guarded' }

/** `unsettled` says what cannot be told of a column that stays text for it. */
export type LocalColumn = {
  type: FieldType
  local?: LocalFormat
  unsettled?: 'date' | 'number'
  /** N/A and its like are null. */
  hasNullWords?: boolean
}

const integers = kind.int4 | kind.int8 | kind.huge | kind.inexact
const dates =
  kind.date | kind.timestamp | kind.dayFirst | kind.monthFirst | kind.dayOrMonth | kind.sureDate | kind.compactDate
const grouped = kind.groupPoint | kind.groupComma | kind.groupOnly | kind.blankGroups
const numbers =
  integers | kind.float | kind.longDecimal | kind.comma | grouped | kind.pointThree | kind.commaThree | kind.fraction

/** Kinds that each way to read numbers explains. */
const readable: Readonly<Record<DecimalMark, number>> = {
  '.':
    integers |
    kind.float |
    kind.longDecimal |
    kind.pointThree |
    kind.groupPoint |
    kind.groupOnly |
    kind.commaThree |
    kind.fraction |
    kind.blankGroups,
  ',':
    integers |
    kind.comma |
    kind.commaThree |
    kind.groupComma |
    kind.groupOnly |
    kind.pointThree |
    kind.fraction |
    kind.blankGroups,
}

/** Whether columns of a table have decimals behind commas, and none behind a point: then 1.000 in another may be a thousand. */
export function hasDecimalCommas(kinds: ArrayLike<number>, count: number): boolean {
  let all = 0
  for (let place = 0; place < count; place++) all |= kinds[place] ?? 0
  return (all & (kind.comma | kind.groupComma)) !== 0 && (all & (kind.float | kind.groupPoint)) === 0
}

/** The type of a column by the kinds of its values. Words for nothing are null among values of a type, and text among text. */
export function columnOf(kinds: number, rules: LocalRules = {}, isAmongCommas = false): LocalColumn {
  if ((kinds & kind.nullWord) === 0) return valuesOf(kinds, rules, isAmongCommas)
  const values = kinds & ~kind.nullWord
  const column = valuesOf(values, rules, isAmongCommas)
  if (column.type === 'json' || column.unsettled) return column
  return column.type === 'text' ? { type: 'text' } : { ...column, hasNullWords: true }
}

function valuesOf(kinds: number, rules: LocalRules, isAmongCommas: boolean): LocalColumn {
  if ((kinds & (localKinds | kind.comma)) === 0 || kinds & kind.json) return { type: fieldTypeOf(kinds) }
  if ((kinds & ~(kind.yes | kind.no | kind.boolean)) === 0) return truthsOf(kinds)
  // Eight digits beside other integers are integers.
  const isCompact = (kinds & kind.compactDate) !== 0 && (kinds & integers) === 0
  if (isCompact || (kinds & dates & ~kind.compactDate) !== 0) return datesOf(kinds, rules)
  return numbersOf(kinds & kind.compactDate ? (kinds & ~kind.compactDate) | kind.int4 : kinds, rules, isAmongCommas)
}

function truthsOf(kinds: number): LocalColumn {
  const isBoth = (kinds & kind.yes) !== 0 && (kinds & kind.no) !== 0
  return isBoth ? { type: 'boolean', local: { of: 'boolean' } } : { type: 'text' }
}

function datesOf(kinds: number, { dateOrder }: LocalRules): LocalColumn {
  const [isDayFirst, isMonthFirst] = [(kinds & kind.dayFirst) !== 0, (kinds & kind.monthFirst) !== 0]
  if ((kinds & ~(dates | kind.localTime)) !== 0 || (isDayFirst && isMonthFirst)) return { type: 'text' }
  if ((kinds & kind.dayOrMonth) !== 0 && !isDayFirst && !isMonthFirst) return { type: 'text', unsettled: 'date' }
  const order = dateOrder ?? (isDayFirst ? 'dmy' : isMonthFirst ? 'mdy' : undefined)
  return {
    type: kinds & (kind.localTime | kind.timestamp) ? 'timestamp' : 'date',
    local: { of: 'date', order },
  }
}

function numbersOf(kinds: number, { decimal }: LocalRules, isAmongCommas: boolean): LocalColumn {
  const fractions = kind.fraction | kind.float | kind.comma
  const isCode = (kinds & kind.blankGroups) !== 0 && (kinds & fractions) === 0
  if ((kinds & ~numbers) !== 0 || isCode) return { type: 'text' }
  const isPlain = (kinds & grouped) === 0
  const ways = (['.', ','] as const).filter((mark) => (kinds & ~readable[mark]) === 0 && mark === (decimal ?? mark))
  const [way] = ways
  if (way === undefined) return { type: 'text' }
  // 46.951 alone is a decimal, and so is 46,951 where the comma parts no columns (`comma` is not given otherwise).
  const isDoubtful = isAmongCommas && (kinds & kind.pointThree) !== 0
  if (ways.length === 2 && isPlain && (kinds & kind.commaThree) === 0 && !isDoubtful) return numberField('.', kinds)
  if (ways.length === 2 && (kinds & (kind.pointThree | kind.commaThree)) !== 0)
    return { type: 'text', unsettled: 'number' }
  return numberField(way, kinds)
}

function numberField(decimal: DecimalMark, kinds: number): LocalColumn {
  const long = kinds & kind.longDecimal
  const fractions =
    kind.float | kind.comma | kind.fraction | kind.longDecimal | (decimal === '.' ? kind.pointThree : kind.commaThree)
  const groups = grouped | (decimal === '.' ? kind.commaThree : kind.pointThree)
  const whole = kinds & integers ? kinds & integers : kind.int4
  const type = kinds & fractions ? fieldTypeOf((kinds & integers) | kind.float | long) : fieldTypeOf(whole)
  // Decimals without groups are read without a word.
  return kinds & groups ? { type, local: { of: 'number', decimal } } : { type }
}

/** A value of such a column as a computer writes it; null where it cannot be. */
export function plainValue(text: string, local: LocalFormat): string | boolean | null {
  if (local.of === 'guarded') return withoutGuard(text)
  if (text === '') return null
  if (local.of === 'boolean') return readYesOrNo(text) ?? /^true$/i.test(text)
  if (local.of === 'number') return plainDigits(text, local.decimal) ?? text
  const temporal = readLocalDate(text, local.order)?.temporal ?? readCompactDate(text)
  if (!temporal || temporal.kind === 'time') return text
  return isoText(temporal.days, 'micros' in temporal ? temporal.micros : undefined)
}

const dayMs = 86_400_000
const epochMs = Date.UTC(2000, 0, 1)

function isoText(days: number, micros: number | undefined): string {
  const date = new Date(epochMs + days * dayMs).toISOString().slice(0, 10)
  if (micros === undefined) return date
  const clock = new Date(Math.floor(micros / 1000)).toISOString().slice(11, 19)
  return `${date}T${clock}.${String(micros % 1_000_000).padStart(6, '0')}`
}

const orders: Readonly<Record<DateOrder, string>> = {
  dmy: 'day first, as in 31.01.2024',
  mdy: 'month first, as in 01/31/2024',
  ymd: 'year first, as in 24-01-31',
}

/** One warning for each way in which columns were read, or could not be. */
export function localWarnings(fields: readonly (LocalColumn & { readonly name: string })[]): Warning[] {
  const ways = new Map<string, { code: string; names: string[]; end: string }>()
  for (const { name, local, type, unsettled } of fields) {
    const said = unsettled ? unsettledText[unsettled] : local && localText(local, type)
    if (said === undefined) continue
    const code = unsettled ? 'ambiguous_values' : local?.of === 'guarded' ? 'guarded_formulas' : 'local_values'
    const way = ways.get(said) ?? { code, names: [], end: said }
    way.names.push(JSON.stringify(name))
    ways.set(said, way)
  }
  const emptied = fields.filter(({ hasNullWords }) => hasNullWords).map(({ name }) => JSON.stringify(name))
  if (emptied.length > 0) ways.set(nullText, { code: 'null_values', names: emptied, end: nullText })
  return [...ways.values()].map(({ code, names, end }) => {
    const shown = names.slice(0, 10).join(', ') + (names.length > 10 ? ` and ${names.length - 10} more` : '')
    return { code, message: `${names.length === 1 ? 'The column' : 'The columns'} ${shown}: ${end}` }
  })
}

const nullText =
  'texts such as N/A among the values were read as null. If that is wrong, say in the field nulls which ones are, or give the field types.'

const unsettledText = {
  date: 'all days are below 13, so the order of day and month cannot be told, and the dates stay text. Give the field dateOrder: dmy or mdy.',
  number:
    'whether comma and point part thousands or decimals cannot be told, so the numbers stay text. Give the field decimal: "," or ".".',
} as const

function localText(local: LocalFormat, type: FieldType): string {
  if (local.of === 'guarded')
    return 'an apostrophe before =, +, - or @, which keeps spreadsheets from taking text for a formula, was taken off. If that is wrong, give the field types.'
  if (local.of === 'boolean')
    return 'yes and no in words were read as true and false. If that is wrong, give the field types.'
  if (local.of === 'number') {
    const marks = local.decimal === '.' ? 'a decimal point, as in 1,234.50' : 'a decimal comma, as in 1.234,50'
    return `numbers with groups of thousands were read with ${marks}. If that is wrong, give the field decimal, or types.`
  }
  const what = type === 'date' ? 'dates' : 'dates and times'
  const order = local.order ? `${what} were read ${orders[local.order]}` : `text was read as ${what}`
  return `${order}. If that is wrong, give the field dateOrder, or types.`
}
