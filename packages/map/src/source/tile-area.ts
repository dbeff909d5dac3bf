/** Which tiles an area of changes touches. */

export type TileBox = readonly [west: number, south: number, east: number, north: number]
/** Where something changed; null if that is not known, so anywhere. */
export type ChangedArea = readonly TileBox[] | null

type Coordinates = { readonly z: number; readonly x: number; readonly y: number }

/** Tiles have so much of their neighbours, as a part of their width, and icons of a few pixels more. */
const margin = 1 / 16
/** Above it, renewing everything costs less than comparing. */
const maxBoxes = 200

export function union(one: ChangedArea, other: ChangedArea): ChangedArea {
  if (!one || !other || one.length + other.length > maxBoxes) return null
  return [...one, ...other]
}

/** Whether something in the area can be visible in the tile, also in neighbouring copies of the world. */
export function touchesTile(area: ChangedArea, { z, x, y }: Coordinates): boolean {
  if (!area) return true
  const size = 2 ** z
  const [left, right, top, bottom] = [x - margin, x + 1 + margin, y - margin, y + 1 + margin]
  return area.some(([west, south, east, north]) => {
    if (heightOf(north) * size > bottom || heightOf(south) * size < top) return false
    return [-1, 0, 1].some((turn) => (shareOf(west) + turn) * size <= right && (shareOf(east) + turn) * size >= left)
  })
}

const shareOf = (longitude: number): number => (longitude + 180) / 360

/** From 0 at the northern edge of Web Mercator to 1 at the southern one. */
function heightOf(latitude: number): number {
  const sine = Math.sin((Math.max(-85.06, Math.min(85.06, latitude)) * Math.PI) / 180)
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
}
