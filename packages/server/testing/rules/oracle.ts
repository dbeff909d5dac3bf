/**
 * What a caller may see, by rules evaluated on plain rows: written anew, from what rules are documented to mean, and with none of the code
 * that filters are made with.
 */
import { type Corner, type Kind, type PlainRow, type PlainTable, type PlainValue, side } from './plain-table.ts'

export type Condition = { readonly [name: string]: unknown }
export type OracleRule = {
  readonly roles?: readonly string[]
  readonly users?: 'signed-in' | 'anyone'
  readonly levels: readonly string[]
  readonly where?: Condition
  readonly attributes?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
}
export type Rules = { readonly rules: readonly OracleRule[] | null; readonly rulesFor: 'users' | 'all' }

export type OracleCaller = {
  readonly user?: { id: number; email: string; roles: readonly string[]; metadata: Condition }
  readonly keyMetadata?: Condition
}

/** Rows with the cells that are seen; null where a cell is masked. */
export type OracleView = {
  readonly isBound: boolean
  readonly columns: readonly string[]
  readonly rows: readonly { readonly row: PlainRow; readonly cells: PlainRow }[]
}

const allLevels = ['read', 'append', 'change', 'delete']
const isWhole = (rule: OracleRule): boolean =>
  !rule.where && !rule.attributes && !rule.set && allLevels.every((level) => rule.levels.includes(level))

function fittingRules({ rules }: Rules, { user }: OracleCaller): readonly OracleRule[] {
  return (rules ?? []).filter(
    ({ roles, users }) =>
      (user !== undefined || users === 'anyone') && (!roles || roles.some((role) => user?.roles.includes(role))),
  )
}

function isBound(all: Rules, caller: OracleCaller): boolean {
  if (all.rules === null || (all.rulesFor === 'users' && !caller.user)) return false
  return !fittingRules(all, caller).some(isWhole)
}

export function viewOf(table: PlainTable, all: Rules, caller: OracleCaller): OracleView {
  const names = Object.keys(table.kinds)
  if (!isBound(all, caller))
    return { isBound: false, columns: names, rows: table.rows.map((row) => ({ row, cells: row })) }
  const reading = fittingRules(all, caller).filter(({ levels }) => levels.includes('read'))
  const shows = (rule: OracleRule, name: string): boolean => rule.attributes?.includes(name) ?? true
  const columns = names.filter((name) => reading.some((rule) => shows(rule, name)))
  const rows = table.rows.flatMap((row) => {
    const holding = reading.filter((rule) => isRowOf(rule, table.kinds, row, caller))
    if (holding.length === 0) return []
    const cellOf = (name: string) => (holding.some((rule) => shows(rule, name)) ? (row[name] ?? null) : null)
    return [{ row, cells: Object.fromEntries(columns.map((name) => [name, cellOf(name)])) }]
  })
  return { isBound: true, columns, rows }
}

const isRowOf = (rule: OracleRule, kinds: PlainTable['kinds'], row: PlainRow, caller: OracleCaller): boolean =>
  rule.where === undefined || holds(rule.where, { kinds, row, caller }, false)

type Subject = { readonly kinds: PlainTable['kinds']; readonly row: PlainRow; readonly caller: OracleCaller }

/** Whether the condition is true, or, where it is negated, whether it is false. */
export function holds(where: Condition, subject: Subject, isNegated: boolean): boolean {
  const each = Object.entries(where).map(([name, value]) => {
    if (name === '$not') return holds(value as Condition, subject, !isNegated)
    if (name === '$and' || name === '$or') {
      const parts = (value as readonly Condition[]).map((part) => holds(part, subject, isNegated))
      return (name === '$and') === isNegated ? parts.some(Boolean) : parts.every(Boolean)
    }
    return holdsFor(name, value, subject, isNegated)
  })
  return isNegated ? each.some(Boolean) : each.every(Boolean)
}

function holdsFor(name: string, value: unknown, subject: Subject, isNegated: boolean): boolean {
  const operators = operatorsOf(value, subject.caller)
  const each = operators.map(([operator, operand]) =>
    operator === '$not'
      ? holdsFor(name, operand, subject, !isNegated)
      : leaf(subject.kinds[name] as Kind, subject.row[name] ?? null, operator, operand, subject.caller, isNegated),
  )
  return isNegated ? each.some(Boolean) : each.every(Boolean)
}

function operatorsOf(value: unknown, caller: OracleCaller): [string, unknown][] {
  if (isVariable(value)) return [[Array.isArray(resolve(value, caller)) ? '$in' : '$eq', value]]
  if (Array.isArray(value)) return [['$in', value]]
  return typeof value === 'object' && value !== null ? Object.entries(value) : [['$eq', value]]
}

const isVariable = (value: unknown): value is string => typeof value === 'string' && /^\$(user|key)\./.test(value)

/** Undefined for what the caller does not have, and for what is no value. */
function resolve(variable: string, { user, keyMetadata }: OracleCaller): unknown {
  let value: unknown = { user, key: { metadata: keyMetadata } }
  for (const part of variable.slice(1).split('.'))
    value =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Condition)[part] : undefined
  const isNothing = value === null || value === '' || value === 'null' || (Array.isArray(value) && value.length === 0)
  const isNested = Array.isArray(value) && value.some((item) => item === null || typeof item === 'object')
  return isNothing || isNested ? undefined : value
}

function leaf(
  kind: Kind,
  cell: PlainValue,
  operator: string,
  operand: unknown,
  caller: OracleCaller,
  isNegated: boolean,
): boolean {
  const given = resolved(operand, caller)
  if (given === undefined) return false
  const result = compared(kind, cell, operator, given)
  return result === undefined ? false : isNegated ? result === false : result === true
}

