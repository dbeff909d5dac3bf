// An S3 server for tests: GetObject and ListObjectsV2. It verifies signatures by itself, after the published description of AWS.
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FetchStream } from '../../src/data/databases/driver.ts'

export type S3Server = Awaited<ReturnType<typeof s3Server>>

type Key = { readonly id: string; readonly secret: string }
type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** One bucket, in the path, that is public unless there is a key. `answer`, where it is set, answers in place of everything else. */
export async function s3Server({ bucket = 'maps', region = 'eu-central-1', pageKeys = 1_000 } = {}) {
  const state = {
    objects: new Map<string, Buffer>(),
    /** Status and path of each request, or why it was refused. */
    asked: [] as string[],
    key: undefined as Key | undefined,
    answer: undefined as Answer | undefined,
  }
  const server = createServer((request, response) => {
    if (state.answer) return state.answer(request, response)
    const url = new URL(request.url ?? '', 'http://s3')
    const path = decodeURIComponent(url.pathname)
    const send = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): void => {
      state.asked.push(`${status} ${path}`)
      response.writeHead(status, headers).end(body)
    }
    const refuse = (status: number, code: string): void =>
      send(
        status,
        `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>m</Message><Region>${region}</Region></Error>`,
      )
    const refusal = state.key && signatureFault(request, state.key, region)
    if (refusal) return refuse(statusOf(refusal), refusal)
    if (!path.startsWith(`/${bucket}/`)) return refuse(404, 'NoSuchBucket')
    const object = path.slice(bucket.length + 2)
    if (object === '') return send(200, listing([...state.objects.keys()], url.searchParams, pageKeys))
    const found = state.objects.get(object)
    if (found) sendObject(request, found, send)
    else refuse(404, 'NoSuchKey')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = () =>
    new Promise<unknown>((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  return Object.assign(state, { origin, close })
}

const statusOf = (code: string): number => (code === 'AuthorizationHeaderMalformed' ? 400 : 403)

type Send = (status: number, body: string | Buffer, headers: Record<string, string>) => void

function sendObject({ headers }: IncomingMessage, object: Buffer, send: Send): void {
  const etag = `"${createHash('md5').update(object).digest('hex')}"`
  const isSame = headers['if-none-match'] === etag
  send(isSame ? 304 : 200, isSame ? '' : object, { etag })
}

function listing(keys: readonly string[], query: URLSearchParams, pageKeys: number): string {
  const prefix = query.get('prefix') ?? ''
  const after = query.get('continuation-token') ?? ''
  const inFolder = keys.filter((key) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/'))
  const left = inFolder.toSorted().filter((key) => key > after)
  const page = left.slice(0, pageKeys)
  const isTruncated = left.length > page.length
  const written = (key: string): string => encodeURIComponent(key).replaceAll('%20', '+')
  return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>maps</Name><EncodingType>url</EncodingType>
<IsTruncated>${isTruncated}</IsTruncated>${isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''}
${page.map((key) => `<Contents><Key>${written(key)}</Key><Size>1</Size><ETag>"x"</ETag></Contents>`).join('\n')}
<CommonPrefixes><Prefix>${prefix}below/</Prefix></CommonPrefixes></ListBucketResult>`
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const strictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The code of S3's refusal; undefined when the signature is right. */
export function signatureFault(
  request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>,
  { id, secret }: Key,
  region: string,
  now = Date.now(),
): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/
  const parts = form.exec(request.headers.authorization ?? '')
  if (!parts) return 'AccessDenied'
  const [, givenId, day = '', givenRegion, names = '', signature] = parts
  if (givenId !== id) return 'InvalidAccessKeyId'
  if (givenRegion !== region) return 'AuthorizationHeaderMalformed'
  const headers = request.headers as Record<string, string | undefined>
  const at = headers['x-amz-date'] ?? ''
  const [, year, month, date, hour, minute, second] = /^(....)(..)(..)T(..)(..)(..)Z$/.exec(at) ?? []
  const time = Date.parse(`${year}-${month}-${date}T${hour}:${minute}:${second}Z`)
  if (!at.startsWith(day) || !(Math.abs(now - time) < 900_000)) return 'RequestTimeTooSkewed'
  const signed = names.split(';')
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))]
  if (!needed.every((name) => signed.includes(name))) return 'AccessDenied'
  const url = new URL(request.url ?? '', 'http://s3')
  const query = [...url.searchParams].map(([name, value]) => `${strictly(name)}=${strictly(value)}`).sort()
  const canonical = [
    request.method,
    decodeURIComponent(url.pathname).split('/').map(strictly).join('/'),
    query.join('&'),
    ...signed.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', at, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join('\n')
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  return hmac(signingKey, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

/** Outgoing requests without the guard. */
export const plainStream: FetchStream = async (url, { headers, signal }) => {
  const { status, headers: answered, body } = await fetch(url, { headers, signal, redirect: 'manual' })
  const chunks = async function* () {
    for await (const chunk of body ?? []) yield Buffer.from(chunk)
  }
  return { status, headers: Object.fromEntries(answered), body: chunks() }
}
