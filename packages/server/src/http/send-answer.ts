/** Sends the response of an operation: status, headers, and a body that is JSON, bytes or a stream. */
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { isRevoked } from '../access/revocation.ts'
import { type Body, codingOf, heldTag, sendCompressed } from './compressed-answer.ts'
import type { Answer, DeclaredOperation } from './operation.ts'

export function sendAnswer(
  reply: FastifyReply,
  answer: Answer,
  { access, success }: DeclaredOperation,
  isCompressed: boolean,
): FastifyReply | Promise<FastifyReply> {
  if (access !== 'public') {
    reply.header('cache-control', 'private, no-cache')
    reply.header('vary', 'x-api-key, x-svc-api-key, authorization, authentication')
  }
  reply.code(answer.status ?? success.status)
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value)
  if (answer.status === 304 && answer.headers?.etag) reply.header('etag', heldTag(reply, answer.headers.etag))
  const body = reply.request.method === 'HEAD' ? withoutRows(bodyOf(reply, answer)) : bodyOf(reply, answer)
  if (body === undefined) return reply.send()
  const coding = isCompressed ? codingOf(reply, body) : 'identity'
  if (body instanceof Readable) cutWhenRevoked(reply, body)
  return coding === 'identity' ? reply.send(body) : sendCompressed(reply, body, coding, answer.isKept)
}

/** The body as it is sent; what is JSON says so. */
function bodyOf(reply: FastifyReply, { body, json }: Answer): Body | undefined {
  if (json === undefined && (body === undefined || isRaw(body))) return body
  reply.type(jsonType)
  return json ?? JSON.stringify(body)
}

/** HEAD has the headers of a stream, and nothing is read for it. */
function withoutRows(body: Body | undefined): Body | undefined {
  if (!(body instanceof Readable)) return body
  body.destroy()
  return Readable.from([], { objectMode: false })
}

/** Resets the connection, or the system's buffers would still go to a reader who may no longer read them. */
function cutWhenRevoked({ raw, request }: FastifyReply, body: Readable): void {
  const { socket } = request.raw
  body.once('error', (error) => {
    if (isRevoked(error) && raw.headersSent && socket instanceof Socket) socket.resetAndDestroy()
  })
}

const jsonType = 'application/json; charset=utf-8'

const isRaw = (body: unknown): body is Uint8Array | Readable => body instanceof Uint8Array || body instanceof Readable
