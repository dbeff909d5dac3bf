// Calls AWS Lambda functions and reads their answers as rows.
import { pipeline, Readable, Transform } from 'node:stream'
import type { InvokeCommandOutput } from '@aws-sdk/client-lambda'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { isObject, jsonRows, parseExactJson, type SourceRow } from './json-rows.ts'

export type LambdaSource = {
  /** A name, a name with a qualifier, or an ARN. */
  readonly functionName: string
  readonly payload: { readonly parameters: Readonly<Record<string, string | null>> }
}

/** Region and credentials. Without credentials the SDK uses its default provider chain. */
export type LambdaOptions = {
  readonly endpoint?: string
  readonly region: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 30_000
const maxBytes = 10 * 1024 * 1024

/** Calls a function and returns its raw answer. */
export async function invokeLambda(source: LambdaSource, options: LambdaOptions): Promise<Uint8Array> {
  if (!/^[\w:$-]{1,170}$/.test(source.functionName))
    throw invalid('body/source', 'must be the name or ARN of a function')
  const output = await invoke(source, options)
  // The function's error is not shown, because it may contain anything; its owner finds it in the function's log.
  if (output.FunctionError) throw new ApiError('upstream_failed', 'The function ended with an error.')
  return output.Payload ?? new Uint8Array()
}

/** The rows of an answer: a list, a FeatureCollection, `{ rows }`, or any of these as an HTTP response object. */
export function lambdaRows(payload: Uint8Array): SourceRow[] {
  return answerRows(parseExactJson(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString()))
}

async function invoke({ functionName, payload }: LambdaSource, options: LambdaOptions): Promise<InvokeCommandOutput> {
  const { endpoint, region, credentials, signal, timeoutMs = defaultTimeoutMs } = options
  // Imported on demand: the SDK is large, and most servers never call a function.
  const { InvokeCommand, LambdaClient } = await import('@aws-sdk/client-lambda')
  const client = new LambdaClient({
    region,
    maxAttempts: 2,
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
  })
  // Inside of what reads the answer: the SDK would read one without end until the time is over.
  client.middlewareStack.add((next) => async (request) => limitAnswer(await next(request)), {
    step: 'deserialize',
    priority: 'low',
  })
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    return await client.send(new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) }), {
      abortSignal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ApiError) throw error
    throw new ApiError('upstream_failed', 'The function could not be called.', { cause: error })
  } finally {
    client.destroy()
  }
}

function limitAnswer<Result extends { readonly response: unknown }>(result: Result): Result {
  const response = result.response as { body?: unknown }
  if (response.body instanceof Readable) response.body = limited(response.body)
  return result
}

/** Ends with an error at the limit, and ends the connection with it. */
function limited(body: Readable): Readable {
  let bytes = 0
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes > maxBytes)
        done(new ApiError('upstream_failed', `The answer is larger than ${maxBytes} bytes, the limit.`))
      else done(null, chunk)
    },
  })
  return pipeline(body, counter, () => undefined)
}

function answerRows(answer: unknown): SourceRow[] {
  const isHttp = isObject(answer) && typeof answer.statusCode === 'number' && Object.hasOwn(answer, 'body')
  const inner = isHttp ? httpBody(answer) : answer
  return jsonRows(isObject(inner) && Array.isArray(inner.rows) ? inner.rows : inner)
}

/** The response format of functions behind API Gateway. */
function httpBody({ statusCode, body, isBase64Encoded }: SourceRow): unknown {
  const status = Number(statusCode)
  if (status < 200 || status > 299)
    throw new ApiError('upstream_failed', `The function answered with status ${status}.`)
  if (typeof body !== 'string') return body
  return parseExactJson(isBase64Encoded === true ? Buffer.from(body, 'base64').toString() : body)
}
