import { zipOf } from './zip-of.ts'

type SheetCell = string | number | null

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

const cellXml = (value: SheetCell, place: string): string =>
  value === null
    ? ''
    : typeof value === 'number'
      ? `<c r="${place}"><v>${value}</v></c>`
      : `<c r="${place}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`

const sheetXml = (rows: readonly (readonly SheetCell[])[]): string => {
  const body = rows.map((row, line) => {
    const cells = row.map((value, column) => cellXml(value, `${String.fromCharCode(65 + column)}${line + 1}`))
    return `<row r="${line + 1}">${cells.join('')}</row>`
  })
  return `<?xml version="1.0"?><worksheet xmlns="${main}"><sheetData>${body.join('')}</sheetData></worksheet>`
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'

/** A workbook as small as Excel reads it; each sheet has at most 26 columns. */
export function workbookOf(sheets: Readonly<Record<string, readonly (readonly SheetCell[])[]>>): Buffer {
  const names = Object.keys(sheets)
  const listed = names.map((name, n) => `<sheet name="${escaped(name)}" sheetId="${n + 1}" r:id="r${n + 1}"/>`)
  const related = names.map(
    (_, n) => `<Relationship Id="r${n + 1}" Type="${relations}/worksheet" Target="worksheets/sheet${n + 1}.xml"/>`,
  )
  const files: Record<string, string> = {
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/></Types>`,
    '_rels/.rels': `<?xml version="1.0"?><Relationships xmlns="${packageRelations}"><Relationship Id="r1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns="${main}" xmlns:r="${relations}"><sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<?xml version="1.0"?><Relationships xmlns="${packageRelations}">${related.join('')}</Relationships>`,
  }
  for (const [n, name] of names.entries()) files[`xl/worksheets/sheet${n + 1}.xml`] = sheetXml(sheets[name] ?? [])
  return zipOf(Object.entries(files).map(([name, text]) => ({ name, content: Buffer.from(text) })))
}
