import { beginRow, createRowWriter, takeChunk, writeInt8, writeNull } from './copy-binary.ts'
import {
  createFlatGeometry,
  createGeometrySummary,
  type GeometrySummary,
  geometryFindings,
  summarise,
} from './flat-geometry.ts'
import { mended } from './flat-geometry-mend.ts'
import { writeGeometry } from './flat-geometry-write.ts'
import { openParquetFile, type ParquetFile, pieces } from './geoparquet-file.ts'
import { readParquetGeometry } from './geoparquet-geometry.ts'
import { layoutOf, type ParquetLayout } from './geoparquet-schema.ts'
import { isMisfit, writeParquetValue } from './geoparquet-values.ts'
import {
  type EncodedColumn,
  layerNameOf,
  type OpenOptions,
  type PassOptions,
  type Reader,
  type ScannedLayer,
} from './reader.ts'

/** A Parquet file: one layer, with a geometry when its metadata name one. */
export async function openGeoParquet(path: string, { fileName }: OpenOptions): Promise<Reader> {
  const file = await openParquetFile(path)
  try {
    const layout = layoutOf(file.metadata)
    const name = layerNameOf(fileName)
    return {
      format: 'parquet',
      layers: async () => [name],
      scan: (_, options) => scanFile(file, layout, name, options),
      encode: (_, columns, options) => encodeFile(file, layout, columns, options),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

function tell(file: ParquetFile, rowEnd: number, { signal, onProgress }: PassOptions): void {
  signal.throwIfAborted()
  onProgress?.(Math.min(rowEnd / (file.ranges.at(-1)?.rowEnd || 1), 1))
}

async function scanFile(
  file: ParquetFile,
  layout: ParquetLayout,
  name: string,
  options: PassOptions,
): Promise<ScannedLayer> {
  const fields = layout.columns.map((column) => ({ column, isNull: false, isMisfit: false }))
  const summary = createGeometrySummary()
  let featureCount = 0
  for (const { rowStart, rowEnd } of pieces(file)) {
    featureCount += rowEnd - rowStart
    for (const field of fields) noteColumn(field, await file.readColumn(field.column.name, rowStart, rowEnd))
    const values = layout.geometry ? await file.readColumn(layout.geometry.name, rowStart, rowEnd) : []
    noteGeometries(values, layout.geometry?.encoding ?? '', summary)
    tell(file, rowEnd, options)
  }
  const { warnings, ...found } = geometryFindings(summary, featureCount)
  const { srid, wkt } = layout
  return {
    name,
    fields: fields.map(({ column, isNull, isMisfit: misfits }) => ({
      name: column.name,
      type: misfits ? 'text' : column.type,
      nullable: isNull || column.type === 'uuid',
    })),
    featureCount,
    ...found,
    ...(srid === undefined ? {} : { srid }),
    ...(wkt === undefined ? {} : { wkt }),
    warnings: [...layout.warnings, ...warnings],
  }
}

function noteGeometries(values: ArrayLike<unknown>, encoding: string, summary: GeometrySummary): void {
  const geometry = createFlatGeometry()
  for (let row = 0; row < values.length; row++) {
    const sound = readParquetGeometry(values[row], encoding, geometry) ? mended(geometry, summary) : undefined
    if (sound) summarise(summary, sound)
  }
}

function noteColumn(
  field: { column: ParquetLayout['columns'][number]; isNull: boolean; isMisfit: boolean },
  values: ArrayLike<unknown>,
): void {
  const { column } = field
  const canMisfit = column.type === 'bigint' || column.type === 'json'
  for (let row = 0; row < values.length; row++) {
    const value = values[row]
    if (value === null || value === undefined) field.isNull = true
    else if (canMisfit && !field.isMisfit && isMisfit(value, column.type)) field.isMisfit = true
  }
}

async function* encodeFile(
  file: ParquetFile,
  layout: ParquetLayout,
  columns: readonly EncodedColumn[],
  options: PassOptions,
): AsyncIterable<Buffer> {
  const writer = createRowWriter()
  const geometry = createFlatGeometry()
  const counts = { dropped: 0, closed: 0 }
  const encoding = layout.geometry?.encoding ?? ''
  const writeColumn = (column: EncodedColumn, value: unknown, ordinal: number) => {
    if (column.kind === 'fid') return writeInt8(writer, ordinal)
    const source = column.kind === 'field' ? layout.columns[column.field] : undefined
    if (column.kind === 'field' && source) return writeParquetValue(writer, source, column.type, value)
    const sound = readParquetGeometry(value, encoding, geometry) ? mended(geometry, counts) : undefined
    if (sound && column.kind === 'geometry') writeGeometry(writer, sound, column)
    else writeNull(writer)
  }
  for (const { rowStart, rowEnd } of pieces(file)) {
    const values = await readColumns(file, layout, columns, rowStart, rowEnd)
    for (let row = 0; row < rowEnd - rowStart; row++) {
      beginRow(writer, columns.length)
      for (const [index, column] of columns.entries()) writeColumn(column, values[index]?.[row], rowStart + row + 1)
      const chunk = takeChunk(writer)
      if (chunk) yield chunk
    }
    tell(file, rowEnd, options)
  }
  const rest = takeChunk(writer, true)
  if (rest) yield rest
}

/** The values of a piece, in the order of the columns to write. */
async function readColumns(
  file: ParquetFile,
  layout: ParquetLayout,
  columns: readonly EncodedColumn[],
  rowStart: number,
  rowEnd: number,
): Promise<ArrayLike<unknown>[]> {
  const values: ArrayLike<unknown>[] = []
  for (const column of columns) {
    const name = column.kind === 'field' ? layout.columns[column.field]?.name : layout.geometry?.name
    values.push(column.kind === 'fid' || name === undefined ? [] : await file.readColumn(name, rowStart, rowEnd))
  }
  return values
}
