// Reference systems of geometries in CQL2: coordinates in the authority's axis order to longitude and latitude.
import { createRequire } from 'node:module'
import type { Position } from '../../geometry/geojson.ts'
import { fault } from '../../values/fault.ts'
import type { Definitions } from '../../values/projection.ts'

/** A position as the filter writes it to longitude and latitude; undefined is CRS84, which it is in already. */
export type ToDegrees = ((position: Position) => Position) | undefined

/** How the geometries of a filter are written, where that is not CRS84. */
export type FilterCrs = {
  /** An EPSG code. */
  readonly srid: number
  /** PROJ texts, as PostGIS's `spatial_ref_sys.proj4text` has them; 4326 and 3857 need none. */
  readonly definitions?: Definitions
  /** Whether the authority puts the northing first. Latitudes come first in all of EPSG's geographic systems. */
  readonly isNorthingFirst?: boolean
}

// Loaded on demand: few filters name a reference system, and every server would carry the library.
const require = createRequire(import.meta.url)
const loadProj4 = (): typeof import('proj4') => require('proj4')

const usual: Definitions = {
  4326: '+proj=longlat +datum=WGS84 +no_defs',
  3857: '+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +no_defs',
}

/** More digits than a position on the ground has; without the rounding a corner and its copy could differ. */
const decimals = 12

/** `path` is that of the parameter that names the system. */
export function degreesFrom({ srid, definitions = {}, isNorthingFirst }: FilterCrs, path: string): ToDegrees {
  const definition = definitions[srid] ?? usual[srid]
  if (!definition || !/^\s*\+proj=/.test(definition)) {
    throw fault(path, 'unknown_crs', `${srid} is not a reference system that filters can be written in`)
  }
  const isGeographic = /\+proj=(longlat|latlong)\b/.test(definition)
  const swaps = isNorthingFirst ?? isGeographic
  if (srid === 4326) return ([lat, lon]) => [lon, lat]
  const { inverse } = loadProj4()('EPSG:4326', definition)
  return ([first, second]) => {
    const [lon = Number.NaN, lat = Number.NaN] = inverse(swaps ? [second, first] : [first, second])
    return [Number(lon.toFixed(decimals)), Number(lat.toFixed(decimals))]
  }
}
