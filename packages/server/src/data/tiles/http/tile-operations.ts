import Type, { type Static } from 'typebox'
import type { Scope } from '../../../api/access/acl.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import type { Answer, Operation } from '../../../api/http/operation.ts'
import { answerReadyTile, answerTile } from '../life-of-a-tile.ts'
import { checkPlan } from '../strategy/dataset-tiles.ts'
import { previewStyle } from './preview-style.ts'
import { described as describedAs } from './tile-answer.ts'
import { type Links, tileJson } from './tile-json.ts'
import { describedQuery, tileParameters, tileQuery } from './tile-query.ts'
import { namedVersion, readQuestion, restOf } from './tile-request.ts'
import { operation, type TileServices } from './tile-services.ts'

const tileType = 'application/vnd.mapbox-vector-tile'
const access = { class: 'tiles', level: 'execute' } as const

async function describe(
  { request, tree, scope, services: { tiles, baseUrl } }: Context,
  id: string,
  query: Static<typeof describedQuery>,
  write: typeof tileJson | typeof previewStyle,
): Promise<Answer> {
  const links: Links = { base: baseUrl(request), key: keyInAddress(tree) }
  const source = await tiles.sources.get(scope, id, namedVersion(tree))
  readQuestion(tree, describedQuery, source.parameters)
  const cells = checkPlan(source, tileParameters(query, tree, source.parameters))
  return describedAs(request, write(source, links, restOf(request.raw.url ?? ''), cells))
}

export const tileOperations: readonly Operation<TileServices>[] = [
  operation({
    id: 'tiles.tile',
    method: 'GET',
    path: '/tiles/{id}/{z}/{x}/{y}.{ext}',
    summary: 'Get a tile',
    description:
      'mvt and pbf are vector tiles, geojson the same features; png, jpg, webp and avif are images of an archive. Parameters of the dataset itself are given as query parameters too. X-Tile-Features says how many features are shown, and how many there would be without a limit; ~ stands before a total that is estimated. Features of a thinned zoom have svc_count, the number of rows that each stands for.',
    access,
    query: tileQuery,
    ownParameters: true,
    isTile: true,
    success: { status: 200, description: 'The tile; 204 when there is nothing in it', contentType: tileType },
    failures: [204, 304, 413, 429, 502, 503, 504],
    handle: (context, { params, query }) => answerTile(context, params, query),
    answerNow: answerReadyTile,
  }),
  operation({
    id: 'tiles.describe',
    method: 'GET',
    path: '/tiles/{id}/index.json',
    summary: 'Get the TileJSON of a tile source',
    access,
    query: describedQuery,
    ownParameters: true,
    success: { status: 200, description: 'TileJSON 3.0.0', schema: Type.Unknown(), headers: ['ETag'] },
    failures: [304, 502, 504],
    handle: (context, { params: { id }, query }) => describe(context, id, query, tileJson),
  }),
  operation({
    id: 'tiles.style',
    method: 'GET',
    path: '/tiles/{id}/style.json',
    summary: 'Get a style that shows a tile source',
    access,
    query: describedQuery,
    ownParameters: true,
    success: { status: 200, description: 'A MapLibre style', schema: Type.Unknown(), headers: ['ETag'] },
    failures: [304, 502, 504],
    handle: (context, { params: { id }, query }) => describe(context, id, query, previewStyle),
  }),
]

type Context = Parameters<Operation<TileServices>['handle']>[0] & { scope: Scope }

const keyInAddress = ({ 'api-key': key }: QueryTree): string | undefined => (typeof key === 'string' ? key : undefined)
