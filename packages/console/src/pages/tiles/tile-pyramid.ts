/** The Web Mercator tile pyramid: the tiles of a view, their bounds, and the tile at a position. */
export interface TileAddress {
  z: number
  x: number
  y: number
}

export interface Zooms {
  minZoom: number
  maxZoom: number
  /** In pixels: 512 for vector tiles, 256 for images. */
  tileSize: number
}

export const tileKey = ({ z, x, y }: TileAddress): string => `${z}/${x}/${y}`

export function parseTile(text: string | undefined): TileAddress | undefined {
  const [, z, x, y] = /^(\d{1,2})\/(\d+)\/(\d+)$/.exec(text ?? '') ?? []
  const tile = { z: Number(z), x: Number(x), y: Number(y) }
  return z !== undefined && tile.z <= 24 && tile.x < 2 ** tile.z && tile.y < 2 ** tile.z ? tile : undefined
}

/** The zoom of the tiles that a map loads: undefined below the minimum; at most the maximum (overzooming). */
export function tileZoom(mapZoom: number, { minZoom, maxZoom, tileSize }: Zooms): number | undefined {
  const zoom = mapZoom + Math.log2(512 / tileSize)
  const wanted = tileSize === 512 ? Math.floor(zoom) : Math.round(zoom)
  return wanted < minZoom ? undefined : Math.min(maxZoom, Math.max(0, wanted))
}

/** `copy` is the world copy that the tile is in. */
export interface PlacedTile extends TileAddress {
  copy: number
}

interface View {
  west: number
  south: number
  east: number
  north: number
}

/** At most `limit`, because a pitched map that shows the horizon would have thousands. */
export function tilesInView({ west, south, east, north }: View, z: number, limit = 200): PlacedTile[] {
  const count = 2 ** z
  const column = (longitude: number) => Math.floor(((longitude + 180) / 360) * count)
  const row = (latitude: number) => Math.min(count - 1, Math.max(0, Math.floor(mercatorRow(latitude) * count)))
  const tiles: PlacedTile[] = []
  for (let y = row(north); y <= row(south); y++) {
    for (let x = column(west); x <= column(east - 1e-9); x++) {
      if (tiles.length >= limit) return tiles
      const copy = Math.floor(x / count)
      tiles.push({ z, x: x - copy * count, y, copy })
    }
  }
  return tiles
}

const maxLatitude = 85.051_129

/** 0 at the north edge of the pyramid, 1 at the south edge. */
function mercatorRow(latitude: number): number {
  const clamped = Math.min(maxLatitude, Math.max(-maxLatitude, latitude))
  return 0.5 - Math.log(Math.tan(Math.PI / 4 + (clamped * Math.PI) / 360)) / (2 * Math.PI)
}

export function tileAt(longitude: number, latitude: number, z: number): TileAddress {
  const [tile] = tilesInView({ west: longitude, east: longitude + 1e-8, south: latitude, north: latitude }, z)
  return tile ? { z, x: tile.x, y: tile.y } : { z, x: 0, y: 0 }
}

/** [west, south, east, north] */
export function tileBounds({ z, x, y }: TileAddress, copy = 0): [number, number, number, number] {
  const count = 2 ** z
  const longitude = (column: number) => (column / count) * 360 - 180 + copy * 360
  const latitude = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / count))) * 180) / Math.PI
  return [longitude(x), latitude(y + 1), longitude(x + 1), latitude(y)]
}
