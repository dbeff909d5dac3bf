import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type SourceLayer, sourceLayers } from './layer-data.ts'

const run = promisify(execFile)

/** The formats that GDAL writes the layers in; the extension is the one of the file that is made. */
export const formats = {
  geojson: { driver: 'GeoJSON', extension: 'geojson', options: ['-lco', 'WRITE_NAME=NO'] },
  geojsonseq: { driver: 'GeoJSONSeq', extension: 'geojsonl', options: [] },
  shapefile: { driver: 'ESRI Shapefile', extension: 'shp.zip', options: ['-lco', 'ENCODING=UTF-8'] },
  geopackage: {
    driver: 'GPKG',
    extension: 'gpkg',
    options: ['-lco', 'FID=gpkg_fid', '-lco', 'GEOMETRY_NAME=gpkg_geom'],
  },
  flatgeobuf: { driver: 'FlatGeobuf', extension: 'fgb', options: [] },
  csv: { driver: 'CSV', extension: 'csv', options: ['-lco', 'GEOMETRY=AS_WKT'] },
  kml: { driver: 'KML', extension: 'kml', options: [] },
  gpx: { driver: 'GPX', extension: 'gpx', options: ['-dsco', 'GPX_USE_EXTENSIONS=YES'] },
  gml: { driver: 'GML', extension: 'gml', options: ['-dsco', 'FORMAT=GML3', '-dsco', 'XSISCHEMA=OFF'] },
  dxf: { driver: 'DXF', extension: 'dxf', options: [] },
  tab: { driver: 'MapInfo File', extension: 'tab.zip', options: ['-lco', 'ENCODING=UTF-8'] },
  mif: { driver: 'MapInfo File', extension: 'mif.zip', options: ['-dsco', 'FORMAT=MIF', '-lco', 'ENCODING=UTF-8'] },
  filegdb: { driver: 'OpenFileGDB', extension: 'gdb.zip', options: ['-unsetFid'] },
  xlsx: { driver: 'XLSX', extension: 'xlsx', options: [] },
  ods: { driver: 'ODS', extension: 'ods', options: [] },
} as const satisfies Record<string, { driver: string; extension: string; options: readonly string[] }>

export type SourceFormat = keyof typeof formats

/** What a format cannot hold, by the layer's name. */
const impossible: Partial<Record<SourceFormat, readonly string[]>> = {
  shapefile: ['mixed_geometries'],
  // GDAL leaves out features without geometry.
  flatgeobuf: ['nulls', 'empty_geometries', 'plain_table'],
  gpx: sourceLayers.map(({ name }) => name).filter((name) => name !== 'points' && name !== 'points_3d'),
  dxf: ['plain_table', 'nulls', 'empty_geometries', 'multipoints'],
  tab: ['wide'],
  mif: ['wide'],
  filegdb: ['mixed_geometries', 'lines_3d', 'holes'],
}

/** The layers that a format can hold. */
export function layersFor(format: SourceFormat): readonly SourceLayer[] {
  return sourceLayers.filter(({ name }) => !impossible[format]?.includes(name))
}

/** The layer as GeoJSON text, 64-bit integers in all their digits. */
function geojsonOf({ srid, features }: SourceLayer): string {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `\u0001${inner}\u0001` : inner)).replaceAll(
      /"\\u0001(-?\d+)\\u0001"/g,
      '$1',
    )
  const crs = { type: 'name', properties: { name: `urn:ogc:def:crs:EPSG::${srid}` } }
  const members = features.map((feature) => text({ type: 'Feature', ...feature }))
  const head = srid === 4326 ? '' : `"crs":${JSON.stringify(crs)},`
  return `{"type":"FeatureCollection",${head}"features":[\n${members.join(',\n')}\n]}`
}

/** Runs a command of GDAL without a shell; what it complains of is part of the error. */
export async function gdal(command: 'ogr2ogr' | 'ogrinfo', args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args, { maxBuffer: 1 << 29 })
  return stdout
}

/** Writes the layers into one file of the format in the directory, and answers its path. */
export async function writeLayers(
  layers: readonly SourceLayer[],
  format: SourceFormat,
  directory: string,
  name: string,
): Promise<string> {
  const { extension } = formats[format]
  await mkdir(directory, { recursive: true })
  const work = await mkdtemp(join(directory, 'work-'))
  const inside = join(work, 'out')
  await mkdir(inside)
  const bare = extension.replace(/\.zip$/, '')
  const made = join(directory, `${name}.${extension}`)
  if (isApart(format)) await convert(layers, format, work, inside)
  else await convert(layers, format, work, join(inside, `${name}.${bare}`))
  if (extension.endsWith('.zip')) await run('zip', ['-q', '-r', made, ...(await readdir(inside))], { cwd: inside })
  else await rename(join(inside, isApart(format) ? `${layers[0]?.name}.${bare}` : `${name}.${bare}`), made)
  await rm(work, { recursive: true })
  return made
}

