import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import type { Answer } from './request-case.ts'

/** Servers drop areas that are smaller than a pixel, and points on the edge, by rules of their own. */
const allowedShare = 0.02

/** That two servers drew the same features with the same properties. They name layers and ids as they like. */
export function sameTiles(ours: readonly Answer[], theirs: readonly Answer[]): void {
  const [mine, other] = [new Map(ours.flatMap(featuresIn)), new Map(theirs.flatMap(featuresIn))]
  const differing = new Set([...mine.keys()]).symmetricDifference(new Set(other.keys()))
  if (mine.size === 0) throw new Error('all the tiles are empty')
  if (differing.size > mine.size * allowedShare)
    throw new Error(`${other.size} features and not ${mine.size}; ${differing.size} are only on one side`)
  const [names, otherNames] = [propertiesIn(mine), propertiesIn(other)]
  if (names !== otherNames) throw new Error(`the properties ${otherNames} and not ${names}`)
}

/** By number of the tile and id. Not those that lie in the margin around the tile only: some servers leave them out. */
function featuresIn({ body }: Answer, tile: number): [string, VectorTileFeature][] {
  const [layer] = Object.values(new VectorTile(new PbfReader(body)).layers)
  const features = Array.from({ length: layer?.length ?? 0 }, (_, index) => layer?.feature(index))
  return features
    .filter((one) => one !== undefined && touchesTile(one))
    .map((one) => [`${tile}/${one?.id ?? one?.properties.id}`, one as VectorTileFeature])
}

function touchesTile(feature: VectorTileFeature): boolean {
  const [west, south, east, north] = feature.bbox()
  const within = (from: number, to: number) => to >= 0 && from < feature.extent
  return within(west ?? 0, east ?? 0) && within(south ?? 0, north ?? 0)
}

/** The id is a property for some, and only the feature's id for others. */
function propertiesIn(features: ReadonlyMap<string, VectorTileFeature>): string {
  const [first] = features.values()
  return Object.keys(first?.properties ?? {})
    .filter((name) => name !== 'id')
    .sort()
    .join(', ')
}
