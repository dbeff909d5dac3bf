// Rows of CSV with a header.
import { invalid } from '../../../kernel/errors.ts'
import type { EditTable } from '../writing/edit-table.ts'
import { type CsvRecord, csvRecords } from './csv-records.ts'
import type { InputRow } from './input-row.ts'

export function* csvRows(bytes: Buffer, { columns }: Pick<EditTable, 'columns'>): Generator<InputRow> {
  let names: readonly string[] | undefined
  for (const { fields, line } of csvRecords(bytes.toString(), columns.size)) {
    if (names) yield csvRow(names, fields, `body/line ${line}`)
    else names = headerOf(fields)
  }
}

function headerOf(fields: CsvRecord['fields']): string[] {
  const names = new Set<string>()
  for (const field of fields) {
    const name = field ?? ''
    if (names.has(name)) throw invalid('body/line 1', `must not name the column "${name.slice(0, 100)}" twice`)
    names.add(name)
  }
  return [...names]
}

function csvRow(names: readonly string[], fields: CsvRecord['fields'], path: string): InputRow {
  const cells = names.map((name, index) => ({
    name,
    value: fields[index] ?? null,
    path: `${path}/${name.slice(0, 100)}`,
  }))
  for (const cell of cells) if (cell.value?.includes('\0')) throw invalid(cell.path, 'must not contain NUL')
  return { path, cells, isFeature: false, isText: true }
}
