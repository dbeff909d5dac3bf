// Requests to S3-compatible storage, with time limits, bounded retries, and errors that name no secret.
import { S3Client } from '@aws-sdk/client-s3'
import { storageUnavailable } from '../storage-unavailable.ts'

export type S3Settings = {
  readonly bucket: string
  /** Precedes every key; empty, or ends with a slash. */
  readonly prefix: string
  /** Unset: AWS itself. */
  readonly endpoint?: string | undefined
  readonly region: string
  /** Unset: what the SDK finds, such as the role of the machine. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string }
    | undefined
  readonly forcePathStyle: boolean
  /** The time limit of a request with its retries, and of a transfer that makes no progress. */
  readonly timeoutMs: number
}

/** What each request of the SDK is given. */
export type RequestOptions = { readonly abortSignal: AbortSignal; readonly requestTimeout: number }

/** An answer about the object or the request, which says nothing against the storage. */
export class ObjectFault extends Error {
  override name = 'ObjectFault'
  readonly status: number
  constructor(status: number, cause: unknown) {
    super(`The storage answered ${status}`, { cause })
    this.status = status
  }
}

export type S3Requests = {
  readonly client: S3Client
  readonly bucket: string
  /** A short request with all that is read of its answer. */
  ask<T>(work: (options: RequestOptions) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** One that carries so many bytes. */
  transfer<T>(bytes: number, work: (options: RequestOptions) => Promise<T>, signal?: AbortSignal): Promise<T>
}

const maxAttempts = 3
const maxSockets = 64
/** A transfer may take a minute, and as long as this rate needs. */
const transferMs = 60_000
const minBytesPerMs = 128
/** Not found, precondition failed, range beyond the end, not implemented. */
const objectStatuses = new Set([404, 412, 416, 501])
/** Faults of this machine's disk, which `api/http/system-fault.ts` knows. */
const diskFaults = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EROFS', 'EMFILE', 'ENOENT'])
const silence = () => {}

export function createS3Requests(settings: S3Settings): S3Requests {
  const { bucket, endpoint, region, credentials, forcePathStyle, timeoutMs } = settings
  const agent = { maxSockets, keepAlive: true }
  const client = new S3Client({
    region,
    forcePathStyle,
    maxAttempts,
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials && { credentials }),
    // Not every server knows the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: timeoutMs / maxAttempts,
      socketTimeout: timeoutMs,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
      logger: { trace: silence, debug: silence, info: silence, warn: silence, error: silence },
    },
  })

  async function run<T>(
    limitMs: number,
    requestTimeout: number,
    work: (options: RequestOptions) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const limit = AbortSignal.timeout(limitMs)
    const abortSignal = signal ? AbortSignal.any([signal, limit]) : limit
    try {
      return await work({ abortSignal, requestTimeout })
    } catch (error) {
      signal?.throwIfAborted()
      throw failureOf(error)
    }
  }

  return {
    client,
    bucket,
    ask: (work, signal) => run(timeoutMs, Math.ceil(timeoutMs / maxAttempts), work, signal),
    transfer(bytes, work, signal) {
      const limitMs = transferMs + Math.ceil(bytes / minBytesPerMs)
      return run(limitMs, limitMs, work, signal)
    },
  }
}

function failureOf(error: unknown): unknown {
  const { name, message, code, $metadata } = error as Error & { code?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (error instanceof ObjectFault || (code !== undefined && diskFaults.has(code))) return error
  if (status !== undefined && objectStatuses.has(status) && name !== 'NoSuchBucket') {
    return new ObjectFault(status, plainError(name, message, status))
  }
  return storageUnavailable(plainError(name, message, status))
}

/** Errors of the SDK hold the request with its signature. */
const plainError = (name: string, message: string, status: number | undefined): Error =>
  new Error(`S3: ${name}${status === undefined ? '' : ` (${status})`}: ${message}`)
