// WebMercatorQuad, the tile matrix set of all tiles, and the part of it that an extent covers.
import type { TileExtent } from '../../tiles/source/tile-bounds.ts'
import { epsg } from '../collections/crs.ts'

const maxZoom = 24
const half = 20037508.342789244
const tileSize = 256
/** A pixel of 0.28 mm is the standard's. */
const pixelMetres = 0.00028

export const tileMatrixSetId = 'WebMercatorQuad'
export const tileMatrixSetUri = `http://www.opengis.net/def/tilematrixset/OGC/1.0/${tileMatrixSetId}`

const tileMatrix = (z: number) => {
  const cellSize = (2 * half) / tileSize / 2 ** z
  return {
    id: String(z),
    scaleDenominator: cellSize / pixelMetres,
    cellSize,
    cornerOfOrigin: 'topLeft',
    pointOfOrigin: [-half, half],
    tileWidth: tileSize,
    tileHeight: tileSize,
    matrixWidth: 2 ** z,
    matrixHeight: 2 ** z,
  }
}

export const webMercatorQuad = {
  id: tileMatrixSetId,
  title: 'Google Maps Compatible for the World',
  uri: tileMatrixSetUri,
  crs: epsg(3857).uri,
  orderedAxes: ['X', 'Y'],
  wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible',
  tileMatrices: Array.from({ length: maxZoom + 1 }, (_, z) => tileMatrix(z)),
}

/** The rows and columns of a matrix that can have something in them. */
export type TileLimits = {
  readonly tileMatrix: string
  readonly minTileRow: number
  readonly maxTileRow: number
  readonly minTileCol: number
  readonly maxTileCol: number
}

/** Beyond the world the map begins again, so an extent that leaves it has all columns. */
export function tileLimits([west, south, east, north]: TileExtent, z: number): TileLimits {
  const count = 2 ** z
  const index = (fraction: number) => Math.max(0, Math.min(count - 1, Math.floor(fraction * count)))
  const isRound = west < -180 || east > 180
  return {
    tileMatrix: String(z),
    minTileRow: index(rowFraction(north)),
    maxTileRow: index(rowFraction(south)),
    minTileCol: isRound ? 0 : index((west + 180) / 360),
    maxTileCol: isRound ? count - 1 : index((east + 180) / 360),
  }
}

/** A latitude as a fraction of the map's height, from the north. */
function rowFraction(latitude: number): number {
  const sine = Math.sin((Math.max(-85.06, Math.min(85.06, latitude)) * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}

export const isWithin = (limits: TileLimits, row: number, column: number): boolean =>
  row >= limits.minTileRow && row <= limits.maxTileRow && column >= limits.minTileCol && column <= limits.maxTileCol
