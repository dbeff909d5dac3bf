// An S3 server for tests that keeps one bucket in memory: objects, ranges, conditions, listings and multipart uploads.
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signatureFault } from './s3-server.ts'

type BucketObject = { readonly bytes: Buffer; readonly etag: string; readonly modifiedAt: Date }
type Upload = { readonly key: string; readonly parts: Map<number, BucketObject>; readonly initiatedAt: Date }
type Answer = { status: number; headers?: Record<string, string>; body?: string | Buffer }
type BucketRequest = {
  method: string
  key: string
  query: URLSearchParams
  headers: Record<string, string>
  body: Buffer
}

const minPartBytes = 5 * 1024 * 1024
/** Few, so that listings have pages. */
const pageKeys = 2

export const testKey = { id: 'test-key-id', secret: 'test-secret-that-no-log-may-hold' }

export async function s3Bucket({ bucket = 'graticule', region = 'us-east-1' } = {}) {
  const objects = new Map<string, BucketObject>()
  const uploads = new Map<string, Upload>()
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    const { status, headers, body: sent } = answerTo(request, body)
    response.writeHead(status, { ...(sent === undefined && { 'content-length': '0' }), ...headers })
    response.end(request.method === 'HEAD' ? undefined : sent)
  })

  function answerTo(request: IncomingMessage, body: Buffer): Answer {
    const url = new URL(request.url ?? '', 'http://s3')
    const refusal = signatureFault(request, testKey, region)
    if (refusal) return fault(403, refusal)
    const [, name, ...rest] = decodeURIComponent(url.pathname).split('/')
    if (name !== bucket) return fault(404, 'NoSuchBucket')
    const headers = request.headers as Record<string, string>
    if (headers['x-amz-content-sha256'] !== digest('sha256', body)) return fault(400, 'XAmzContentSHA256Mismatch')
    return answer({ method: request.method ?? '', key: rest.join('/'), query: url.searchParams, headers, body })
  }

  function answer(asked: BucketRequest): Answer {
    if (asked.key === '') return asked.query.has('uploads') ? uploadListing() : listing(asked)
    return asked.query.has('uploads') || asked.query.has('uploadId') ? multipart(asked) : object(asked)
  }

  function object({ method, key, headers, body }: BucketRequest): Answer {
    if (method === 'PUT') {
      const stored = storedOf(body)
      objects.set(key, stored)
      return { status: 200, headers: { etag: stored.etag } }
    }
    const found = objects.get(key)
    if (method === 'DELETE') {
      objects.delete(key)
      return { status: 204 }
    }
    if (!found) return fault(404, 'NoSuchKey')
    if (headers['if-match'] !== undefined && headers['if-match'] !== found.etag) return fault(412, 'PreconditionFailed')
    return sentObject(found, headers.range)
  }

  function multipart({ method, key, query, body }: BucketRequest): Answer {
    const id = query.get('uploadId') ?? randomUUID()
    if (method === 'POST' && query.has('uploads')) {
      uploads.set(id, { key, parts: new Map(), initiatedAt: new Date() })
      return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    const upload = uploads.get(id)
    if (!upload) return fault(404, 'NoSuchUpload')
    if (method === 'PUT') {
      const part = storedOf(body)
      upload.parts.set(Number(query.get('partNumber')), part)
      return { status: 200, headers: { etag: part.etag } }
    }
    if (method === 'POST') {
      const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number))
      const parts = wanted.map((number) => upload.parts.get(number)?.bytes ?? Buffer.alloc(0))
      if (parts.slice(0, -1).some(({ length }) => length < minPartBytes)) return fault(400, 'EntityTooSmall')
      objects.set(key, storedOf(Buffer.concat(parts), `-${parts.length}`))
    }
    uploads.delete(id)
    return method === 'POST' ? xml('<CompleteMultipartUploadResult/>') : { status: 204 }
  }

  function listing({ query }: BucketRequest): Answer {
    const after = query.get('continuation-token') ?? ''
    const prefix = query.get('prefix') ?? ''
    const left = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = left.slice(0, pageKeys)
    const isTruncated = left.length > page.length
    const contents = page.map((key) => {
      const { bytes, modifiedAt } = objects.get(key) as BucketObject
      return `<Contents><Key>${key}</Key><Size>${bytes.length}</Size><LastModified>${modifiedAt.toISOString()}</LastModified></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    return xml(
      `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    )
  }

  function uploadListing(): Answer {
    const listed = [...uploads].map(
      ([id, { key, initiatedAt }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiatedAt.toISOString()}</Initiated></Upload>`,
    )
    return xml(
      `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${listed.join('')}</ListMultipartUploadsResult>`,
    )
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
    },
  }
}

const digest = (algorithm: string, bytes: Buffer): string => createHash(algorithm).update(bytes).digest('hex')

const storedOf = (bytes: Buffer, mark = ''): BucketObject => ({
  bytes,
  etag: `"${digest('md5', bytes)}${mark}"`,
  modifiedAt: new Date(),
})

const xml = (body: string): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
})

const fault = (status: number, code: string): Answer => ({
  ...xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`),
  status,
})

function sentObject({ bytes, etag, modifiedAt }: BucketObject, range: string | undefined): Answer {
  const common = { etag, 'last-modified': modifiedAt.toUTCString() }
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (from === undefined)
    return { status: 200, headers: { ...common, 'content-length': `${bytes.length}` }, body: bytes }
  const part = bytes.subarray(Number(from), Number(to) + 1)
  if (part.length === 0) return fault(416, 'InvalidRange')
  const headers = {
    ...common,
    'content-length': `${part.length}`,
    'content-range': `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`,
  }
  return { status: 206, headers, body: part }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
