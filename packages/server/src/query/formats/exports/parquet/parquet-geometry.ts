import type { SchemaElement } from 'hyparquet'
import { createGeometryWriter, widenExtent } from '../../../geometry/encoding/ewkb-writer.ts'
import { hasHeights, writeIsoWkb } from '../../../geometry/flat/flat-geometry-write.ts'
import { type Extent, geometryTypes } from '../../../geometry/geometry-type.ts'
import type { Cell } from '../../cell.ts'
import { geometryReader } from '../geometry-cell.ts'
import type { ParquetExportColumn } from './parquet-values.ts'

export type ParquetGeometryColumn = ParquetExportColumn & {
  /** The column with the box of each geometry, by which readers skip row groups. */
  readonly box?: { readonly name: string; readonly schema: readonly SchemaElement[]; encode(cell: Cell): unknown }
  /** What the key `geo` says of the column, once all rows were seen. */
  metadata(): object
}

const edges = ['xmin', 'ymin', 'xmax', 'ymax'] as const

/** Without a `crs`, which means longitude and latitude of WGS 84. */
export function createGeometryColumn(name: string, boxName: string | undefined): ParquetGeometryColumn {
  const read = geometryReader()
  const writer = createGeometryWriter()
  const types = new Set<string>()
  let extent: Extent | undefined
  const encode = (cell: string): Uint8Array | undefined => {
    const flat = read(cell)
    if (!flat) return undefined
    writeIsoWkb(writer, flat)
    types.add(`${geometryTypes[flat.type - 1]}${hasHeights(flat) ? ' Z' : ''}`)
    extent = widenExtent(extent, writer.box)
    return new Uint8Array(writer.bytes.subarray(0, writer.length))
  }
  /** Called after the geometry of the same row. */
  const boxOf = (cell: Cell): unknown => {
    const [west = 0, south = 0, east = 0, north = 0] = writer.box
    return cell === null || !(west <= east) ? undefined : { xmin: west, ymin: south, xmax: east, ymax: north }
  }
  const covering = boxName && { covering: { bbox: Object.fromEntries(edges.map((edge) => [edge, [boxName, edge]])) } }
  return {
    name,
    schema: [{ name, type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' }],
    encode,
    ...(boxName && { box: { name: boxName, schema: boxSchema(boxName), encode: boxOf } }),
    metadata: () => ({
      encoding: 'WKB',
      geometry_types: [...types].sort(),
      orientation: 'counterclockwise',
      ...(extent && { bbox: extent }),
      ...covering,
    }),
  }
}

const boxSchema = (name: string): SchemaElement[] => [
  { name, repetition_type: 'OPTIONAL', num_children: edges.length },
  ...edges.map((edge): SchemaElement => ({ name: edge, type: 'DOUBLE', repetition_type: 'REQUIRED' })),
]
