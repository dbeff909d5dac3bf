// The parts of a workbook besides its sheet.

import { noteName } from '../table-note.ts'
import type { ExportOrder } from './export-order.ts'
import { noteText } from './note-of-export.ts'
import { escapeXml } from './xml-text.ts'
import type { ZipEntry } from './zip-stream.ts'

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const media = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** Data of others in a workbook, which spreadsheet programs keep and do not show: the note of its columns, for uploads. */
const notePart = 'customXml/item1.xml'

const contentTypes =
  `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
  '<Default Extension="xml" ContentType="application/xml"/>' +
  `<Override PartName="/xl/workbook.xml" ContentType="${media}.sheet.main+xml"/>` +
  `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${media}.worksheet+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${media}.styles+xml"/></Types>`

const rootRelations = `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`

const workbookRelations =
  `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/>` +
  `<Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/>` +
  `<Relationship Id="rId3" Type="${relations}/customXml" Target="../${notePart}"/></Relationships>`

/**
 * Formats of cells: general, dates, datetimes, times. Fonts, fills and borders are those of an empty workbook of Excel: most
 * readers want to see what the schema lets one leave out.
 */
const styles =
  `<styleSheet xmlns="${main}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/><numFmt numFmtId="166" formatCode="hh:mm:ss"/></numFmts>' +
  '<fonts count="1"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  `<cellStyleXfs count="1">${cellFormat(0)}</cellStyleXfs>` +
  `<cellXfs count="4">${[0, 164, 165, 166].map((number) => cellFormat(number, ' xfId="0"')).join('')}</cellXfs>` +
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'

function cellFormat(number: number, parent = ''): string {
  const isApplied = number === 0 ? '' : ' applyNumberFormat="1"'
  return `<xf numFmtId="${number}" fontId="0" fillId="0" borderId="0"${parent}${isApplied}/>`
}

export function workbookParts({ name, ...table }: Pick<ExportOrder, 'name' | 'columns' | 'srid'>): ZipEntry[] {
  const sheet = `<sheets><sheet name="${escapeXml(sheetName(name))}" sheetId="1" r:id="rId1"/></sheets>`
  const parts = {
    '[Content_Types].xml': contentTypes,
    '_rels/.rels': rootRelations,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}">${sheet}</workbook>`,
    'xl/_rels/workbook.xml.rels': workbookRelations,
    'xl/styles.xml': styles,
    [notePart]: `<columns xmlns="${noteName}">${escapeXml(noteText(table))}</columns>`,
  }
  return Object.entries(parts).map(([path, text]) => ({ name: path, pieces: () => [Buffer.from(xml + text)] }))
}

/** At most 31 characters as Excel counts them, none of which means something in a formula. One name Excel keeps for itself. */
function sheetName(name: string): string {
  const clean = name.replaceAll(/[[\]:*?/\\\p{Cc}]+/gu, '-')
  const short = clean.slice(0, 31).replace(/[\ud800-\udbff]$/, '')
  const bare = short.replaceAll(/^'+|'+$/g, '').trim()
  return bare === '' || /^history$/i.test(bare) ? `rows${bare && ` of ${bare}`}` : bare
}
