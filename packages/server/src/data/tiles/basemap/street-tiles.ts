// Street tiles of the Protomaps scheme, which the base styles draw.
import { invalid } from '../../../kernel/errors.ts'
import type { ArchiveInfo } from '../archives/archive.ts'
import { world } from '../archives/description.ts'
import { cleanAttribution } from '../source/attribution.ts'
import type { LoadedTileSource, TileArchives } from '../source/tile-source-type.ts'
import { digestVersion } from '../source/tile-version.ts'

/** A layer of the scheme that OpenMapTiles and others do not have. */
const layerOfScheme = 'earth'
/** The deepest tiles of the scheme; a server of tiles does not say. */
const deepestZoom = 15
/** Tiles of another server have no version: they are believed for a day. */
const believedMs = 86_400_000

export async function loadStreetTiles(
  archives: TileArchives,
  applicationId: string,
  uri: string,
): Promise<LoadedTileSource> {
  const archive = await archives.info(applicationId, uri)
  if (archive.kind === 'raster') throw notDrawn('has images, which the base styles do not draw')
  const layers = archive.vectorLayers.map(({ id }) => id)
  if (layers.length > 0 && !layers.includes(layerOfScheme))
    throw notDrawn(`has no layer "${layerOfScheme}", so it is not of the Protomaps scheme, which the base styles draw`)
  const isProxy = /^https?:/i.test(uri)
  const era = isProxy ? Math.floor(Date.now() / believedMs) : ''
  return {
    source: {
      id: 'basemap',
      applicationId,
      type: 'tilelive',
      source: uri,
      name: '',
      attribution: cleanAttribution(archive.attribution ?? ''),
      minZoom: 0,
      maxZoom: Math.min(archive.maxZoom, deepestZoom),
      extentLngLat: archive.bounds,
      headers: { 'cache-control': 'public, max-age=86400' },
      metadata: {},
    },
    archive,
    name: archive.name ?? 'Streets',
    version: digestVersion(uri, archive.version, `${era}`),
  }
}

const notDrawn = (why: string) => invalid('basemap', `The archive ${why}.`)

/** An extract of a region is drawn from the first zoom that the bundled world has not: its own low zooms show the region only. */
export const isWorldwide = ({ archive }: LoadedTileSource): boolean =>
  widthOf(archive) >= widthOf({ bounds: world }) - 20

const widthOf = (archive: Pick<ArchiveInfo, 'bounds'> | undefined): number =>
  archive ? archive.bounds[2] - archive.bounds[0] : 0
