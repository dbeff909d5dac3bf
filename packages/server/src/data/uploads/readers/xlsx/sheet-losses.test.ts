import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { rowsOfReader } from '../../../../../testing/uploads/decoded-rows.ts'
import { zipOf } from '../../../../../testing/uploads/zip-of.ts'
import { openReader } from '../open-reader.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'losses-'))
})
after(() => rm(directory, { recursive: true }))

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const text = (cell: string, value: string) => `<c r="${cell}" t="inlineStr"><is><t>${value}</t></is></c>`

/** A workbook as openpyxl writes it. */
function workbook(sheets: Readonly<Record<string, readonly string[]>>): Buffer {
  const names = Object.keys(sheets)
  const list = names.map(
    (name, at) => `<sheet xmlns:r="${relations}" name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  )
  const targets = names.map(
    (_, at) =>
      `<Relationship Type="${relations}/worksheet" Target="/xl/worksheets/sheet${at + 1}.xml" Id="rId${at + 1}"/>`,
  )
  const parts: Record<string, string> = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Type="${relations}/officeDocument" Target="xl/workbook.xml" Id="rId1"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}"><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships">${targets.join('')}<Relationship Type="${relations}/styles" Target="styles.xml" Id="rId99"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><cellXfs count="1"><xf numFmtId="0"/></cellXfs></styleSheet>`,
  }
  for (const [at, rows] of Object.values(sheets).entries()) {
    const body = rows.map((row, index) => `<row r="${index + 1}">${row}</row>`).join('')
    parts[`xl/worksheets/sheet${at + 1}.xml`] = `<worksheet xmlns="${main}"><sheetData>${body}</sheetData></worksheet>`
  }
  return zipOf(Object.entries(parts).map(([name, content]) => ({ name, content: Buffer.from(content) })))
}

async function open(content: Buffer) {
  const own = await mkdtemp(join(directory, 'own-'))
  await writeFile(join(own, 'source'), content)
  const { signal } = new AbortController()
  return openReader(join(own, 'source'), { fileName: 'a.xlsx', directory: own, signal, allowNativeGdal: false })
}

const heading = text('A1', 'name') + text('B1', 'a') + text('C1', 'double')

test('formulas without results, and results that are errors, are told by sheet', async () => {
  const reader = await open(
    workbook({
      'Größen &amp; Maße': [
        heading,
        `${text('A2', 'x')}<c r="B2"><v>1</v></c><c r="C2"><f>B2*2</f><v></v></c>`,
        `${text('A3', 'y')}<c r="B3"><v>2</v></c><c r="C3"><f t="shared" si="0"/></c>`,
        `${text('A4', 'z')}<c r="B4"/><c r="C4"><f>2*3</f><v>6</v></c>`,
      ],
      empty: [heading, `${text('A2', 'x')}<c r="B2"><v>1</v></c><c r="C2" t="str"><f>""</f><v></v></c>`],
      errors: [heading, `${text('A2', 'x')}<c r="B2" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="C2"><v>3</v></c>`],
    }),
  )
  const warningsOf = async (sheet: string) => (await rowsOfReader(reader, sheet)).layer.warnings
  assert.deepEqual(await reader.layers(), ['Größen & Maße', 'empty', 'errors'])
  const [formulas, ...others] = await warningsOf('Größen & Maße')
  assert.deepEqual([formulas?.code, formulas?.count, others], ['formulas_without_values', 2, []])
  assert.match(formulas?.message ?? '', /\(C2, C3\)/)
  assert.deepEqual(
    (await rowsOfReader(reader, 'Größen & Maße')).rows.map(({ values }) => values.double),
    [null, null, 6],
  )
  assert.deepEqual(await warningsOf('empty'), [])
  assert.deepEqual(
    (await warningsOf('errors')).map(({ code, count }) => [code, count]),
    [['formula_errors', 1]],
  )
  await reader.close()
})
