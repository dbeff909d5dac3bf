import type { FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { type Compression, chooseCompression, compressions } from '../http/compression.ts'
import type { Answer } from '../http/operation.ts'
import { isUnchanged } from '../resource/revision.ts'
import type { Known } from './known-sources.ts'
import type { ServedTiles, TileAsked } from './served-tiles.ts'
import { revisionOf, tileHeaders } from './tile-answer.ts'
import { isVector } from './tile-json.ts'

/** A tile as an answer: whole, empty or unchanged. The signal is read only when the tile has to be made. */
export async function serveTile(
  served: ServedTiles,
  known: Known,
  asked: TileAsked,
  context: { readonly request: FastifyRequest; readonly signal: AbortSignal },
): Promise<Answer> {
  const { request } = context
  const { tile, compression, bytes } = await served.get(known, asked, () => context.signal)
  const isEmpty = bytes.byteLength === 0
  // Maps enlarge the tile above where an image is missing, but only when they are told that it is.
  if (isEmpty && !isVector(known)) throw new ApiError('not_found', 'There is no tile here.')
  const headersFor = (form: Compression) => tileHeaders(known, asked, tile, form)
  // Whichever form the client has and takes is as good as the one it would get.
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
