import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readClipboardTable, writeClipboardCell } from './clipboard-table.ts'

test('a block from a spreadsheet is read as it was copied, with tabs, line breaks and quotes in its cells', () => {
  const blocks: [string, string[][]][] = [
    ['Oak', [['Oak']]],
    ['Oak\t12\nElm\t\n', [['Oak', '12'], ['Elm', '']]],
    ['Oak\r\nElm\r\n', [['Oak'], ['Elm']]],
    ['"two\nlines"\t"a ""tall"" one"\r\nx\ty', [['two\nlines', 'a "tall" one'], ['x', 'y']]],
    ['5" pipe\t"open', [['5" pipe', '"open']]],
    ['', [['']]],
    ['\n\n', [[''], ['']]],
  ] // biome-ignore format: a block a line
  for (const [text, rows] of blocks) assert.deepEqual(readClipboardTable(text), rows, JSON.stringify(text))
})

test('a cell that is copied is read again as it was', () => {
  for (const text of ['plain', 'a\tb', 'two\nlines', 'a "tall" one', ''])
    assert.deepEqual(readClipboardTable(writeClipboardCell(text)), [[text]])
})
