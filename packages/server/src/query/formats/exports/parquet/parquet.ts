// GeoParquet 1.1: row groups of bounded size, geometries as WKB with a covering box, and the metadata at the end.
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Cell } from '../../cell.ts'
import { noteName } from '../../table-note.ts'
import { type ExportOrder, type ExportRows, freeName, geometryIndexOf } from '../export-order.ts'
import { noteText } from '../note-of-export.ts'
import { createGeometryColumn, type ParquetGeometryColumn } from './parquet-geometry.ts'
import { parquetColumn } from './parquet-values.ts'

const maxGroup = { rows: 50_000, length: 8 * 1024 * 1024 }

type Values = (values: readonly Cell[]) => void

export async function* writeParquet(rows: ExportRows, { columns, srid }: ExportOrder): AsyncGenerator<Uint8Array> {
  const primary = geometryIndexOf(columns)
  const boxName = freeName(
    'bbox',
    columns.map(({ name }) => name),
  )
  const geometries = new Map<string, ParquetGeometryColumn>()
  const fields = columns.map((column, index) => {
    if (column.type !== 'geometry') return parquetColumn(column)
    const geometry = createGeometryColumn(column.name, index === primary ? boxName : undefined)
    geometries.set(column.name, geometry)
    return geometry
  })
  const box = geometries.get(columns[primary]?.name ?? '')?.box
  const all = box ? [...fields, box] : fields
  const output = new ByteWriter()
  const writer = new ParquetWriter({
    writer: output,
    schema: schemaOf(all.map(({ schema }) => schema)),
    createdBy: 'Graticule',
  })
  const take = (): Uint8Array => {
    const bytes = output.getBytes().slice()
    output.index = 0
    return bytes
  }
  let group = emptyGroup(all.length)
  const add: Values = (cells) => {
    for (const [index, field] of fields.entries()) {
      const cell = cells[index] ?? null
      group.length += cell?.length ?? 0
      group.data[index]?.push(cell === null ? undefined : field.encode(cell))
    }
    if (box) group.data[fields.length]?.push(box.encode(cells[primary] ?? null))
    group.rows++
  }
  const flush = (): Uint8Array => {
    const columnData = all.map(({ name }, index) => ({ name, data: group.data[index] ?? [], offsetIndex: false }))
    void writer.write({ columnData, rowGroupSize: maxGroup.rows })
    group = emptyGroup(all.length)
    return take()
  }
  for await (const batch of rows) {
    for (const cells of batch) {
      add(cells)
      if (group.rows >= maxGroup.rows || group.length >= maxGroup.length) yield flush()
    }
  }
  if (group.rows > 0) yield flush()
  writer.kvMetadata = [
    ...(geometries.size === 0 ? [] : [{ key: 'geo', value: geoMetadata(columns[primary]?.name ?? '', geometries) }]),
    { key: noteName, value: noteText({ columns, srid }) },
  ]
  void writer.finish()
  yield take()
}

const emptyGroup = (width: number) => ({ data: Array.from({ length: width }, (): unknown[] => []), rows: 0, length: 0 })

const schemaOf = (columns: readonly (readonly SchemaElement[])[]): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.flat(),
]

function geoMetadata(primary: string, geometries: ReadonlyMap<string, ParquetGeometryColumn>): string {
  const columns = Object.fromEntries([...geometries].map(([name, geometry]) => [name, geometry.metadata()]))
  return JSON.stringify({ version: '1.1.0', primary_column: primary, columns })
}
