import { readFile } from 'node:fs/promises'
import type { TableNote } from '../../../../query/formats/table-note.ts'
import { createFlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { writeFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-write.ts'
import type { ByteWindow } from '../engine/byte-window.ts'
import { createReader } from '../engine/create-reader.ts'
import type { LayerFacts, Reading, ReadingOptions } from '../engine/reading.ts'
import { asReadFault, layerNameOf, type Reader, type ReaderOptions, ReadFault, type Warning } from '../reader.ts'
import { dbfFieldType } from './dbf.ts'
import { createTextFindings, dbfText, textIn } from './dbf-text.ts'
import { createDbfRow } from './dbf-values.ts'
import { readShape } from './geometry.ts'
import { fieldOf, notedFields, readNote, withNotes } from './noted-fields.ts'
import {
  advance,
  bringNext,
  openRecords,
  type ShapefileParts,
  type ShapefileRecords,
  verifyWindows,
} from './records.ts'

/** A .shp file that came alone. */
export async function openShapefile(file: string, { fileName }: ReaderOptions): Promise<Reader> {
  return openShapefiles([{ name: layerNameOf(fileName), shp: file }])
}

/** Shapefiles whose parts were found in an archive: one layer each. */
export async function openShapefiles(
  layers: readonly ShapefileParts[],
  { encoding }: Pick<ReaderOptions, 'encoding'> = {},
): Promise<Reader> {
  const partsOf = (name: string) => layers.find((layer) => layer.name === name) as ShapefileParts
  return createReader({
    format: 'shapefile',
    layers: layers.map(({ name }) => name),
    open: (name, { before }) => openLayer(partsOf(name), encoding, before),
  })
}

async function openLayer(
  parts: ShapefileParts,
  encoding: string | undefined,
  before: ReadingOptions['before'],
): Promise<Reading> {
  const opened: ByteWindow[] = []
  try {
    const records = await openRecords(parts, opened)
    const cpg = parts.cpg === undefined ? undefined : await readFile(parts.cpg, 'latin1')
    const encodings = { option: encoding, cpg, languageDriver: records.dbf?.languageDriver ?? 0 }
    return readLayer(
      { parts, records, opened, encodings, wkt: await referenceOf(parts), note: await readNote(parts) },
      before,
    )
  } catch (error) {
    // That an archive is damaged is told rather than what follows from it.
    const verified = error instanceof ReadFault ? verifyWindows(opened) : Promise.resolve()
    await verified.finally(() => closeWindows(opened))
    throw error
  }
}

async function closeWindows(opened: readonly ByteWindow[]): Promise<void> {
  for (const { source } of opened) await source.close()
}

type Layer = {
  readonly parts: ShapefileParts
  readonly records: ShapefileRecords
  readonly opened: readonly ByteWindow[]
  /** Where the encoding of the text may be declared. */
  readonly encodings: Parameters<typeof dbfText>[0]
  readonly wkt: string | undefined
  readonly note: TableNote | undefined
}

function readLayer(layer: Layer, before: LayerFacts | undefined): Reading {
  const { parts, records, opened, encodings, wkt, note } = layer
  const { dbf } = records
  const fields = dbf?.fields ?? []
  const found = createTextFindings()
  const noted = notedFields(note, fields)
  const plain = createDbfRow(records, found, textIn(before?.encoding ?? 'utf-8'))
  const row = note ? withNotes(plain, records, noted) : plain
  const geometry = createFlatGeometry()
  let missingRows = 0
  return {
    ...row,
    next(writer) {
      if (!advance(records)) return undefined
      if (dbf && records.rowAt < 0) missingRows++
      return readRecordShape(records, geometry) ? writeFlatGeometry(writer, geometry) : 'missing'
    },
    fill: () => bringNext(records),
    verify: () => verifyWindows(opened),
    fields: (kinds) => {
      const { decode } = dbfText(encodings, fields, found)
      return fields.map((field, place) => {
        const column = noted[place]
        if (column) return fieldOf(column, field, place, kinds[place] ?? 0)
        return { name: decode(field.rawName), place, type: dbfFieldType(field, kinds[place] ?? 0) }
      })
    },
    progress: () =>
      records.shp ? records.nextOffset / records.shp.fileSize : records.index / (dbf?.presentCount || 1),
    facts: () => {
      const { encoding, warnings } = dbfText(encodings, fields, found)
      const all = [...partWarnings(parts, missingRows), ...extraRows(records), ...records.warnings, ...warnings]
      return { srid: note?.geometry?.srid, wkt, encoding, warnings: all, note, isSpatial: records.shp !== undefined }
    },
    close: () => closeWindows(opened),
  }
}

function readRecordShape(records: ShapefileRecords, geometry: ReturnType<typeof createFlatGeometry>): boolean {
  const { shp, shapeStart, shapeEnd, index } = records
  try {
    return shp !== undefined && readShape(shp.view, shapeStart, shapeEnd, geometry)
  } catch (error) {
    throw asReadFault(error, { feature: index + 1 })
  }
}

async function referenceOf({ prj }: ShapefileParts): Promise<string | undefined> {
  const wkt = prj === undefined ? '' : (await readFile(prj, 'utf8')).replaceAll('\0', '').trim()
  return wkt === '' || wkt.length > 100_000 ? undefined : wkt
}

/** Once all shapes were read. */
function extraRows({ shp, dbf, index }: ShapefileRecords): Warning[] {
  const count = shp && dbf ? dbf.presentCount - index - 1 : 0
  if (count <= 0) return []
  return [{ code: 'extra_rows', message: 'Rows of the .dbf file without a shape were left out.', count }]
}

function partWarnings({ shp, shx, dbf, prj }: ShapefileParts, missingRows: number): Warning[] {
  const missing = (part: string, effect: string): Warning => ({
    code: `missing_${part}`,
    message: `There is no .${part} file; ${effect}.`,
  })
  const warnings: Warning[] = []
  if (!shp) warnings.push(missing('shp', 'the table is loaded without geometries'))
  if (shp && !dbf) warnings.push(missing('dbf', 'the shapes are loaded without attributes'))
  if (shp && !shx) warnings.push(missing('shx', 'the shapes were read in the order they lie in'))
  if (shp && !prj) warnings.push(missing('prj', 'its reference system is not known'))
  if (missingRows)
    warnings.push({
      code: 'missing_rows',
      message: 'Shapes without a row in the .dbf file have no attributes.',
      count: missingRows,
    })
  return warnings
}
