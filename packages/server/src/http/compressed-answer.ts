import { pipeline, Readable, Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { FastifyReply } from 'fastify'
import type { AclClass } from '../access/acl.ts'
import { type Compression, chooseCompression, compress, compressions, compressWell } from './compression.ts'
import type { DeclaredOperation } from './operation.ts'

/** A response body: text, bytes or a stream. */
export type Body = string | Uint8Array | Readable

/** An answer of this size or less fits into one packet anyway. */
const worthCompressing = 1_024
const compressible = /^(application\/(json|javascript|[\w.-]+\+json)|text\/(?!event-stream))/

/** Their answers hold keys, tokens or links with tokens. */
const secretClasses: ReadonlySet<AclClass> = new Set(['apikeys', 'applications', 'auth', 'users'])

/**
 * Whether the answers of an operation may be compressed. Those that hold a credential are not: whoever can add text to
 * such an answer could guess the credential from its length (BREACH).
 */
export function mayCompress({ access, method }: Pick<DeclaredOperation, 'access' | 'method'>): boolean {
  if (access === 'public') return method === 'GET'
  return access === 'key' || !secretClasses.has(access.class)
}

/** Content negotiation of the coding, by type, size and `Accept-Encoding`. */
export function codingOf(reply: FastifyReply, body: Body): Compression {
  const isLarge = body instanceof Readable || body.length > worthCompressing
  if (!isLarge || reply.hasHeader('content-encoding')) return 'identity'
  if (!compressible.test(String(reply.getHeader('content-type') ?? ''))) return 'identity'
  reply.header('vary', withAcceptEncoding(String(reply.getHeader('vary') ?? '')))
  return chooseCompression(reply.request.headers['accept-encoding'], compressions) ?? 'identity'
}

const withAcceptEncoding = (vary: string): string =>
  /accept-encoding/i.test(vary) ? vary : vary === '' ? 'accept-encoding' : `${vary}, accept-encoding`

/** Sends the body in this coding. `isKept`: the same bytes go into every such answer, so they are compressed once. */
export async function sendCompressed(
  reply: FastifyReply,
  body: Body,
  coding: Exclude<Compression, 'identity'>,
  isKept = false,
): Promise<FastifyReply> {
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', taggedAs(etag, coding))
  if (body instanceof Readable) {
    reply.header('content-encoding', coding).removeHeader('content-length')
    return reply.send(compressedStream(body, coding))
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const compressed = isKept ? await keptForm(bytes, coding) : await compress(bytes, coding)
  return reply.header('content-encoding', coding).send(compressed)
}

const keptForms = new WeakMap<Uint8Array, Map<Compression, Promise<Uint8Array>>>()

function keptForm(bytes: Uint8Array, coding: Compression): Promise<Uint8Array> {
  const forms = keptForms.get(bytes) ?? new Map<Compression, Promise<Uint8Array>>()
  keptForms.set(bytes, forms)
  const form = forms.get(coding) ?? compressWell(bytes, coding)
  forms.set(coding, form)
  return form
}

/** Slow streams are flushed this often, so that rows do not wait in the encoder. */
const flushMs = 50
/** A window of 512 KiB: streams are many, and each has its own. */
const windowBits = 19

const encoders = {
  gzip: () => zlib.createGzip({ level: 4 }),
  br: () =>
    zlib.createBrotliCompress({
      params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: windowBits },
    }),
  zstd: () => zlib.createZstdCompress({ params: { [zlib.constants.ZSTD_c_windowLog]: windowBits } }),
}

/** The stream compressed while it flows, at the pace at which it is read. Either end that breaks ends the other. */
function compressedStream(body: Readable, coding: keyof typeof encoders): Readable {
  const encoder = encoders[coding]()
  let flushing: NodeJS.Timeout | undefined
  const flush = (): void => {
    flushing = undefined
    encoder.flush()
  }
  const watched = new Transform({
    transform(chunk, _encoding, done) {
      flushing ??= setTimeout(flush, flushMs)
      done(null, chunk)
    },
    flush(done) {
      clearTimeout(flushing)
      done()
    },
  })
  // Whoever sends the stream sees an error on it.
  pipeline(body, watched, encoder, () => clearTimeout(flushing))
  return encoder
}

/** A strong entity tag names one sequence of bytes, so each coding has its own. */
const taggedAs = (etag: string, coding: Compression): string => etag.replace(/"$/, `-${coding}"`)

/** The entity tag that `taggedAs` was given, of a tag that a client sends back. */
export const withoutCoding = (etag: string): string => etag.replace(/-(gzip|br|zstd)"$/, '"')

/** The tag for a 304: the one that the client holds, in its coding. */
export function heldTag({ request }: FastifyReply, etag: string): string {
  const held = (request.headers['if-none-match'] ?? '').split(',').map((item) => item.trim().replace(/^W\//, ''))
  return held.find((tag) => withoutCoding(tag) === etag) ?? etag
}
