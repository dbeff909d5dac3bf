// Tilesets: the tiles of a collection in WebMercatorQuad, as OGC API Tiles and as TileJSON describe them.

import { layersOf, tileJson } from '../../tiles/http/tile-json.ts'
import type { TileExtent } from '../../tiles/source/tile-bounds.ts'
import type { LoadedTileSource } from '../../tiles/source/tile-source-type.ts'
import { collectionPath } from '../collections/collection-document.ts'
import { type Collection, geometryOf } from '../collections/collections.ts'
import { crs84, epsg } from '../collections/crs.ts'
import { propertySchema } from '../collections/property-schemas.ts'
import { addressOf, type Link, mediaTypes, ogcRelation, type Root, selfLinks } from '../links.ts'
import type { Form } from '../negotiate.ts'
import { tileLimits, tileMatrixSetId, tileMatrixSetUri } from './tile-matrix-set.ts'

export type TiledCollection = Collection & { readonly tiles: LoadedTileSource }

const world: TileExtent = [-180, -90, 180, 90]

/** Where only a part of the data was measured, the rest may be anywhere. */
const extentOf = ({ source, isExtentEstimated }: LoadedTileSource): TileExtent =>
  isExtentEstimated ? world : source.extentLngLat

export const limitsAt = (tiles: LoadedTileSource, z: number) => tileLimits(extentOf(tiles), z)

const tilesPath = (id: string): string => `${collectionPath(id)}/tiles`
const tilesetPath = (id: string): string => `${tilesPath(id)}/${tileMatrixSetId}`

const zooms = ({ source: { minZoom, maxZoom } }: LoadedTileSource): number[] =>
  Array.from({ length: maxZoom - minZoom + 1 }, (_, index) => minZoom + index)

/** The template of tiles. The variables stand as they are, so they are put in after the address was encoded. */
function tileTemplate(root: Root, id: string, variables: string): string {
  return addressOf(root, `${tilesetPath(id)}/VARIABLES`).replace('VARIABLES', variables)
}

const summary = ({ dataset }: Collection) => ({
  title: dataset.name,
  dataType: 'vector',
  crs: epsg(3857).uri,
  tileMatrixSetId,
  tileMatrixSetURI: tileMatrixSetUri,
})

export const tilesetsDocument = (root: Root, collection: Collection, form: Form) => ({
  links: selfLinks((f) => addressOf(root, tilesPath(collection.id), { f }), form),
  tilesets: [{ ...summary(collection), links: [tilesetLink(root, collection.id, 'self')] }],
})

const tilesetLink = (root: Root, id: string, rel: string): Link => ({
  href: addressOf(root, tilesetPath(id), { f: 'json' }),
  rel,
  type: mediaTypes.json,
  title: 'The tiles in WebMercatorQuad',
})

export function tilesetDocument(root: Root, collection: TiledCollection, form: Form) {
  const { id, dataset, tiles } = collection
  const [west, south, east, north] = extentOf(tiles)
  const { properties } = propertySchema('schema', dataset, '')
  return {
    ...summary(collection),
    tileMatrixSetLimits: zooms(tiles).map((z) => limitsAt(tiles, z)),
    boundingBox: {
      lowerLeft: [Math.max(west, -180), south],
      upperRight: [Math.min(east, 180), north],
      crs: crs84.uri,
    },
    layers: layersOf(tiles).map((layer) => ({
      id: layer.id,
      title: dataset.name,
      dataType: 'vector',
      ...dimensionOf(collection),
      minTileMatrix: String(tiles.source.minZoom),
      maxTileMatrix: String(tiles.source.maxZoom),
      propertiesSchema: { type: 'object', properties },
    })),
    links: tilesetLinks(root, id, form),
  }
}

/** 0 for points, 1 for lines, 2 for areas; nothing where the geometries may be anything. */
function dimensionOf({ dataset }: Collection): { geometryDimension?: number } {
  const kind = /(point|linestring|polygon)z?m?$/i.exec(geometryOf(dataset)?.geometryType ?? '')?.[1]?.toLowerCase()
  return kind === undefined ? {} : { geometryDimension: ['point', 'linestring', 'polygon'].indexOf(kind) }
}

const tilesetLinks = (root: Root, id: string, form: Form): Link[] => [
  ...selfLinks((f) => addressOf(root, tilesetPath(id), { f }), form),
  {
    href: tileTemplate(root, id, '{tileMatrix}/{tileRow}/{tileCol}'),
    rel: 'item',
    type: mediaTypes.vectorTile,
    title: 'A tile',
    templated: true,
  },
  {
    href: addressOf(root, `/tileMatrixSets/${tileMatrixSetId}`, { f: 'json' }),
    rel: ogcRelation('tiling-scheme'),
    type: mediaTypes.json,
    title: 'The tile matrix set',
  },
  {
    href: addressOf(root, tilesetPath(id), { f: 'tilejson' }),
    rel: 'describedby',
    type: mediaTypes.json,
    title: 'The tiles as TileJSON',
  },
]

/** TileJSON 3.0.0, whose tiles have the addresses of this tileset. */
export const tilesetJson = (root: Root, { id, tiles }: TiledCollection): object => ({
  ...tileJson(tiles, { base: root.url }, ''),
  tiles: [tileTemplate(root, id, '{z}/{y}/{x}')],
})
