import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../api/access/acl.ts'
import type { QueryTree } from '../../api/http/input/query-string.ts'
import { validator } from '../../api/http/input/validate.ts'
import { admit } from '../../api/http/mount.ts'
import type { Answer, Operation } from '../../api/http/operation.ts'
import { ApiError } from '../../kernel/errors.ts'

type Input = {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: object
  /** Values of the dataset's own parameters. */
  parameters?: Record<string, string> | undefined
}

/** Runs an operation as the caller could by HTTP, and returns its answer. */
export type CallOperation = (id: string, input: Input) => Promise<unknown>

const maxAnswerLength = 4 * 1024 * 1024

/** Tools call operations in process: the same authorization, limits and code as by HTTP. */
export function createCaller<S>(
  operations: readonly Operation<S>[],
): (from: { request: FastifyRequest; signal: AbortSignal; services: S }, caller: Caller) => CallOperation {
  const byId = new Map(
    operations.map((one) => [one.id, { called: one, readBody: one.body && validator(one.body, 'arguments') }]),
  )
  return ({ request, signal, services }, caller) =>
    async (id, { params = {}, query = {}, body, parameters = {} }) => {
      const { called, readBody } = byId.get(id) ?? {}
      const scope = called && admit(called, caller, { params, query: query as QueryTree })
      if (!called || !scope) throw new Error(`There is no guarded operation ${id}`)
      const context = { request, signal, services, tree: parameters, caller, scope }
      const answer = await called.handle(context, { params, query, body: readBody?.(body) })
      return JSON.parse(await textOf(answer), keepingDigits)
    }
}

/** Limit of an answer: a longer one is of no use to a model. */
async function textOf({ json, body }: Answer): Promise<string> {
  if (json !== undefined) return json
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  if (!isStream(body)) return JSON.stringify(body)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > maxAnswerLength)
      throw new ApiError('too_large', 'The answer is too large. Ask for fewer rows or attributes.')
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString()
}

const isStream = (body: unknown): body is AsyncIterable<Uint8Array | string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

/** A whole number too large for JavaScript becomes text, so that no digit is lost. */
function keepingDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value
}
