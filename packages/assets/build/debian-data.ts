import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import type { Feature, FeatureCollection, Geometry, MultiPolygon, Position } from 'geojson'

const run = promisify(execFile)
const work = `${tmpdir()}/graticule-assets`
const packages = ['libmagics++-data', 'libgnudatalanguage0', 'xplanet-images']

const magics = 'usr/share/magics/10m'
const gdl = 'usr/share/gnudatalanguage/resource/maps/high'
/** Shape files of Natural Earth; the older ones are not in UTF-8. */
const shapes = {
  land: { file: `${magics}/ne_10m_land.shp`, encoding: 'windows-1252' },
  roughLand: { file: 'usr/share/magics/50m/ne_50m_land.shp', encoding: 'windows-1252' },
  places: { file: `${magics}/ne_10m_populated_places_simple.shp`, encoding: 'windows-1252' },
  rivers: { file: `${magics}/ne_10m_rivers_lake_centerlines.shp`, encoding: 'windows-1252' },
  regionLines: { file: `${magics}/ne_10m_admin_1_states_provinces_lines.shp`, encoding: 'windows-1252' },
  regions: { file: `${gdl}/ne_10m_admin_1_states_provinces.shp`, encoding: 'UTF-8' },
  lakes: { file: `${gdl}/ne_10m_lakes.shp`, encoding: 'UTF-8' },
}

/** Unpacks the Debian packages that hold the data, without installing them. */
export async function unpackDebianData(): Promise<void> {
  await mkdir(work, { recursive: true })
  if (existsSync(`${work}/unpacked`)) return
  try {
    await run('apt-get', ['download', ...packages], { cwd: work })
    const files = (await readdir(work)).filter((file) => file.endsWith('.deb'))
    for (const file of files) await run('dpkg', ['-x', file, `${work}/unpacked`], { cwd: work })
  } catch (cause) {
    throw new Error(`The base map is made from Debian’s packages ${packages.join(', ')} (apt-get download).`, { cause })
  }
}

/** The features of a shape file; `where` is SQL of OGR. */
export async function readShapes(name: keyof typeof shapes, where = '1 = 1'): Promise<Feature[]> {
  const { file, encoding } = shapes[name]
  const target = `${work}/${name}.json`
  const format = ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=5', '-lco', 'RFC7946=NO']
  const from = ['--config', 'SHAPE_ENCODING', encoding, '-where', where, '-a_srs', 'EPSG:4326']
  await rm(target, { force: true })
  await run('ogr2ogr', [...format, ...from, target, `${work}/unpacked/${file}`])
  return (JSON.parse(await readFile(target, 'utf8')) as FeatureCollection).features.filter(({ geometry }) => geometry)
}

export type Picture = { width: number; height: number; rgb: Uint8Array }

/** NASA’s picture of the Earth without clouds, 2048 × 1024 pixels, plate carrée. */
export async function readEarthPicture(): Promise<Picture> {
  const source = `${work}/unpacked/usr/share/xplanet/images/earth.jpg`
  const target = `${work}/earth.ppm`
  await run('gdal_translate', ['-q', '-of', 'PNM', source, target])
  const bytes = await readFile(target)
  const [head = '', width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString('latin1', 0, 64)) ?? []
  return { width: Number(width), height: Number(height), rgb: bytes.subarray(head.length) }
}

/** Areas between the levels of a grid over the whole world; `low` is the level that an area begins at. */
export async function contourGrid(
  name: string,
  grid: Float32Array,
  width: number,
  levels: readonly number[],
): Promise<Feature[]> {
  const raw = `${work}/${name}.flt`
  const target = `${work}/${name}.json`
  const cell = 360 / width
  const size = [`ncols ${width}`, `nrows ${grid.length / width}`, `cellsize ${cell}`]
  const place = ['xllcorner -180', 'yllcorner -90', 'nodata_value -9999', 'byteorder LSBFIRST']
  await writeFile(`${work}/${name}.hdr`, `${[...size, ...place].join('\n')}\n`)
  await writeFile(raw, new Uint8Array(grid.buffer))
  await rm(target, { force: true })
  const format = ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=7']
  await run('gdal_contour', ['-q', '-p', '-amin', 'low', ...format, '-fl', ...levels.map(String), raw, target])
  const { features } = JSON.parse(await readFile(target, 'utf8')) as FeatureCollection
  return features.filter(({ properties }) => properties?.low >= (levels[0] ?? 0))
}

/** The parts of features that lie within these areas. */
export async function clip(features: readonly Feature[], areas: readonly Feature[]): Promise<Feature[]> {
  const from = await writeValid('clip-from', features, ['-makevalid'])
  // Islands that touch one another have to become one.
  const union = 'SELECT ST_Union(ST_Buffer(geometry, 0)) AS geometry FROM "clip-within-raw"'
  const within = await writeValid('clip-within', areas, ['-dialect', 'sqlite', '-sql', union])
  const target = `${work}/clipped.json`
  await rm(target, { force: true })
  await run('ogr2ogr', [...precise, '-nlt', 'PROMOTE_TO_MULTI', '-clipsrc', within, target, from])
  const clipped = (JSON.parse(await readFile(target, 'utf8')) as FeatureCollection).features
  return clipped.map((feature) => ({ ...feature, geometry: areasOf(feature.geometry) }))
}

/** Without the points and lines where an area only touches another. */
const areasOf = (geometry: Geometry): MultiPolygon => ({ type: 'MultiPolygon', coordinates: polygonsOf(geometry) })

function polygonsOf(geometry: Geometry): Position[][][] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(polygonsOf)
  if (geometry.type === 'MultiPolygon') return geometry.coordinates
  return geometry.type === 'Polygon' ? [geometry.coordinates] : []
}

const precise = ['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=7', '-lco', 'RFC7946=NO']

async function writeValid(name: string, features: readonly Feature[], repair: readonly string[]): Promise<string> {
  const [raw, target] = [`${work}/${name}-raw.json`, `${work}/${name}.json`]
  await writeFile(raw, JSON.stringify({ type: 'FeatureCollection', features }))
  await rm(target, { force: true })
  await run('ogr2ogr', [...precise, ...repair, target, raw])
  return target
}
