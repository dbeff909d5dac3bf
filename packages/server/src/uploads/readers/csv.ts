import { layoutOfFile } from './csv-layout.ts'
import { readRows } from './csv-rows.ts'
import type { RowRules } from './impossible-rows.ts'
import { layerNameOf, type Reader, type Warning } from './reader.ts'
import { createRecordReader } from './record-reader.ts'
import { createTableSource } from './table-source.ts'
import { kind, kindsOfText } from './type-inference.ts'

type CsvOptions = { fileName: string; warnings?: readonly Warning[]; window?: number; rules?: RowRules }

/** CSV, TSV and their like in UTF-8. */
export async function openCsv(
  file: string,
  { fileName, warnings = [], window, rules = {} }: CsvOptions,
): Promise<Reader> {
  const layout = await layoutOfFile(file)
  const { delimiter } = layout
  const hasDecimalComma = delimiter !== ','
  const windowed = window === undefined ? {} : { window }
  return createRecordReader(
    'csv',
    [layerNameOf(fileName)],
    () =>
      createTableSource(layout, (signal, take) => readRows(file, { delimiter, signal, take, ...windowed }), {
        kindsOf: (cell) => (typeof cell === 'string' ? kindsOfText(cell, hasDecimalComma) : kind.none),
        warnings,
        delimiter,
        isStrict: rules.strict === true,
      }),
    rules,
  )
}
