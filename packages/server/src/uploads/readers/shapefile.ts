import { readFile } from 'node:fs/promises'
import type { ByteWindow } from './byte-window.ts'
import { type DbfText, dbfText } from './dbf-text.ts'
import { geometryFindings } from './flat-geometry.ts'
import {
  type Loaded,
  layerNameOf,
  type OpenOptions,
  type PassOptions,
  type Reader,
  ReadFault,
  type ScannedLayer,
  type Warning,
} from './reader.ts'
import { fieldsOf, type ShapefileFindings } from './shapefile-findings.ts'
import { openRecords, type ShapefileParts, type ShapefileRecords, verifyWindows } from './shapefile-records.ts'
import { loadRecords, lookAtRecords } from './shapefile-rows.ts'

/** A .shp file that came alone. */
export async function openShapefile(file: string, { fileName }: OpenOptions): Promise<Reader> {
  return openShapefiles([{ name: layerNameOf(fileName), shp: file }])
}

/** Shapefiles whose parts were found in an archive: one layer each. */
export async function openShapefiles(
  layers: readonly ShapefileParts[],
  { encoding }: Pick<OpenOptions, 'encoding'> = {},
): Promise<Reader> {
  const known = new Map<string, Known>()
  const knownOf = (name: string): Known => {
    const found = known.get(name)
    if (!found) throw new Error('The layer was not scanned.')
    return found
  }
  const partsOf = (name: string) => {
    const parts = layers.find((layer) => layer.name === name)
    if (!parts) throw new ReadFault('layer_not_found', `There is no layer "${name}".`)
    return parts
  }
  const lookAt = async (name: string, options: PassOptions, enough: number): Promise<ScannedLayer> => {
    const parts = partsOf(name)
    const found = await withRecords(parts, async (records) =>
      knownBy(parts, records, await lookAtRecords(records, options, enough), encoding),
    )
    known.set(name, found)
    return found.layer
  }
  return {
    format: 'shapefile',
    layers: async () => layers.map(({ name }) => name),
    scan: (name, options) => lookAt(name, options, Number.POSITIVE_INFINITY),
    encode: (name, columns, options) =>
      rowsOf(partsOf(name), (records) => loadRecords(records, columns, knownOf(name), options)),
    guess: async (name, options) => {
      const layer = await lookAt(name, options, guessedRecords)
      return layer.featureCount === 0 ? undefined : layer
    },
    load(name, columns, options) {
      const parts = partsOf(name)
      return rowsOf(parts, async function* (records): AsyncGenerator<Buffer, Loaded> {
        const guessed = knownOf(name)
        const { found, isAsGuessed } = yield* loadRecords(records, columns, guessed, options)
        const all = await knownBy(parts, records, found, encoding)
        known.set(name, all)
        return { layer: all.layer, isAsGuessed: isAsGuessed && all.text.encoding === guessed.text.encoding }
      })
    },
    close: async () => {},
  }
}

/** A guess is made of so many records. */
const guessedRecords = 2_000

/** What a reading has found, and how the text of the table is to be read. */
type Known = { readonly found: ShapefileFindings; readonly layer: ScannedLayer; readonly text: DbfText }

async function withRecords<T>(parts: ShapefileParts, use: (records: ShapefileRecords) => Promise<T>): Promise<T> {
  const opened: ByteWindow[] = []
  try {
    return await use(await openRecords(parts, opened))
  } catch (error) {
    throw await causeOf(error, opened)
  } finally {
    for (const { source } of opened) await source.close()
  }
}

async function* rowsOf<T>(
  parts: ShapefileParts,
  use: (records: ShapefileRecords) => AsyncGenerator<Buffer, T>,
): AsyncGenerator<Buffer, T> {
  const opened: ByteWindow[] = []
  try {
    return yield* use(await openRecords(parts, opened))
  } catch (error) {
    throw await causeOf(error, opened)
  } finally {
    for (const { source } of opened) await source.close()
  }
}

/** That an archive is damaged is told rather than what follows from it. */
async function causeOf(error: unknown, opened: readonly ByteWindow[]): Promise<unknown> {
  if (error instanceof ReadFault) await verifyWindows(opened)
  return error
}

async function knownBy(
  parts: ShapefileParts,
  records: ShapefileRecords,
  found: ShapefileFindings,
  option: string | undefined,
): Promise<Known> {
  const { dbf } = records
  const { summary, featureCount, missingRows } = found
  const cpg = parts.cpg === undefined ? undefined : await readFile(parts.cpg, 'latin1')
  const text = dbfText({ option, cpg, languageDriver: dbf?.languageDriver ?? 0 }, dbf?.fields ?? [], found.text)
  const { warnings, ...geometries } = geometryFindings(summary, featureCount)
  const layer = {
    name: parts.name,
    fields: fieldsOf(dbf, found, text),
    featureCount,
    ...geometries,
    ...(await referenceOf(parts)),
    warnings: [...partWarnings(parts, dbf ? missingRows : 0), ...records.warnings, ...text.warnings, ...warnings],
  }
  return { found, layer, text }
}

async function referenceOf({ prj }: ShapefileParts): Promise<{ wkt?: string }> {
  const wkt = prj === undefined ? '' : (await readFile(prj, 'utf8')).replaceAll('\0', '').trim()
  return wkt === '' || wkt.length > 100_000 ? {} : { wkt }
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
