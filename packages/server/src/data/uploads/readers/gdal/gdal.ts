import { createReadStream } from 'node:fs'
import { link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createReader } from '../engine/create-reader.ts'
import { readRecords } from '../engine/records.ts'
import { createFieldList, kindsOfValue } from '../engine/type-inference.ts'
import { openGeoPackage } from '../geopackage/geopackage.ts'
import { type GdalTask, layerNameOf, type Reader, type ReaderOptions, ReadFault } from '../reader.ts'
import { copyWithoutBounds } from './gml-bounds.ts'
import { hasNativeGdal, runNativeGdal, runPortableGdal } from './run.ts'

/** The formats that GDAL reads for us, each by one driver only; `key`: the numbers of its features are kept under this name. */
const drivers: Record<GdalFormat, { driver: string; extension: string; key?: string }> = {
  gml: { driver: 'GML', extension: 'gml' },
  dxf: { driver: 'DXF', extension: 'dxf' },
  mapinfo: { driver: 'MapInfo File', extension: 'mif' },
  filegdb: { driver: 'OpenFileGDB', extension: 'gdb', key: 'OBJECTID' },
}

export type GdalFormat = 'gml' | 'dxf' | 'mapinfo' | 'filegdb'

/** A file of the source: where it lies, and what it is called for GDAL. */
export type GdalSourceFile = { readonly path: string; readonly name: string }

const safeName = /^[\w][\w.-]{0,99}$/

/** A file that GDAL reads alone. */
export function openByGdal(file: string, format: GdalFormat, options: ReaderOptions): Promise<Reader> {
  return openSource(format, options, [{ path: file, name: `source.${drivers[format].extension}` }], false)
}

/** Files that belong together, as those of a FileGDB or of MapInfo do: GDAL gets their folder. */
export function openFolderByGdal(
  files: readonly GdalSourceFile[],
  format: GdalFormat,
  options: ReaderOptions,
): Promise<Reader> {
  return openSource(format, options, files, true)
}

/** Lets GDAL make a GeoPackage of the files, in a folder of their own, and reads that. */
async function openSource(
  format: GdalFormat,
  options: ReaderOptions,
  files: readonly GdalSourceFile[],
  isFolder: boolean,
): Promise<Reader> {
  const { driver, extension, key } = drivers[format]
  const sourceDirectory = join(options.directory, 'gdal-source')
  const resultDirectory = join(options.directory, 'gdal-result')
  const removeAll = async () => {
    for (const directory of [sourceDirectory, resultDirectory]) await rm(directory, { recursive: true, force: true })
  }
  try {
    await removeAll()
    const folder = isFolder ? join(sourceDirectory, `source.${extension}`) : sourceDirectory
    await mkdir(folder, { recursive: true })
    await mkdir(resultDirectory)
    let bytes = 0
    for (const { path, name } of files) {
      if (!safeName.test(name))
        throw new ReadFault(
          'invalid_file',
          `The file name ${JSON.stringify(name.slice(0, 100))} holds characters that are not allowed. Rename the file.`,
        )
      if (format === 'gml') await copyWithoutBounds(path, join(folder, name), options.signal)
      else await link(path, join(folder, name))
      bytes += (await stat(path)).size
    }
    const source = isFolder ? folder : join(folder, files[0]?.name ?? '')
    const { signal, onAdvance } = options
    const keepsIds = key !== undefined
    await convert({ source, sourceDirectory, resultDirectory, driver, bytes, keepsIds, signal, onAdvance }, options)
    const reader = await openResult(join(resultDirectory, 'result.gpkg'), key).catch(async (error) => {
      const isNothing = error instanceof ReadFault && error.code === 'no_features'
      if (isNothing && format === 'gml' && !(await hasMembers(files[0]?.path ?? '', signal))) return emptyLayer(options)
      throw error
    })
    const close = () => reader.close().finally(removeAll)
    return { ...reader, format, close }
  } catch (error) {
    await removeAll()
    throw error
  }
}

async function convert(task: GdalTask, { allowNativeGdal, convertByGdal }: ReaderOptions): Promise<void> {
  if (allowNativeGdal && (await hasNativeGdal())) await runNativeGdal(task)
  else await (convertByGdal ?? runPortableGdal)(task)
}

async function openResult(file: string, key: string | undefined): Promise<Reader> {
  const nothing = new ReadFault('no_features', 'The file holds no features.')
  const made = await stat(file).catch(() => undefined)
  if (!made) throw nothing
  return openGeoPackage(file, key).catch((error) => {
    throw error instanceof ReadFault && error.code === 'no_features' ? nothing : error
  })
}

/** Whether a collection of GML has members: those that GDAL does not know are no empty collection. */
async function hasMembers(file: string, signal: AbortSignal): Promise<boolean> {
  let rest = ''
  for await (const chunk of createReadStream(file, { encoding: 'latin1', signal })) {
    const text = (rest + chunk).replaceAll('\0', '')
    if (/<(\w+:)?(\w*[mM]embers?)[\s>]/.test(text)) return true
    rest = text.slice(-100)
  }
  return false
}

function emptyLayer({ fileName }: ReaderOptions): Reader {
  const open = () =>
    readRecords({
      fields: createFieldList(),
      kindsOf: kindsOfValue,
      batches: (async function* () {})(),
      facts: () => ({ warnings: [], isSpatial: true }),
    })
  return createReader({ format: 'gml', layers: [layerNameOf(fileName)], open })
}
