import { noteFile } from '../../../../query/formats/table-note.ts'
import { isNamedAsData } from '../formats.ts'
import { type OpenReader, type Reader, type ReaderOptions, ReadFault } from '../reader.ts'
import type { ShapefileParts } from '../shapefile/records.ts'
import { openShapefiles } from '../shapefile/shapefile.ts'
import { refuseTableRules } from '../table/table-faults.ts'
import { supportedText } from '../unsupported-format.ts'
import { openPacked, type PackedFile, quoted } from './entry.ts'
import { tellIgnored } from './ignored-files.ts'
import { openLayersOf } from './layers-of.ts'
import { isTextTable } from './text-tables.ts'
import { fileNames, isArchive, nestedArchive, packedFiles, type UnzippedFile, unpackFiles } from './zip.ts'

/**
 * Opens what is in an archive: shapefiles, a FileGDB, MapInfo's files, the document of a KMZ, a spreadsheet, or files of
 * any other format, which `openFile` opens. Several are several layers.
 */
export async function openZip(file: string, options: ReaderOptions, openFile: OpenReader): Promise<Reader> {
  const nested = (await fileNames(file)).filter(isArchive)
  return tellIgnored(await openFiles(file, nested, options, openFile), nested)
}

async function openFiles(
  file: string,
  nested: readonly string[],
  options: ReaderOptions,
  openFile: OpenReader,
): Promise<Reader> {
  const packed = await packedFiles(file)
  const names = packed.map(({ name }) => name)
  if (names.length === 0) throw await nothingIn(file)
  if (names.includes('content.xml') && names.includes('mimetype')) {
    return (await import('../ods/ods.ts')).openOds(packed, options)
  }
  if (names.some((name) => largePart.test(name))) {
    refuseTableRules(options, 'a Shapefile')
    return openShapefiles(await shapefilesOf(packed, options), options)
  }
  const files = await unpackFiles(packed, options.directory, options)
  const database = files.filter(({ name }) => /\.gdb\/[^/]+$/i.test(name) || /(^|\/)a[0-9a-f]{8}\.gdb\w+$/i.test(name))
  if (database.length) {
    refuseTableRules(options, 'a FileGDB')
    return openDatabase(database, options)
  }
  const mapInfo = files.filter(({ name }) => /\.(tab|dat|map|id|ind|mif|mid)$/i.test(name))
  if (mapInfo.some(({ name }) => /\.(tab|mif)$/i.test(name))) {
    refuseTableRules(options, 'of MapInfo')
    return openMapInfo(mapInfo, options)
  }
  const chosen = await dataAmong(files, nested.length === 0)
  if (chosen.length === 0) throw nested[0] === undefined ? await nothingIn(file) : nestedArchive(nested[0])
  const reader = await openOthers(chosen, options, openFile)
  return tellIgnored(
    reader,
    names.filter((name) => !chosen.some((one) => one.name === name)),
  )
}

const shownNames = 10

/** Says what there is instead of data. */
async function nothingIn(archive: string): Promise<ReadFault> {
  const names = await fileNames(archive)
  if (names.length === 0) return new ReadFault('empty_file', 'The archive is empty.')
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  const shown = `${names.slice(0, shownNames).map(quoted).join(', ')}${more}`
  return new ReadFault(
    'unsupported_format',
    `The archive holds no data of a supported format, only ${shown}. ${supportedText}`,
  )
}

/** All layers of one geodatabase; a second is not looked at. */
async function openDatabase(files: readonly UnzippedFile[], options: ReaderOptions): Promise<Reader> {
  const folderOf = (name: string) => name.slice(0, name.lastIndexOf('/') + 1)
  const folder = folderOf(files[0]?.name ?? '')
  const own = files.filter(({ name }) => folderOf(name) === folder)
  const { openFolderByGdal } = await import('../gdal/gdal.ts')
  return openFolderByGdal(
    own.map(({ path, name }) => ({ path, name: name.slice(folder.length) })),
    'filegdb',
    options,
  )
}