/** Writes each layer into a file of its own. GDAL is started once where it can write several: that takes longer than writing. */
export async function writeApart(
  layers: readonly SourceLayer[],
  format: SourceFormat,
  directory: string,
): Promise<string[]> {
  if (!isApart(format) || layers.length === 1) {
    const files: string[] = []
    for (const layer of layers) files.push(await writeLayer(layer, format, directory))
    return files
  }
  await mkdir(directory, { recursive: true })
  const work = await mkdtemp(join(directory, 'work-'))
  const made = join(directory, 'apart')
  await convert(layers, format, work, made)
  await rm(work, { recursive: true })
  const { extension } = formats[format]
  const files = layers.map(({ name }) => join(made, `${name}.${extension}`))
  if (!extension.endsWith('.zip')) return files
  const parts = await readdir(made)
  for (const [index, { name }] of layers.entries()) {
    const own = parts.filter((part) => part.startsWith(`${name}.`))
    await run('zip', ['-q', files[index] ?? '', ...own], { cwd: made })
  }
  return files
}

/** These hold one layer a file and are written into a directory. */
function isApart(format: SourceFormat): boolean {
  return ['shapefile', 'tab', 'mif', 'csv', 'flatgeobuf'].includes(format)
}

/** What of them GDAL writes in one call. */
async function convert(
  layers: readonly SourceLayer[],
  format: SourceFormat,
  work: string,
  target: string,
): Promise<void> {
  const { driver, options } = formats[format]
  const sources = await Promise.all(
    layers.map(async (layer) => {
      const file = join(work, `${layer.name}.geojson`)
      await writeFile(file, geojsonOf(layer))
      return { layer, file }
    }),
  )
  const [only, ...more] = sources
  const promoted = format === 'filegdb' ? ['-nlt', 'PROMOTE_TO_MULTI'] : []
  const isTable = ({ features }: SourceLayer) => features.every(({ geometry }) => geometry === null)
  if (only && more.length === 0) {
    const { name, srid } = only.layer
    const type = isTable(only.layer) ? ['-nlt', 'NONE'] : promoted
    const place = isApart(format) ? join(target, `${name}.${formats[format].extension.replace(/\.zip$/, '')}`) : target
    await gdal('ogr2ogr', ['-f', driver, ...options, ...type, '-a_srs', `EPSG:${srid}`, '-nln', name, place, only.file])
    return
  }
  const virtual = join(work, 'all.vrt')
  await writeFile(
    virtual,
    virtualDataset(sources.map(({ layer, file }) => ({ ...layer, file, layer: layer.name, isTable: isTable(layer) }))),
  )
  await gdal('ogr2ogr', ['-f', driver, ...options, ...promoted, target, virtual])
}

type VirtualLayer = { name: string; file: string; layer: string; srid?: number | undefined; isTable?: boolean }
/** How GDAL finds the geometry that it wrote itself. */
const csvOptions =
  '<OpenOptions><OOI key="GEOM_POSSIBLE_NAMES">WKT</OOI><OOI key="KEEP_GEOM_COLUMNS">NO</OOI></OpenOptions>'

/** Layers of many files as one dataset for GDAL. */
export function virtualDataset(layers: readonly VirtualLayer[]): string {
  const members = layers.map(({ name, file, layer, srid, isTable }) => {
    const type = isTable ? '<GeometryType>wkbNone</GeometryType>' : ''
    const system = srid === undefined ? '' : `<LayerSRS>EPSG:${srid}</LayerSRS>`
    const source = `<SrcDataSource>${file}</SrcDataSource>${file.endsWith('.csv') ? csvOptions : ''}<SrcLayer>${layer}</SrcLayer>`
    return `<OGRVRTLayer name="${name}">${source}${type}${system}</OGRVRTLayer>`
  })
  return `<OGRVRTDataSource>${members.join('')}</OGRVRTDataSource>`
}

/** Writes one layer into a file of its own. */
export function writeLayer(layer: SourceLayer, format: SourceFormat, directory: string): Promise<string> {
  return writeLayers([layer], format, directory, layer.name)
}
