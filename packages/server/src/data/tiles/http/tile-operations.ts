import Type, { type Static } from 'typebox'
import type { Scope } from '../../../api/access/acl.ts'
import { nameList } from '../../../api/http/input/bounded-schemas.ts'
import type { QueryTree } from '../../../api/http/input/query-string.ts'
import type { Answer, Operation } from '../../../api/http/operation.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { askedFilter, filterLanguageParameter, filterParameter } from '../../datasets/queries/query-parameters.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { explainTile } from './explain-tile.ts'
import { previewStyle } from './preview-style.ts'
import { serveReadyTile, serveTile } from './serve-tile.ts'
import { described as describedAs } from './tile-answer.ts'
import { isVector, type Links, tileJson } from './tile-json.ts'
import type { TileAsked } from './tile-request.ts'
import {
  cacheParameters,
  type Extension,
  namedVersion,
  readExtension,
  readQuestion,
  readTile,
  restOf,
  type TileParameters,
  variesAddressOnly,
} from './tile-request.ts'
import { operation, type TileServices } from './tile-services.ts'

const tileType = 'application/vnd.mapbox-vector-tile'
const access = { class: 'tiles', level: 'execute' } as const

const described = {
  attributes: Type.Optional(nameList('The attributes that the features have')),
  filter: filterParameter,
  'filter-lang': filterLanguageParameter,
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'At most so many features' })),
  ...cacheParameters,
}
const describedQuery = Type.Object(described)
const tileQuery = Type.Object({
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the tile is made, instead of the tile' })),
  ...described,
})

async function describe(
  { request, tree, scope, services: { tiles, baseUrl } }: Context,
  id: string,
  write: typeof tileJson | typeof previewStyle,
): Promise<Answer> {
  const links: Links = { base: baseUrl(request), key: keyInAddress(tree) }
  const source = await tiles.sources.get(scope, id, namedVersion(tree))
  readQuestion(tree, describedQuery, source.parameters)
  return describedAs(request, write(source, links, restOf(request.raw.url ?? '')))
}

export const tileOperations: readonly Operation<TileServices>[] = [
  operation({
    id: 'tiles.tile',
    method: 'GET',
    path: '/tiles/{id}/{z}/{x}/{y}.{ext}',
    summary: 'Get a tile',
    description:
      'mvt and pbf are vector tiles, geojson the same features; png, jpg, webp and avif are images of an archive. Parameters of the dataset itself are given as query parameters too. X-Tile-Features says how many features are shown, and how many there would be without a limit; ~ stands before a total that is estimated.',
    access,
    query: tileQuery,
    ownParameters: true,
    isTile: true,
    success: { status: 200, description: 'The tile; 204 when there is nothing in it', contentType: tileType },
    failures: [204, 304, 413, 429, 502, 503, 504],
    handle: (context, { params, query }) => answerTile(context, params, query),
    answerNow: readyTile,
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
    handle: (context, { params: { id } }) => describe(context, id, tileJson),
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
    handle: (context, { params: { id } }) => describe(context, id, previewStyle),
  }),
]

type Context = Parameters<Operation<TileServices>['handle']>[0] & { scope: Scope }

type ReadyContext = Parameters<NonNullable<Operation<TileServices>['answerNow']>>[0] & { scope: Scope }

/** The tile if its source is cached, and it needs no parameters and no work. */
function readyTile(
  { services: { tiles }, scope, tree, headers }: ReadyContext,
  params: TileParams,
): Answer | undefined {
  const known = tiles.sources.fresh(scope, params.id, namedVersion(tree))
  if (!known || !variesAddressOnly(tree)) return undefined
  const tile = readTile(params)
  const extension = readExtension(params.ext)
  checkForm(known, extension)
  checkZoom(known, tile)
  const question = readQuestion(tree, tileQuery, known.parameters)
  const asked: TileAsked = { tile, extension, parameters: {}, tree: question, accept: headers['accept-encoding'] }
  return serveReadyTile(tiles.readThrough, known, asked, { headers })
}

type TileParams = Readonly<Record<'id' | 'z' | 'x' | 'y' | 'ext', string>>

const keyInAddress = ({ 'api-key': key }: QueryTree): string | undefined => (typeof key === 'string' ? key : undefined)

function answerTile(context: Context, params: TileParams, query: Static<typeof tileQuery>): Answer | Promise<Answer> {
  const tile = readTile(params)
  const extension = readExtension(params.ext)
  const known = context.services.tiles.sources.get(context.scope, params.id, namedVersion(context.tree))
  return whenReady(known, (source) => answerFrom(source, context, { tile, extension }, query))
}

function answerFrom(
  known: LoadedTileSource,
  context: Context,
  { tile, extension }: Pick<TileAsked, 'tile' | 'extension'>,
  query: Static<typeof tileQuery>,
): Answer | Promise<Answer> {
  const { tiles } = context.services
  checkForm(known, extension)
  checkZoom(known, tile)
  const tree = readQuestion(context.tree, tileQuery, known.parameters)
  const parameters = given(query, tree)
  const [first] = known.layer ? [] : Object.keys(parameters)
  if (first !== undefined) {
    throw invalid(`query/${first}`, 'is only for tiles of datasets; this source is an archive of ready tiles')
  }
  const accept = context.request.headers['accept-encoding']
  const asked: TileAsked = { tile, extension, parameters, tree, accept }
  return query.explain ? explained(known, asked, context) : serveTile(tiles.readThrough, known, asked, context)
}

function checkZoom({ source: { minZoom, maxZoom } }: LoadedTileSource, { z }: TileAsked['tile']): void {
  if (z < minZoom || z > maxZoom)
    throw new ApiError('not_found', `This source has tiles from zoom ${minZoom} to ${maxZoom}.`)
}

const explained = async (known: LoadedTileSource, asked: TileAsked, { scope, signal, services }: Context) => ({
  body: await explainTile(services.tiles, known, asked, scope, signal),
  headers: jsonHeaders,
})

/** Without undefined values, so that an omitted parameter does not count as given. */
function given(query: Static<typeof tileQuery>, tree: QueryTree): TileParameters {
  const { attributes, limit } = query
  const { where, filterLanguage } = askedFilter(query, tree)
  return {
    ...(attributes !== undefined && { attributes }),
    ...(where !== undefined && { filter: where }),
    ...(filterLanguage !== undefined && { 'filter-lang': filterLanguage }),
    ...(limit !== undefined && { limit }),
  }
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

const rasterForms: Readonly<Record<string, readonly string[]>> = { jpg: ['jpg', 'jpeg'] }

/** Images are not made from vector data, nor vice versa. */
function checkForm(known: LoadedTileSource, extension: Extension): void {
  const { archive } = known
  const forms: readonly (string | undefined)[] = isVector(known)
    ? ['mvt', 'pbf', 'geojson']
    : (rasterForms[archive?.format ?? ''] ?? [archive?.format])
  if (!forms.includes(extension))
    throw new ApiError('not_found', `This source has no ${extension} tiles. Ask for ${forms.join(' or ')}.`)
}
