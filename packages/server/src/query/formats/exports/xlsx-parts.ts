// The parts of a workbook besides its sheet.
import { escapeXml } from './xml-text.ts'
import type { ZipEntry } from './zip-stream.ts'

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const media = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const contentTypes =
  `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
  `<Override PartName="/xl/workbook.xml" ContentType="${media}.sheet.main+xml"/>` +
  `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${media}.worksheet+xml"/>` +
  `<Override PartName="/xl/styles.xml" ContentType="${media}.styles+xml"/></Types>`

const rootRelations = `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`

const workbookRelations =
  `<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/>` +
  `<Relationship Id="rId2" Type="${relations}/styles" Target="styles.xml"/></Relationships>`

/** Formats of cells: general, dates, datetimes, times. */
const styles =
  `<styleSheet xmlns="${main}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/><numFmt numFmtId="166" formatCode="hh:mm:ss"/></numFmts>' +
  '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>' +
  '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="164" applyNumberFormat="1"/>' +
  '<xf numFmtId="165" applyNumberFormat="1"/><xf numFmtId="166" applyNumberFormat="1"/></cellXfs></styleSheet>'

export function workbookParts(name: string): ZipEntry[] {
  const sheet = `<sheets><sheet name="${escapeXml(sheetName(name))}" sheetId="1" r:id="rId1"/></sheets>`
  const parts = {
    '[Content_Types].xml': contentTypes,
    '_rels/.rels': rootRelations,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}">${sheet}</workbook>`,
    'xl/_rels/workbook.xml.rels': workbookRelations,
    'xl/styles.xml': styles,
  }
  return Object.entries(parts).map(([path, text]) => ({ name: path, pieces: () => [Buffer.from(xml + text)] }))
}

/** At most 31 characters, none of which means something in a formula. */
const sheetName = (name: string): string =>
  [...name.replaceAll(/[[\]:*?/\\\p{Cc}]+/gu, '-')].slice(0, 31).join('').replaceAll(/^'|'$/g, '') || 'rows'
