import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Scope } from '../access/acl.ts'
import { ApiError, invalid } from '../errors.ts'
import { type Answer, type Operation, operation } from '../http/operation.ts'
import type { QueryTree } from '../http/query-string.ts'
import type { DatasetTileServices } from './dataset-tiles.ts'
import { explainTile } from './explain-tile.ts'
import type { Known, KnownSources } from './known-sources.ts'
import { previewStyle } from './preview-style.ts'
import { serveTile } from './serve-tile.ts'
import type { ServedTiles, TileAsked } from './served-tiles.ts'
import { described as describedAs } from './tile-answer.ts'
import { isVector, type Links, tileJson } from './tile-json.ts'
import {
  cacheParameters,
  type Extension,
  readExtension,
  readQuestion,
  readTile,
  restOf,
  type TileParameters,
} from './tile-request.ts'

export type TileDependencies = DatasetTileServices & {
  known: KnownSources
  served: ServedTiles
  /** The address that the client uses. */
  baseUrl(request: FastifyRequest): string
}

const access = { class: 'tiles', level: 'execute' } as const

const described = {
  attributes: Type.Optional(
    Type.Array(Type.String({ maxLength: 1_000 }), { description: 'The attributes that the features have' }),
  ),
  filter: Type.Optional(Type.Object({}, { description: 'Conditions on attributes' })),
  limit: Type.Optional(Type.Integer({ minimum: 0, description: 'At most so many features' })),
  ...cacheParameters,
}
const describedQuery = Type.Object(described)
const tileQuery = Type.Object({
  explain: Type.Optional(Type.Boolean({ description: 'Answer how the tile is made, instead of the tile' })),
  ...described,
})

export function tileOperations(dependencies: TileDependencies): Operation[] {
  const { known, baseUrl } = dependencies
  const describe = async (
    context: Context,
    id: string,
    write: typeof tileJson | typeof previewStyle,
  ): Promise<Answer> => {
    const links: Links = { base: baseUrl(context.request), key: keyInAddress(context.tree) }
    const source = await known.get(context.scope, id)
    readQuestion(context.tree, describedQuery, source.parameters)
    return describedAs(context.request, write(source, links, restOf(context.request.raw.url ?? '')))
  }
  return [
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
      success: { status: 200, description: 'The tile; 204 when there is nothing in it', contentType: tileType },
      failures: [204, 304, 413, 429, 502, 503, 504],
      handle: (context, { params, query }) => answerTile(dependencies, context, params, query),
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
      handle: (context, { params: { id = '' } }) => describe(context, id, tileJson),
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
      handle: (context, { params: { id = '' } }) => describe(context, id, previewStyle),
    }),
  ]
}

const tileType = 'application/vnd.mapbox-vector-tile'

type Context = Parameters<Operation['handle']>[0] & { scope: Scope; tree: QueryTree; request: FastifyRequest }

const keyInAddress = ({ 'api-key': key }: QueryTree): string | undefined => (typeof key === 'string' ? key : undefined)

async function answerTile(
  dependencies: TileDependencies,
  context: Context,
  params: Readonly<Record<string, string>>,
  query: Static<typeof tileQuery>,
): Promise<Answer> {
  const { request, scope } = context
  const tile = readTile(params)
  const extension = readExtension(params.ext ?? '')
  const known = await dependencies.known.get(scope, params.id ?? '')
  checkForm(known, extension)
  const { minZoom, maxZoom } = known.source
  if (tile.z < minZoom || tile.z > maxZoom) {
    throw new ApiError('not_found', `This source has tiles from zoom ${minZoom} to ${maxZoom}.`)
  }
  const tree = readQuestion(context.tree, tileQuery, known.parameters)
  const { explain, attributes, filter, limit } = query
  const parameters = withoutAbsent({ attributes, filter, limit })
  if (!known.dataset && Object.keys(parameters).length > 0) {
    throw invalid(
      `query/${Object.keys(parameters)[0]}`,
      'is only for tiles of datasets; this source is an archive of ready tiles',
    )
  }
  const asked: TileAsked = { tile, extension, parameters, tree, accept: request.headers['accept-encoding'] }
  if (explain) {
    return { body: await explainTile(dependencies, known, asked, scope, context.signal), headers: jsonHeaders }
  }
  return serveTile(dependencies.served, known, asked, context)
}

/** Absent and undefined are the same to a caller, but not to whoever counts what was asked. */
const withoutAbsent = (asked: object): TileParameters =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

const rasterForms: Readonly<Record<string, readonly string[]>> = { jpg: ['jpg', 'jpeg'] }

/** Images are not made of vectors, nor the other way round. */
function checkForm(known: Known, extension: Extension): void {
  const { archive } = known
  const forms: readonly (string | undefined)[] = isVector(known)
    ? ['mvt', 'pbf', 'geojson']
    : (rasterForms[archive?.format ?? ''] ?? [archive?.format])
  if (!forms.includes(extension))
    throw new ApiError('not_found', `This source has no ${extension} tiles. Ask for ${forms.join(' or ')}.`)
}
