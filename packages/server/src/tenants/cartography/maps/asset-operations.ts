import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { chooseCompression } from '../../../api/http/answers/compression.ts'
import { type Answer, type Operation, operationUsing } from '../../../api/http/operation.ts'
import { etagOf, isUnchanged } from '../../../api/resource/revision.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Fonts } from './fonts.ts'
import type { Sprites } from './sprites.ts'

const unpack = promisify(gunzip)
const jsonType = 'application/json; charset=utf-8'
const glyphType = 'application/x-protobuf'
const binary = Type.String({ format: 'binary' })

export type AssetServices = { readonly fonts: Fonts; readonly sprites: Sprites }
const operation = operationUsing<AssetServices>()

/** Fonts and sprites of map styles, public because browsers fetch them without a key. */
export const assetOperations: readonly Operation<AssetServices>[] = [
  operation({
    id: 'fonts.list',
    method: 'GET',
    path: '/fonts.json',
    summary: 'List the installed fonts',
    access: 'public',
    success: {
      status: 200,
      description: 'Their names, as a style’s `text-font` has them',
      schema: Type.Array(Type.String()),
      headers: ['ETag'],
    },
    async handle({ request, services: { fonts } }) {
      const bytes = Buffer.from(JSON.stringify(fonts.names()))
      return asset(request, { bytes, contentType: jsonType, maxAgeSeconds: 300 })
    },
  }),
  operation({
    id: 'fonts.range',
    method: 'GET',
    path: '/fonts/{fontstack}/{range}.pbf',
    summary: 'Get the glyphs of a range of characters',
    description:
      'Of several fonts, `A,B`, the first that has a character gives its glyph. Fonts not installed are skipped.',
    access: 'public',
    success: { status: 200, description: 'Glyphs', contentType: glyphType, schema: binary, headers: ['ETag'] },
    async handle({ request, services: { fonts } }, { params }) {
      const range = await fonts.range(params.fontstack, params.range)
      if (!range)
        throw new ApiError(
          'not_found',
          'There is no such font, or the range is not one of 256 characters such as 0-255.',
        )
      return asset(request, { ...range, contentType: glyphType, maxAgeSeconds: 86_400 })
    },
  }),
  operation({
    id: 'sprites.file',
    method: 'GET',
    path: '/sprites/{path}',
    summary: 'Get a sheet of icons, or its index',
    access: 'public',
    success: {
      status: 200,
      description: 'A PNG or JSON',
      contentType: 'image/png',
      schema: binary,
      headers: ['ETag'],
    },
    async handle({ request, services: { sprites } }, { params }) {
      const file = await sprites.file(params.path)
      if (!file) throw new ApiError('not_found', 'There is no such sprite.')
      return asset(request, { ...file, maxAgeSeconds: 86_400 })
    },
  }),
]

type Asset = { bytes: Buffer; isGzip?: boolean; contentType: string; maxAgeSeconds: number }

/** Compressed files are sent as they are to clients that accept them; each coding has its own ETag. */
async function asset(request: FastifyRequest, { bytes, isGzip, contentType, maxAgeSeconds }: Asset): Promise<Answer> {
  const isPacked = isGzip === true && chooseCompression(request.headers['accept-encoding'], ['gzip']) === 'gzip'
  const revision = `${createHash('sha1').update(bytes).digest('base64url')}${isPacked ? '-gzip' : ''}`
  const headers: Record<string, string> = {
    'cache-control': `public, max-age=${maxAgeSeconds}`,
    etag: etagOf(revision),
    ...(isGzip !== undefined && { vary: 'accept-encoding' }),
  }
  if (isUnchanged(request, revision)) return { status: 304, headers }
  headers['content-type'] = contentType
  if (isPacked) headers['content-encoding'] = 'gzip'
  return { headers, body: isGzip && !isPacked ? await unpack(bytes) : bytes }
}
