/** The draft of a tile source's settings, its validation, and the patch of its changes. */
import type { TileSource, TileSourcePatch } from '@graticule/client'

export type TileSetExtent = [west: number, south: number, east: number, north: number]

export interface TileDraft {
  name: string
  attribution: string
  minZoom: number
  maxZoom: number
  /** As typed: west, south, east, north. */
  extent: readonly [string, string, string, string]
}

export const highestZoom = 24
export const sides = ['West', 'South', 'East', 'North'] as const

export function draftOf({ name, attribution, minZoom, maxZoom, extentLngLat }: TileSource): TileDraft {
  return { name, attribution, minZoom, maxZoom, extent: textsOf(extentLngLat) }
}

/** Six decimals are 0.1 m. */
export function textsOf([west, south, east, north]: Readonly<TileSetExtent>): TileDraft['extent'] {
  const text = (value: number) => String(Number(value.toFixed(6)))
  return [text(west), text(south), text(east), text(north)]
}

/** Parses the extent; undefined if it is invalid. */
export function extentOf({ extent }: Pick<TileDraft, 'extent'>): TileSetExtent | undefined {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = extent.map((text) =>
    text.trim() === '' ? Number.NaN : Number(text),
  )
  const isBox = west <= east && south <= north && south >= -90 && north <= 90 && west >= -540 && east <= 540
  return isBox ? [west, south, east, north] : undefined
}

export function extentFault(draft: Pick<TileDraft, 'extent'>): string | undefined {
  if (extentOf(draft)) return undefined
  if (draft.extent.some((text) => text.trim() === '' || Number.isNaN(Number(text))))
    return 'Each side must be a number of degrees.'
  return 'West must not be above east, nor south above north; latitudes are from -90 to 90.'
}

/** The changes; undefined if there are none or the draft is invalid. */
export function patchOf(record: TileSource, draft: TileDraft): TileSourcePatch | undefined {
  const before = draftOf(record)
  const extent = extentOf(draft)
  if (!extent) return undefined
  const { extent: _, ...plain } = draft
  const changed = Object.entries(plain).filter(([name, value]) => value !== before[name as keyof typeof plain])
  const patch = {
    ...Object.fromEntries(changed),
    ...(draft.extent.join() !== before.extent.join() && { extentLngLat: extent }),
  }
  return Object.keys(patch).length > 0 ? patch : undefined
}
