// Rows of CSV with a header.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalid } from '../../../kernel/errors.ts'
import { limits } from '../../../kernel/limits/limits.ts'
import { findGuardedColumns, type GuardedColumns, withoutGuard } from '../../../query/formats/formula-guard.ts'
import type { EditTable } from '../writing/edit-table.ts'
import { type CsvRecord, csvRecords } from './csv-records.ts'
import type { InputCell, InputRow } from './input-row.ts'

type Names = Pick<EditTable, 'columns'>

/** Text that our own exports guard against spreadsheets comes back as it was, as it does in an upload. */
export async function* csvRows(bytes: Buffer, table: Names): AsyncGenerator<InputRow> {
  const text = bytes.toString()
  const guards = mayBeGuarded.test(text) ? await guardsOf(text, table) : undefined
  let names: readonly string[] | undefined
  for (const { fields, line } of csvRecords(text, table.columns.size)) {
    if (names) yield csvRow(names, guards ? unguarded(fields, guards) : fields, `body/line ${line}`)
    else names = headerOf(fields, table)
  }
}

/** Most bodies have no field that begins with an apostrophe. */
const mayBeGuarded = /(?:^|[,"\r\n])'/

/** How many records are looked at before others have a turn. */
const atOnce = 1_000

async function guardsOf(text: string, table: Names): Promise<GuardedColumns> {
  const guards = findGuardedColumns(table.columns.size)
  let isText: readonly boolean[] | undefined
  let count = 0
  for (const { fields } of csvRecords(text, table.columns.size)) {
    // More are refused.
    if (count > limits.writtenRows.value) break
    if (++count % atOnce === 0) await nextTurn()
    if (isText) noteTexts(fields, isText, guards)
    else isText = headerOf(fields, table).map((name) => guardedTypes.has(table.columns.get(name)?.type ?? ''))
  }
  return guards
}

/** Other values have no form that a spreadsheet would take for a formula. */
const guardedTypes: ReadonlySet<string> = new Set(['string', 'json'])

function noteTexts(fields: CsvRecord['fields'], isText: readonly boolean[], guards: GuardedColumns): void {
  for (const [place, field] of fields.entries()) if (field !== null && isText[place]) guards.note(place, field)
}

const unguarded = (fields: CsvRecord['fields'], guards: GuardedColumns): CsvRecord['fields'] =>
  fields.map((field, place) => (field !== null && guards.isGuarded(place) ? withoutGuard(field) : field))

function headerOf(fields: CsvRecord['fields'], { columns }: Names): string[] {
  const names = new Set<string>()
  for (const field of fields) {
    const given = field ?? ''
    const name = columns.has(given) ? given : withoutGuard(given)
    if (names.has(name)) throw invalid('body/line 1', `must not name the column "${name.slice(0, 100)}" twice`)
    names.add(name)
  }
  return [...names]
}

function csvRow(names: readonly string[], fields: CsvRecord['fields'], path: string): InputRow {
  const cells = names.map(
    (name, index): InputCell => ({
      name,
      value: fields[index] ?? null,
      path: `${path}/${name.slice(0, 100)}`,
    }),
  )
  for (const { value, path: at } of cells)
    if (typeof value === 'string' && value.includes('\0')) throw invalid(at, 'must not contain NUL')
  return { path, cells, isFeature: false, isText: true }
}
