// Serves a tile with its ETag validator: whole, empty or unchanged.
import type { FastifyRequest } from 'fastify'
import { type Compression, chooseCompression, compressions } from '../../../api/http/answers/compression.ts'
import type { Answer, BegunAnswer } from '../../../api/http/operation.ts'
import { isUnchanged } from '../../../api/resource/revision.ts'
import { whenReady } from '../../../kernel/concurrency/when-ready.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { ReadThroughCache, ReadTile } from '../cache/read-through-cache.ts'
import type { CachedTile } from '../cache/tile-cache.ts'
import type { LoadedTileSource } from '../source/tile-source-type.ts'
import { revisionOf, tileHeaders } from './tile-answer.ts'
import { isVector } from './tile-json.ts'
import type { TileRequest } from './tile-request.ts'

/** At once if the tile is cached. The signal is used only if it has to be made. */
export function serveTile(
  readThrough: ReadThroughCache,
  loadedSource: LoadedTileSource,
  tileRequest: TileRequest,
  context: { readonly request: FastifyRequest; readonly signal: AbortSignal },
): Answer | Promise<Answer> {
  const read = readThrough.get(loadedSource, tileRequest, () => context.signal)
  return whenReady(read, (ready) => answerTile(ready, loadedSource, tileRequest, context.request))
}

/** Nothing if the tile has to be made. */
export function serveReadyTile(
  readThrough: ReadThroughCache,
  loadedSource: LoadedTileSource,
  tileRequest: TileRequest,
  request: Conditions,
): Answer | undefined {
  const ready = readThrough.ready(loadedSource, tileRequest)
  return ready && answerTile(ready, loadedSource, tileRequest, request)
}

/** Made without a promise; nothing if it has to be made the usual way. */
export function serveQuickTile(
  readThrough: ReadThroughCache,
  loadedSource: LoadedTileSource,
  tileRequest: TileRequest,
  request: Conditions,
): BegunAnswer | undefined {
  const begin = readThrough.quick(loadedSource, tileRequest)
  return begin && ((done) => begin((read) => done(read && answerTile(read, loadedSource, tileRequest, request))))
}

/** The headers of a request, which may say that the client has the tile. */
type Conditions = Pick<FastifyRequest, 'headers'>

function answerTile(
  { tile, compression, bytes }: ReadTile,
  loadedSource: LoadedTileSource,
  tileRequest: TileRequest,
  request: Conditions,
): Answer {
  const isEmpty = bytes.byteLength === 0
  // Maps overzoom the parent where an image is missing, but only if the server answers 404.
  if (isEmpty && !isVector(loadedSource)) throw new ApiError('not_found', 'There is no tile here.')
  const headersFor = (form: Compression) => tileHeaders(loadedSource, tileRequest, tile, form)
  const had = heldForm(tile, compression, tileRequest, request)
  if (had) return { status: 304, headers: headersFor(had) }
  const headers = headersFor(compression)
  if (isEmpty) return { status: 204, headers }
  return { headers, body: bytes }
}

/** Any form that the client has cached and accepts is as good as the one it would get. */
function heldForm(
  tile: CachedTile,
  compression: Compression,
  { accept }: TileRequest,
  request: Conditions,
): Compression | undefined {
  if (request.headers['if-none-match'] === undefined) return undefined
  return [compression, ...compressions].find(
    (form) => isUnchanged(request, revisionOf(tile, form)) && takes(accept, form, compression),
  )
}

const takes = (accept: string | undefined, form: Compression, chosen: Compression): boolean =>
  form === chosen || chooseCompression(accept, [form]) === form