function resolved(operand: unknown, caller: OracleCaller): unknown {
  if (isVariable(operand)) return resolve(operand, caller)
  if (!Array.isArray(operand)) return operand
  const items = operand.flatMap((item) => resolved(item, caller))
  return items.includes(undefined) ? undefined : items
}

type Scalar = string | bigint | number | boolean

/** The operand as a value of the kind; undefined where it is none. */
const scalar = (kind: Kind, raw: unknown): Scalar | undefined => scalars[kind]?.(raw)

const isText = (raw: unknown): raw is string => typeof raw === 'string'

function wholeNumber(raw: unknown): bigint | undefined {
  const text = typeof raw === 'number' || isText(raw) ? String(raw) : ''
  return /^[+-]?\d{1,18}$/.test(text) ? BigInt(text) : undefined
}

function decimal(raw: unknown): number | undefined {
  if (typeof raw === 'number') return raw
  return isText(raw) && /^-?\d+(\.\d+)?$/.test(raw) ? Number(raw) : undefined
}

const truths: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 'true', 1, '1'].map((one) => [one, true] as const),
  ...[false, 'false', 0, '0'].map((one) => [one, false] as const),
])

const isDay = (raw: unknown): raw is string => isText(raw) && /^\d{4}-\d\d-\d\d/.test(raw)

const scalars: Partial<Record<Kind, (raw: unknown) => Scalar | undefined>> = {
  text: (raw) => (isText(raw) ? raw : Number.isSafeInteger(raw) ? String(raw) : undefined),
  int: wholeNumber,
  bigint: wholeNumber,
  numeric: decimal,
  bool: (raw) => truths.get(raw),
  date: (raw) => (isDay(raw) && raw.length === 10 ? raw : undefined),
  timestamptz: (raw) => (isDay(raw) ? new Date(raw).toISOString().replace('Z', '000Z') : undefined),
}

/** True, false or, for SQL's null, null; undefined where the operand cannot be compared. */
function compared(kind: Kind, cell: PlainValue, operator: string, operand: unknown): boolean | null | undefined {
  if (operator === '$is' && (operand === null || operand === 'null')) return cell === null
  if (kind === 'point' || kind === 'polygon') return inBox(kind, cell, operand)
  if (kind === 'jsonb') return containsTeam(cell, operand)
  if (kind === 'text[]') return comparedItems(cell, operator, operand)
  const isPart = operator === '$startsWith' || operator === '$substring'
  return isPart ? hasPart(cell, operator, operand) : comparedScalar(kind, cell, operator, operand)
}

function hasPart(cell: PlainValue, operator: string, operand: unknown): boolean | null | undefined {
  if (!isText(operand)) return undefined
  if (cell === null) return null
  return operator === '$startsWith' ? String(cell).startsWith(operand) : String(cell).includes(operand)
}

const takesList: readonly string[] = ['$in', '$notIn', '$between']

function comparedScalar(kind: Kind, cell: PlainValue, operator: string, operand: unknown): boolean | null | undefined {
  if (Array.isArray(operand) && !takesList.includes(operator)) return undefined
  const wanted = (Array.isArray(operand) ? operand : [operand]).map((item) => scalar(kind, item))
  if (wanted.includes(undefined) || (operator === '$between' && wanted.length !== 2)) return undefined
  if (cell === null) return null
  return comparisons[operator]?.(scalar(kind, cell) as Scalar, wanted as Scalar[])
}

const comparisons: Readonly<Record<string, (value: Scalar, wanted: readonly Scalar[]) => boolean>> = {
  $eq: (value, [wanted]) => value === wanted,
  $ne: (value, [wanted]) => value !== wanted,
  $is: (value, [wanted]) => value === wanted,
  $gt: (value, [wanted]) => value > (wanted as Scalar),
  $gte: (value, [wanted]) => value >= (wanted as Scalar),
  $lt: (value, [wanted]) => value < (wanted as Scalar),
  $lte: (value, [wanted]) => value <= (wanted as Scalar),
  $in: (value, wanted) => wanted.includes(value),
  $notIn: (value, wanted) => !wanted.includes(value),
  $between: (value, [least, most]) => value >= (least as Scalar) && value <= (most as Scalar),
}

function inBox(kind: Kind, cell: PlainValue, operand: unknown): boolean | null | undefined {
  const numbers = Array.isArray(operand) && operand.length === 4 ? operand.map(Number) : undefined
  if (!numbers?.every(Number.isFinite)) return undefined
  if (cell === null) return null
  const [west = 0, south = 0, east = 0, north = 0] = numbers
  if (south > north) return undefined
  const { x, y } = cell as Corner
  const size = kind === 'point' ? 0 : side
  return x <= east && x + size >= west && y <= north && y + size >= south
}

/** `$contains` of `{team}`, or of a text, which no document is. */
function containsTeam(cell: PlainValue, operand: unknown): boolean | null | undefined {
  if (cell === null) return null
  if (typeof operand !== 'object' || operand === null || Array.isArray(operand)) return false
  return Object.entries(operand).every(([name, value]) => (cell as Condition)[name] === value)
}

function comparedItems(cell: PlainValue, operator: string, operand: unknown): boolean | null | undefined {
  const wanted = (Array.isArray(operand) ? operand : [operand]).map((item) => scalar('text', item))
  if (wanted.includes(undefined)) return undefined
  if (cell === null) return null
  const items = cell as readonly string[]
  return operator === '$overlap'
    ? wanted.some((item) => items.includes(item as string))
    : wanted.every((item) => items.includes(item as string))
}
