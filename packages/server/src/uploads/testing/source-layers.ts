import { execFile } from 'node:child_process'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
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

export type Format = keyof typeof formats

/** What a format cannot hold, by the layer's name. */
const impossible: Partial<Record<Format, readonly string[]>> = {
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
export function layersFor(format: Format): readonly SourceLayer[] {
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
  format: Format,
  directory: string,
  name: string,
): Promise<string> {
  const { extension } = formats[format]
  const work = join(directory, `${name}.work`)
  const inside = join(work, 'out')
  await mkdir(inside, { recursive: true })
  const bare = extension.replace(/\.zip$/, '')
  for (const layer of layers) {
    const source = join(work, 'source.geojson')
    await writeFile(source, geojsonOf(layer))
    // Shapefile and MapInfo hold one layer a file, so each call makes another file.
    const isApart = extension.endsWith('.zip') && format !== 'filegdb'
    await convert(layer, format, source, join(inside, `${isApart ? layer.name : name}.${bare}`))
  }
  const made = join(directory, `${name}.${extension}`)
  if (extension.endsWith('.zip')) await run('zip', ['-q', '-r', made, ...(await readdir(inside))], { cwd: inside })
  else await rename(join(inside, `${name}.${bare}`), made)
  await rm(work, { recursive: true })
  return made
}

async function convert(layer: SourceLayer, format: Format, source: string, target: string): Promise<void> {
  const { driver, options } = formats[format]
  const isTable = layer.features.every(({ geometry }) => geometry === null)
  const promoted = format === 'filegdb' ? ['-nlt', 'PROMOTE_TO_MULTI'] : []
  const isThere = await stat(target).then(
    () => true,
    () => false,
  )
  await gdal('ogr2ogr', [
    ...['-f', driver, ...(isThere ? ['-update'] : []), ...options],
    ...(isTable ? ['-nlt', 'NONE'] : promoted),
    ...['-a_srs', `EPSG:${layer.srid}`, '-nln', layer.name, target, source],
  ])
}

/** Writes one layer into a file of its own. */
export function writeLayer(layer: SourceLayer, format: Format, directory: string): Promise<string> {
  return writeLayers([layer], format, directory, layer.name)
}
