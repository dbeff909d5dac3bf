// Serves a tile with its ETag validator: whole, empty or unchanged.
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { type Compression, chooseCompression, compressions } from '../http/compression.ts'
import type { Answer } from '../http/operation.ts'
import { isUnchanged } from '../resource/revision.ts'
import type { ReadThroughCache } from './read-through-cache.ts'
import { revisionOf, tileHeaders } from './tile-answer.ts'
import { isVector } from './tile-json.ts'
import type { TileAsked } from './tile-request.ts'
import type { LoadedTileSource } from './tile-source-type.ts'

/** The signal is used only if the tile has to be made. */
export async function serveTile(
  readThrough: ReadThroughCache,
  known: LoadedTileSource,
  asked: TileAsked,
  context: { readonly request: FastifyRequest; readonly signal: AbortSignal },
): Promise<Answer> {
  const { request } = context
  const { tile, compression, bytes } = await readThrough.get(known, asked, () => context.signal)
  const isEmpty = bytes.byteLength === 0
  // Maps overzoom the parent where an image is missing, but only if the server answers 404.
  if (isEmpty && !isVector(known)) throw new ApiError('not_found', 'There is no tile here.')
  const headersFor = (form: Compression) => tileHeaders(known, asked, tile, form)
  // Any form that the client has cached and accepts is as good as the one it would get.
  const had = [compression, ...compressions].find(
    (form) => isUnchanged(request, revisionOf(tile, form)) && takes(asked.accept, form, compression),
  )
  if (had) return { status: 304, headers: headersFor(had) }
  const headers = headersFor(compression)
  if (isEmpty) return { status: 204, headers }
  return { headers, body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }
}

const takes = (accept: string | undefined, form: Compression, chosen: Compression): boolean =>
  form === chosen || chooseCompression(accept, [form]) === form
