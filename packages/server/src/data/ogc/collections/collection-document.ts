// The description of a collection: title, extent, reference systems, links.
import { setTimeout } from 'node:timers/promises'
import type { Scope } from '../../../api/access/acl.ts'
import { timeOf } from '../../datasets/time-setting.ts'
import type { TileExtent } from '../../tiles/source/tile-bounds.ts'
import { addressOf, bothForms, type Link, mediaTypes, ogcRelation, type Root, selfLinks } from '../links.ts'
import type { Form } from '../negotiate.ts'
import type { OgcServices } from '../ogc-services.ts'
import { type Collection, type CollectionDataset, geometryOf } from './collections.ts'
import { type Crs, crs84, epsg, storageCrs } from './crs.ts'

/** Extents are measured once per version of the data. A list waits so long for those that are not known yet. */
const patienceMs = 10_000
const atOnce = 4

export type DescribedCollection = Collection & { readonly extent: TileExtent | undefined }

/** The collections with their extents; one that cannot be measured in time has none. */
export async function withExtents(
  { services, scope }: { services: OgcServices; scope: Scope },
  collections: readonly Collection[],
): Promise<DescribedCollection[]> {
  const extents = new Map<Collection, TileExtent>()
  const waiting = collections.values()
  const take = async (): Promise<void> => {
    for (const collection of waiting) {
      const extent = await extentOf(services, scope, collection.dataset)
      if (extent) extents.set(collection, extent)
    }
  }
  const timer = new AbortController()
  const tooLong = setTimeout(patienceMs, undefined, { signal: timer.signal }).catch(() => {})
  await Promise.race([Promise.all(Array.from({ length: atOnce }, take)), tooLong])
  timer.abort()
  return collections.map((collection) => ({ ...collection, extent: extents.get(collection) }))
}

/**
 * West, south, east and north in degrees, as last measured for tiles, so that a list and its collections say the same. A source
 * that cannot be reached has none.
 */
async function extentOf(
  services: OgcServices,
  scope: Scope,
  dataset: CollectionDataset,
): Promise<TileExtent | undefined> {
  if (!geometryOf(dataset)) return undefined
  const tiles = await services.tiles.sources.ofDataset(scope, dataset.id).catch(() => undefined)
  if (!tiles) return undefined
  const [west, south, east, north] = tiles.lastExtent ?? tiles.source.extentLngLat
  return west < -180 || east > 180 ? [-180, south, 180, north] : [west, south, east, north]
}

/** CRS84 first, then the storage CRS and those that `metadata.crs` adds. Others that PostGIS knows work too. */
function systemsOf(dataset: CollectionDataset): { all: Crs[]; storage: Crs } {
  const storage = storageCrs(sridOf(dataset))
  const { crs } = dataset.metadata
  const added = Array.isArray(crs) ? crs.filter((srid) => Number.isInteger(srid) && srid > 0).map(epsg) : []
  const all = [crs84, storage, epsg(4326), epsg(3857), ...added]
  return { storage, all: [...new Map(all.map((one) => [one.uri, one])).values()] }
}

function sridOf(dataset: CollectionDataset): number | undefined {
  const { srid: fallback } = dataset.metadata
  return geometryOf(dataset)?.srid || (typeof fallback === 'number' ? fallback : undefined)
}

export function collectionDocument(root: Root, collection: DescribedCollection, form: Form = 'json') {
  const { id, dataset, extent } = collection
  const { all, storage } = systemsOf(dataset)
  const hasTime = timeOf(dataset) !== undefined
  const { attribution } = dataset.metadata
  return {
    id,
    title: dataset.name,
    description: dataset.description,
    ...(typeof attribution === 'string' && { attribution }),
    ...((extent || hasTime) && {
      extent: {
        ...(extent && { spatial: { bbox: [extent], crs: crs84.uri } }),
        ...(hasTime && { temporal: { interval: [[null, null]], trs: gregorian } }),
      },
    }),
    itemType: 'feature',
    crs: all.map(({ uri }) => uri),
    ...(geometryOf(dataset) && { storageCrs: storage.uri }),
    links: linksOf(root, collection, form),
  }
}

const gregorian = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

export const collectionPath = (id: string): string => `/collections/${encodeURIComponent(id)}`

function linksOf(root: Root, { id, dataset }: DescribedCollection, form: Form): Link[] {
  const path = collectionPath(id)
  return [
    ...selfLinks((f) => addressOf(root, path, { f }), form),
    ...bothForms(root, `${path}/items`, 'items', mediaTypes.geojson, 'The features'),
    ...bothForms(root, `${path}/schema`, ogcRelation('schema'), mediaTypes.schema, 'The properties of the features'),
    ...bothForms(root, `${path}/queryables`, ogcRelation('queryables'), mediaTypes.schema, 'What filters may name'),
    // GDAL 3.6 looks for this one.
    {
      href: addressOf(root, `${path}/queryables`),
      rel: 'queryables',
      type: mediaTypes.json,
      title: 'What filters may name',
    },
    ...bothForms(root, `${path}/sortables`, ogcRelation('sortables'), mediaTypes.schema, 'What can be sorted by'),
    ...(geometryOf(dataset) ? tilesetLinks(root, path) : []),
  ]
}

const tilesetLinks = (root: Root, path: string): Link[] =>
  bothForms(root, `${path}/tiles`, ogcRelation('tilesets-vector'), mediaTypes.json, 'The tiles')