/** GDAL names a layer by its file, so that the names are kept where they can be. */
async function openMapInfo(files: readonly UnzippedFile[], options: ReaderOptions): Promise<Reader> {
  const bases = new Map<string, string>()
  const named = files.map(({ path, name }) => {
    const [, base = '', extension = ''] = /^(.*)\.(\w+)$/.exec(name) ?? []
    const key = base.toLowerCase()
    const short = base.split('/').at(-1) ?? ''
    const isFree = /^\w[\w-]{0,60}$/.test(short) && ![...bases.values()].includes(short)
    const safe = bases.get(key) ?? (isFree ? short : `layer_${bases.size + 1}`)
    bases.set(key, safe)
    return { path, name: `${safe}.${extension.toLowerCase()}` }
  })
  const { openFolderByGdal } = await import('../gdal/gdal.ts')
  return openFolderByGdal(named, 'mapinfo', options)
}

const isRootOfKmz = ({ name }: UnzippedFile): boolean => name.toLowerCase() === 'doc.kml'

/** Files by their names only to leave out what lies beside them; what they are is sniffed. */
async function dataAmong(files: readonly UnzippedFile[], isAll: boolean): Promise<readonly UnzippedFile[]> {
  const root = files.find(isRootOfKmz)
  if (root) return [root]
  const data: UnzippedFile[] = []
  for (const file of files) {
    if (isNamedAsData(file.name) || (/\.txt$/i.test(file.name) && (await isTextTable(file.path)))) data.push(file)
  }
  return data.length === 0 && files.length === 1 && isAll ? files : data
}

function openOthers(files: readonly UnzippedFile[], options: ReaderOptions, openFile: OpenReader): Promise<Reader> {
  return openLayersOf(
    files.map((file) => ({ path: file.path, name: isRootOfKmz(file) ? options.fileName : file.name })),
    options,
    openFile,
  )
}

const parts = ['shp', 'shx', 'dbf', 'prj', 'cpg'] as const

/** Read where they lie: from start to end, and mostly once. */
const largePart = /\.(shp|dbf)$/i

/** The files that belong together are called alike, whatever the case. */
async function shapefilesOf(packed: readonly PackedFile[], options: ReaderOptions): Promise<ShapefileParts[]> {
  const layers = new Map<string, { -readonly [key in keyof ShapefileParts]: ShapefileParts[key] }>()
  const small = packed.filter(({ name }) => !largePart.test(name))
  const unpacked = new Map((await unpackFiles(small, options.directory, options)).map(({ name, path }) => [name, path]))
  for (const file of packed) {
    const match = /^(.*)\.(shp|shx|dbf|prj|cpg)$/i.exec(file.name)
    if (!match) continue
    const [, base = '', extension = ''] = match
    const layer = layers.get(base.toLowerCase()) ?? { name: base }
    const part = parts.find((name) => name === extension.toLowerCase())
    if (part === 'shp' || part === 'dbf') layer[part] = () => openPacked(file)
    else {
      const path = unpacked.get(file.name)
      if (part && path !== undefined) layer[part] = path
    }
    layers.set(base.toLowerCase(), layer)
  }
  const note = unpacked.get(noteFile)
  const found = [...layers.values()].filter(({ shp, dbf }) => shp ?? dbf)
  return withNames(note === undefined ? found : found.map((layer) => ({ ...layer, note })))
}

/** The last part of the path, or all of it where two folders hold the same. */
function withNames(layers: readonly ShapefileParts[]): ShapefileParts[] {
  const short = (name: string) => name.split('/').at(-1) || name
  const isTwice = (name: string) => layers.filter((layer) => short(layer.name) === short(name)).length > 1
  return layers.map((layer) => ({ ...layer, name: isTwice(layer.name) ? layer.name : short(layer.name) }))
}
