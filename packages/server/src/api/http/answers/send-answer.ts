/** Sends the response of an operation: status, headers, and a body that is JSON, bytes or a stream. */
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { isRevoked } from '../../access/revocation.ts'
import type { Answer, DeclaredOperation } from '../operation.ts'
import type { CommonHeaders } from './common-headers.ts'
import {
  type AnswerHeaders,
  type Body,
  codingOf,
  compressedBody,
  compressedStream,
  keepHeldTag,
  markCompressed,
  mayCompress,
} from './compressed-answer.ts'
import type { Compression } from './compression.ts'

/** The reply while a stream is under way; nothing when the answer is sent. */
type SentReply = FastifyReply | undefined

export type SendAnswer = (reply: FastifyReply, answer: Answer) => SentReply | Promise<SentReply>

export function answerSender(operation: DeclaredOperation, commonHeaders: CommonHeaders): SendAnswer {
  const { access, success, isTile } = operation
  const isCompressed = mayCompress(operation)
  const defaults = defaultHeaders(access)

  return (reply, answer) => {
    const { request } = reply
    const { status = success.status } = answer
    if (isTile && isWhole(answer)) {
      return sendWhole(reply, { status, common: commonHeaders(request, isTile) }, answer.headers, answer.body)
    }
    const head = { status, common: commonHeaders(request) }
    const headers: AnswerHeaders = { ...defaults, ...answer.headers }
    if (status === 304) keepHeldTag(headers, request)
    const body = bodyOf(headers, answer)
    if (body === undefined) return sendWhole(reply, head, headers, body)
    const coding = isCompressed ? codingOf(headers, body, request.headers['accept-encoding']) : 'identity'
    if (coding !== 'identity') markCompressed(headers, coding)
    if (body instanceof Readable) return sendStream(reply, head, headers, body, coding)
    if (coding === 'identity') return sendWhole(reply, head, headers, body)
    return compressedBody(body, coding, answer.isKept).then((bytes) => sendWhole(reply, head, headers, bytes))
  }
}

/** An answer of bytes with all its headers, to be written whole. */
export type Ready = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

type Whole = Answer & Pick<Ready, 'headers' | 'body'>

/** A tile has its headers and its coding already; other answers of bytes get theirs. */
export function answerFinisher(operation: DeclaredOperation) {
  const { access, success, isTile } = operation
  const isCompressed = mayCompress(operation)
  const defaults = defaultHeaders(access)
  return (
    { status = success.status, headers: own, body }: Whole,
    accepted: string | undefined,
  ): Ready | Promise<Ready> => {
    if (isTile || body === undefined) return { status, headers: own, body }
    const headers: AnswerHeaders = { ...defaults, ...own }
    const coding = isCompressed ? codingOf(headers, body, accepted) : 'identity'
    if (coding === 'identity') return { status, headers, body }
    markCompressed(headers, coding)
    return compressedBody(body, coding).then((bytes) => ({ status, headers, body: bytes }))
  }
}

/** Status and the headers of every answer. */
type Head = { readonly status: number; readonly common: Readonly<Record<string, string>> }

/** A tile has all its headers and its coding already. */
export const isWhole = (answer: Answer): answer is Whole =>
  answer.headers !== undefined && (answer.body === undefined || answer.body instanceof Uint8Array)

/** What a key gives access to is not for shared caches, nor for another key. */
const keyedHeaders = {
  'cache-control': 'private, no-cache',
  vary: 'x-api-key, x-svc-api-key, authorization, authentication',
}

const defaultHeaders = (access: DeclaredOperation['access']): Readonly<AnswerHeaders> =>
  access === 'public' ? {} : keyedHeaders

/** The body as it is sent; what is JSON says so. */
function bodyOf(headers: AnswerHeaders, { body, json }: Answer): Body | undefined {
  if (json === undefined && (body === undefined || body instanceof Readable)) return body
  if (json === undefined && body instanceof Uint8Array) {
    headers['content-type'] ??= 'application/octet-stream'
    return body
  }
  headers['content-type'] = 'application/json; charset=utf-8'
  return json ?? JSON.stringify(body)
}

const sendWhole = (
  { raw, request }: FastifyReply,
  { status, common }: Head,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | undefined,
): undefined =>
  writeWhole(raw, { status, common, requestId: request.id, isHead: request.method === 'HEAD' }, headers, body)

/**
 * Writes an answer that is all there by node:http itself: passing its headers and body through Fastify's reply would cost a
 * tile from the cache a tenth of its time.
 */
export function writeWhole(
  response: ServerResponse,
  { status, common, requestId, isHead }: Head & { readonly requestId: string; readonly isHead: boolean },
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | undefined,
): undefined {
  const lines = ['x-request-id', requestId]
  for (const name in common) if (!(name in headers)) lines.push(name, common[name] ?? '')
  for (const name in headers) lines.push(name, headers[name] ?? '')
  if (body !== undefined) lines.push('content-length', `${Buffer.byteLength(body)}`)
  else if (!isHead && status !== 204 && status !== 304) lines.push('content-length', '0')
  response.writeHead(status, lines).end(isHead ? undefined : body)
}

function sendStream(
  reply: FastifyReply,
  { status, common }: Head,
  headers: AnswerHeaders,
  body: Readable,
  coding: Compression,
): FastifyReply {
  const { request } = reply
  const stream = request.method === 'HEAD' ? withoutRows(body) : body
  cutWhenFailed(reply, stream)
  const sent = coding === 'identity' ? stream : compressedStream(stream, coding)
  return reply.code(status).headers(common).header('x-request-id', request.id).headers(headers).send(sent)
}

/** HEAD has the headers of a stream, and nothing is read for it. */
function withoutRows(body: Readable): Readable {
  body.destroy()
  return Readable.from([], { objectMode: false })
}

/**
 * Resets the connection where its plain end would not do: the system's buffers would still go to a reader who may no longer read
 * them, and in HTTP/1.0, which many proxies speak with us, the end of the connection is that of a complete answer.
 */
function cutWhenFailed({ raw, request }: FastifyReply, body: Readable): void {
  const { socket, httpVersion } = request.raw
  body.once('error', (error) => {
    const isCut = isRevoked(error) || httpVersion === '1.0'
    if (isCut && raw.headersSent && socket instanceof Socket) socket.resetAndDestroy()
  })
}
