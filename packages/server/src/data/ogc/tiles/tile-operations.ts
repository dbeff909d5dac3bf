// Tiles of collections (OGC API Tiles, Part 1), made like all other tiles.
import Type, { type Static } from 'typebox'
import type { Answer, Operation } from '../../../api/http/operation.ts'
import { ApiError } from '../../../kernel/errors.ts'
import { aggregateParameter, timeParameter, valueParameter } from '../../datasets/queries/query-parameters.ts'
import { serveTile } from '../../tiles/http/serve-tile.ts'
import { tileParameters } from '../../tiles/http/tile-query.ts'
import { readQuestion, readTile } from '../../tiles/http/tile-request.ts'
import type { LoadedTileSource } from '../../tiles/source/tile-source-type.ts'
import { jsonAnswer, linkedDocument } from '../answers.ts'
import { collectionAccess, findCollection, reachDataset } from '../collections/collections.ts'
import { documentPage } from '../html/html-pages.ts'
import { itemsSchema } from '../items/items-query.ts'
import { addressOf, mediaTypes, type Root, selfLinks } from '../links.ts'
import { formQuery } from '../negotiate.ts'
import {
  type CollectionContext,
  formFor,
  type OgcServices,
  operation,
  type PublicContext,
  rootFor,
} from '../ogc-services.ts'
import { isWithin, tileMatrixSetId, tileMatrixSetUri, webMercatorQuad } from './tile-matrix-set.ts'
import { limitsAt, type TiledCollection, tilesetDocument, tilesetJson, tilesetsDocument } from './tileset.ts'

/** What selects the rows of a tile, or counts them by cell. */
const collectionTileQuery = Type.Object({
  filter: itemsSchema.properties.filter,
  'filter-lang': itemsSchema.properties['filter-lang'],
  time: timeParameter,
  aggregate: aggregateParameter,
  value: valueParameter,
})

const tilesetQuery = Type.Object({
  f: Type.Optional(Type.Enum(['json', 'html', 'tilejson'], { description: 'The form of the answer' })),
})

/** A document as JSON or, for people, as a page. */
function answer(
  context: PublicContext,
  title: string,
  form: 'json' | 'html',
  body: { links: readonly Linked[] },
): Answer {
  return form === 'html' ? documentPage(rootFor(context), title, body) : jsonAnswer(body)
}

type Linked = ReturnType<typeof selfLinks>[number]

export const tileOperations: readonly Operation<OgcServices>[] = [
  operation({
    id: 'ogc.tileMatrixSets',
    method: 'GET',
    path: '/ogc/tileMatrixSets',
    summary: 'The tile matrix sets',
    access: 'public',
    query: formQuery,
    success: linkedDocument,
    handle(context, { query }) {
      const root = rootFor(context)
      const form = formFor(context, query.f)
      return answer(context, 'Tile matrix sets', form, {
        links: selfLinks((f) => addressOf(root, '/tileMatrixSets', { f }), form),
        tileMatrixSets: [
          {
            id: tileMatrixSetId,
            title: webMercatorQuad.title,
            uri: tileMatrixSetUri,
            links: matrixSetLinks(root, 'json'),
          },
        ],
      } as { links: readonly Linked[] })
    },
  }),
  operation({
    id: 'ogc.tileMatrixSet',
    method: 'GET',
    path: '/ogc/tileMatrixSets/{tileMatrixSetId}',
    summary: 'A tile matrix set',
    access: 'public',
    query: formQuery,
    success: linkedDocument,
    handle(context, { params, query }) {
      checkMatrixSet(params.tileMatrixSetId)
      const form = formFor(context, query.f)
      return answer(context, tileMatrixSetId, form, {
        ...webMercatorQuad,
        links: matrixSetLinks(rootFor(context), form),
      })
    },
  }),
  operation({
    id: 'ogc.tilesets',
    method: 'GET',
    path: '/ogc/collections/{id}/tiles',
    summary: 'The tilesets of a collection',
    access: collectionAccess,
    query: formQuery,
    success: linkedDocument,
    async handle(context, { params: { id }, query }) {
      const collection = await tiledCollection(context, id)
      const form = formFor(context, query.f)
      return answer(
        context,
        `Tiles of ${collection.dataset.name}`,
        form,
        tilesetsDocument(rootFor(context), collection, form),
      )
    },
  }),
  operation({
    id: 'ogc.tileset',
    method: 'GET',
    path: '/ogc/collections/{id}/tiles/{tileMatrixSetId}',
    summary: 'A tileset of a collection',
    access: collectionAccess,
    query: tilesetQuery,
    success: linkedDocument,
    async handle(context, { params, query: { f } }) {
      checkMatrixSet(params.tileMatrixSetId)
      const collection = await tiledCollection(context, params.id)
      const root = rootFor(context)
      if (f === 'tilejson') return jsonAnswer(tilesetJson(root, collection))
      const form = formFor(context, f)
      return answer(
        context,
        `${collection.dataset.name} in ${tileMatrixSetId}`,
        form,
        tilesetDocument(root, collection, form),
      )
    },
  }),
  operation({
    id: 'ogc.collection.vector.getTile',
    method: 'GET',
    path: '/ogc/collections/{id}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}',
    summary: 'A tile of a collection',
    description: 'The row comes before the column. 204: nothing is there; 404: nothing can be there.',
    access: collectionAccess,
    query: collectionTileQuery,
    ownParameters: true,
    isTile: true,
    success: {
      status: 200,
      description: 'A Mapbox vector tile',
      contentType: mediaTypes.vectorTile,
      schema: Type.String(),
    },
    failures: [204, 304, 413, 429, 502, 504],
    handle: (context, { params, query }) => answerTile(context, params, query),
  }),
]

