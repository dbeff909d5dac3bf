import { pipeline, Readable, Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import type { AclClass } from '../../access/grants.ts'
import type { DeclaredOperation } from '../operation.ts'
import { type Compression, chooseCompression, compress, compressions, compressWell } from './compression.ts'

/** A response body: text, bytes or a stream. */
export type Body = string | Uint8Array | Readable

type Coding = Exclude<Compression, 'identity'>

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

/** The headers of one answer, which may still change. */
export type AnswerHeaders = Record<string, string>

/** Content negotiation of the coding, by type, size and `Accept-Encoding`. */
export function codingOf(headers: AnswerHeaders, body: Body, accept: string | undefined): Compression {
  const isLarge = body instanceof Readable || body.length > worthCompressing
  if (!isLarge || headers['content-encoding'] !== undefined) return 'identity'
  if (!compressible.test(headers['content-type'] ?? '')) return 'identity'
  headers.vary = withAcceptEncoding(headers.vary ?? '')
  return chooseCompression(accept, compressions) ?? 'identity'
}

/** Says in the headers that the body is in this coding. A strong entity tag names one sequence of bytes, so it changes. */
export function markCompressed(headers: AnswerHeaders, coding: Coding): void {
  headers['content-encoding'] = coding
  delete headers['content-length']
  if (headers.etag !== undefined) headers.etag = headers.etag.replace(/"$/, `-${coding}"`)
}

const withAcceptEncoding = (vary: string): string =>
  /accept-encoding/i.test(vary) ? vary : vary === '' ? 'accept-encoding' : `${vary}, accept-encoding`

/** The whole body in this coding. `isKept`: the same bytes go into every such answer, so they are compressed once. */
export function compressedBody(body: string | Uint8Array, coding: Coding, isKept = false): Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return isKept ? keptForm(bytes, coding) : compress(bytes, coding)
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
export function compressedStream(body: Readable, coding: Coding): Readable {
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

/** The entity tag that `markCompressed` was given, of a tag that a client sends back. */
export const withoutCoding = (etag: string): string => etag.replace(/-(gzip|br|zstd)"$/, '"')

/** The tag of a 304 is the one that the client holds, in its coding. */
export function keepHeldTag(headers: AnswerHeaders, request: FastifyRequest): void {
  const { etag } = headers
  const { 'if-none-match': header } = request.headers
  if (etag === undefined || header === undefined) return
  const held = header.split(',').map((item) => item.trim().replace(/^W\//, ''))
  headers.etag = held.find((tag) => withoutCoding(tag) === etag) ?? etag
}
