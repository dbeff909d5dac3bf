import { createByteWriter, reserve } from '../../../geometry/encoding/byte-writer.ts'
import type { AttributeType } from '../../../values/attribute.ts'
import type { Cell } from '../../cell.ts'
import type { ExportColumn } from '../export-order.ts'
import { bytesOf, doubleOf, int64Of, isInfinite, isLongDecimal } from '../export-values.ts'
import { geojsonOf } from '../geometry-cell.ts'

/** The types of FlatGeobuf's schema. A date is a DateTime without a time, as GDAL has it. */
export const columnType: Readonly<Record<AttributeType, number>> = {
  boolean: 2,
  integer: 7,
  number: 10,
  string: 11,
  time: 11,
  uuid: 11,
  json: 12,
  array: 12,
  geometry: 12,
  date: 13,
  datetime: 13,
  binary: 14,
}

/** A function that writes the values of a feature; nulls are left out. The bytes are good until the next call. */
export function createProperties(columns: readonly ExportColumn[]): (cells: readonly Cell[]) => Uint8Array {
  const writer = createByteWriter(1024)
  const room = (size: number): number => {
    reserve(writer, size)
    const at = writer.length
    writer.length += size
    return at
  }
  const writeBytes = (bytes: Uint8Array): void => {
    const at = room(4 + bytes.byteLength)
    writer.view.setUint32(at, bytes.byteLength, true)
    writer.bytes.set(bytes, at + 4)
  }
  const writers: { readonly [type in AttributeType]?: (cell: string) => void } = {
    boolean: (cell) => writer.view.setUint8(room(1), cell === 'true' ? 1 : 0),
    integer: (cell) => writer.view.setBigInt64(room(8), int64Of(cell), true),
    number: (cell) => writer.view.setFloat64(room(8), doubleOf(cell), true),
    binary: (cell) => writeBytes(bytesOf(cell)),
    geometry: (cell) => writeBytes(Buffer.from(geojsonOf(cell))),
  }
  const writeText = (cell: string): void => writeBytes(Buffer.from(cell))
  const writeValue = columns.map((column) => (isLongDecimal(column) ? writeText : (writers[column.type] ?? writeText)))
  return (cells) => {
    writer.length = 0
    for (let index = 0; index < columns.length; index++) {
      const column = columns[index] as ExportColumn
      const cell = cells[index] ?? null
      if (cell === null || (columnType[column.type] === columnType.datetime && isInfinite(cell))) continue
      writer.view.setUint16(room(2), index, true)
      writeValue[index]?.(cell)
    }
    return writer.bytes.subarray(0, writer.length)
  }
}