const matrixSetLinks = (root: Root, form: 'json' | 'html') =>
  selfLinks((f) => addressOf(root, `/tileMatrixSets/${tileMatrixSetId}`, { f }), form)

function checkMatrixSet(id: string): void {
  if (id !== tileMatrixSetId) throw new ApiError('not_found', `The only tile matrix set is ${tileMatrixSetId}.`)
}

async function tiledCollection(context: CollectionContext, id: string): Promise<TiledCollection> {
  const collection = await findCollection(context, id)
  return { ...collection, tiles: await tilesOf(context, id) }
}

/** The tiles of a collection, at once if they are cached. */
async function tilesOf(context: CollectionContext, idOrSlug: string): Promise<LoadedTileSource> {
  const { reach, id } = await reachDataset(context, idOrSlug)
  return context.services.tiles.sources.ofDataset(reach, id).catch((error) => {
    throw error instanceof ApiError && error.status < 500 ? noTiles() : error
  })
}

const noTiles = (): ApiError => new ApiError('not_found', 'There is no collection with this id that has a geometry.')

type TileParams = Readonly<Record<'id' | 'tileMatrixSetId' | 'tileMatrix' | 'tileRow' | 'tileCol', string>>

async function answerTile(
  context: CollectionContext,
  params: TileParams,
  query: Static<typeof collectionTileQuery>,
): Promise<Answer> {
  checkMatrixSet(params.tileMatrixSetId)
  const tiles = await tilesOf(context, params.id)
  const tile = readTile({ z: params.tileMatrix, x: params.tileCol, y: params.tileRow })
  const { minZoom, maxZoom } = tiles.source
  const tree = readQuestion(context.tree, collectionTileQuery, tiles.parameters)
  const { 'filter-lang': language = 'cql2-text', ...others } = query
  const inCql = query.filter === undefined ? others : { ...others, 'filter-lang': language }
  const parameters = tileParameters(inCql, tree, tiles.parameters)
  // Cells reach beyond the rows that they hold.
  const isInside = parameters.aggregate !== undefined || isWithin(limitsAt(tiles, tile.z), tile.y, tile.x)
  if (tile.z < minZoom || tile.z > maxZoom || !isInside) {
    throw new ApiError('not_found', 'The tile lies outside of the limits of its tileset.')
  }
  const accept = context.request.headers['accept-encoding']
  const tileRequest = { tile, extension: 'mvt', parameters, tree, accept } as const
  return serveTile(context.services.tiles.readThrough, tiles, tileRequest, context)
}
