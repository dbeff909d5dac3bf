/**
 * The life of a tile, from request to bytes. Key and ACL were checked before (api/http/mount.ts). Each step is a folder:
 *
 * 1. `http/` reads the address and the parameters.
 * 2. `source/` finds the tile source and the version of its data, cached for 0.9 s.
 * 3. `cache/` has the tile, or makes it once for all who ask for it at the same time.
 * 4. `strategy/` chooses what it is made from: the table, its overview, a sample, clusters, or rows in memory. `sql/` writes the query.
 *    Tiles of `archives/` are read as they are.
 * 5. `workers/` read the rows in a thread and encode them with `mvt/`.
 * 6. `http/serve-tile.ts` answers: 304 for who has it, 204 for nothing, compressed as the client likes it; the headers, how long it may be kept
 *    among them, are those of `http/tile-answer.ts`.
 *
 * Where key, source and tile are cached nothing is awaited, so that the answer is sent in the same turn of the event loop. Small
 * tiles that are like others of the last second take a short cut past 4 and 5: `strategy/compiled-tiles.ts`.
 */
import type { Static } from 'typebox'
import type { Scope } from '../../api/access/acl.ts'
import type { Answer, BegunAnswer, Operation } from '../../api/http/operation.ts'
import { whenReady } from '../../kernel/concurrency/when-ready.ts'
import { checkTile, checkTileParameters } from './http/check-tile.ts'
import { explainTile } from './http/explain-tile.ts'
import { serveQuickTile, serveReadyTile, serveTile } from './http/serve-tile.ts'
import { tileParameters, tileQuery } from './http/tile-query.ts'
import {
  namedVersion,
  readExtension,
  readQuestion,
  readTile,
  type TileRequest,
  variesAddressOnly,
} from './http/tile-request.ts'
import type { TileServices } from './http/tile-services.ts'
import type { LoadedTileSource } from './source/tile-source-type.ts'

type TileAddress = Readonly<Record<'id' | 'z' | 'x' | 'y' | 'ext', string>>
type Query = Static<typeof tileQuery>
type Context = Parameters<Operation<TileServices>['handle']>[0] & { scope: Scope }
type ReadyContext = Parameters<NonNullable<Operation<TileServices>['answerNow']>>[0] & { scope: Scope }

export function answerTile(context: Context, address: TileAddress, query: Query): Answer | Promise<Answer> {
  const place = { tile: readTile(address), extension: readExtension(address.ext) }
  const source = context.services.tiles.sources.get(context.scope, address.id, namedVersion(context.tree))
  return whenReady(source, (loadedSource) => answerFrom(loadedSource, context, place, query))
}

function answerFrom(
  loadedSource: LoadedTileSource,
  context: Context,
  place: Pick<TileRequest, 'tile' | 'extension'>,
  query: Query,
): Answer | Promise<Answer> {
  const { services, scope, signal, request } = context
  checkTile(loadedSource, place)
  const tree = readQuestion(context.tree, tileQuery, loadedSource.parameters)
  const parameters = tileParameters(query, tree, loadedSource.parameters)
  checkTileParameters(loadedSource, parameters)
  const tileRequest: TileRequest = { ...place, parameters, tree, accept: request.headers['accept-encoding'] }
  if (query.explain) return explained(explainTile(services.tiles, loadedSource, tileRequest, scope, signal))
  return serveTile(services.tiles.readThrough, loadedSource, tileRequest, context)
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }
const explained = async (body: Promise<unknown>): Promise<Answer> => ({ body: await body, headers: jsonHeaders })

/** The tile if its source is cached, and it needs no parameters and little work: without the framework. */
export function answerReadyTile(
  { services: { tiles }, scope, tree, headers }: ReadyContext,
  address: TileAddress,
): Answer | BegunAnswer | undefined {
  const loadedSource = tiles.sources.fresh(scope, address.id, namedVersion(tree))
  if (!loadedSource || !variesAddressOnly(tree)) return undefined
  const place = { tile: readTile(address), extension: readExtension(address.ext) }
  checkTile(loadedSource, place)
  const question = readQuestion(tree, tileQuery, loadedSource.parameters)
  const tileRequest: TileRequest = { ...place, parameters: {}, tree: question, accept: headers['accept-encoding'] }
  return (
    serveReadyTile(tiles.readThrough, loadedSource, tileRequest, { headers }) ??
    serveQuickTile(tiles.readThrough, loadedSource, tileRequest, { headers })
  )
}
