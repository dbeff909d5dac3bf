// KML 2.2: one Placemark for each row, its values as typed ExtendedData.
import type { AttributeType } from '../../values/attribute.ts'
import type { Cell } from '../cell.ts'
import { noteName } from '../table-note.ts'
import { type ExportColumn, type ExportOrder, type ExportRows, geometryIndexOf } from './export-order.ts'
import { isLongDecimal } from './export-values.ts'
import { geojsonOf, geometryReader } from './geometry-cell.ts'
import { kmlGeometry } from './kml-geometry.ts'
import { noteText } from './note-of-export.ts'
import { escapeXml } from './xml-text.ts'

const chunkLength = 64 * 1024

/** The types of KML's SimpleField. Integers are of 32 bits there, so that wider ones would be cut off by strict readers. */
const fieldTypes: { readonly [type in AttributeType]?: string } = { number: 'double', boolean: 'bool' }

const fieldType = (column: ExportColumn): string => (!isLongDecimal(column) && fieldTypes[column.type]) || 'string'

export async function* writeKml(rows: ExportRows, order: ExportOrder): AsyncGenerator<Uint8Array> {
  const { columns } = order
  const geometryIndex = geometryIndexOf(columns)
  const fields = columns.flatMap((column, index) => (index === geometryIndex ? [] : [{ column, index }]))
  const titleIndex = titleOf(columns)
  const read = geometryReader()
  const placemark = (cells: readonly Cell[]): string => {
    const title = cells[titleIndex] ?? null
    const flat = read(cells[geometryIndex])
    const values = fields.map(({ column, index }) => simpleData(column, cells[index] ?? null)).join('')
    const data = values && `<ExtendedData><SchemaData schemaUrl="#rows">${values}</SchemaData></ExtendedData>`
    const heading = title === null ? '' : `<name>${escapeXml(title)}</name>`
    return `<Placemark>${heading}${data}${flat ? kmlGeometry(flat) : ''}</Placemark>\n`
  }
  let text = beginning(order, fields)
  for await (const batch of rows) {
    for (const cells of batch) {
      text += placemark(cells)
      if (text.length < chunkLength) continue
      yield Buffer.from(text)
      text = ''
    }
  }
  yield Buffer.from(`${text}</Document></kml>\n`)
}

type Field = { readonly column: ExportColumn; readonly index: number }

function beginning(order: ExportOrder, fields: readonly Field[]): string {
  const declared = fields.map(
    ({ column }) => `<SimpleField name="${escapeXml(column.name)}" type="${fieldType(column)}"></SimpleField>`,
  )
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>' +
    `<name>${escapeXml(order.name)}</name><ExtendedData><Data name="${noteName}"><value>${escapeXml(noteText(order))}</value></Data></ExtendedData><Schema name="rows" id="rows">${declared.join('')}</Schema>\n`
  )
}

function simpleData({ name, type }: ExportColumn, cell: Cell): string {
  if (cell === null) return ''
  const value = type === 'geometry' ? geojsonOf(cell) : type === 'boolean' ? (cell === 'true' ? '1' : '0') : cell
  return `<SimpleData name="${escapeXml(name)}">${escapeXml(value)}</SimpleData>`
}

/** What a viewer shows beside a place: a column called name or title, if there is one. */
const titleOf = (columns: readonly ExportColumn[]): number =>
  columns.findIndex(({ name, type }) => type === 'string' && /^(name|title)$/i.test(name))
