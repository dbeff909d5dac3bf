// Files behind an S3 prefix: listed by ListObjectsV2 and read through the egress guard, signed where there is a key.
import { ApiError } from '../../../kernel/errors.ts'
import type { FetchStream } from '../driver.ts'
import { maxFiles, type RemoteSource } from './remote-source.ts'
import { s3Refusal } from './s3-refusal.ts'
import { type S3Key, signedHeaders } from './s3-signature.ts'
import { readTexts } from './s3-xml.ts'

export type S3Location = {
  readonly bucket: string
  /** Empty, or ends with `/`. */
  readonly prefix: string
  readonly region: string
  /** The origin of a server other than Amazon's. */
  readonly endpoint: string | undefined
  /** Whether the bucket is part of the path and not of the host name. */
  readonly isPathStyle: boolean
}

type S3Options = {
  readonly location: S3Location
  /** Absent: requests are not signed, as for public buckets. */
  readonly key: S3Key | undefined
  /** Absent: they are listed. */
  readonly files: readonly string[] | undefined
  readonly stream: FetchStream
  /** Whether a listed file is a table. */
  isTable(file: string): boolean
}

const pageKeys = 1_000
const maxPages = 20
const maxPageBytes = 8 * 1024 * 1024
const listingMs = 60_000

export function s3Source({ location, key, files, stream, isTable }: S3Options): RemoteSource {
  const base = baseOf(location)
  const send = async (
    path: string,
    query: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => {
    const url = new URL(`${base}${path}${searchOf(query)}`)
    const sent = key ? await signedHeaders({ url, query, headers }, { key, region: location.region }) : headers
    return stream(url.href, { headers: sent, signal })
  }
  const refusalOf: RemoteSource['refusalOf'] = (answer) =>
    s3Refusal(answer, { bucket: location.bucket, isSigned: key !== undefined })

  async function page(token: string | undefined, signal: AbortSignal): Promise<Page> {
    const query = {
      'list-type': '2',
      delimiter: '/',
      'encoding-type': 'url',
      'max-keys': String(pageKeys),
      prefix: location.prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    }
    const answer = await send('', query, {}, signal)
    if (answer.status === 200) return readPage(answer.body)
    const mayPass = answer.status >= 500 || answer.status === 429
    throw new ApiError(mayPass ? 'upstream_failed' : 'invalid_request', `The listing: ${await refusalOf(answer)}`)
  }

  async function list(leaving: AbortSignal): Promise<readonly string[]> {
    const signal = AbortSignal.any([leaving, AbortSignal.timeout(listingMs)])
    const tables = new Set<string>()
    let token: string | undefined
    for (let pages = 0; pages < maxPages; pages++) {
      const { keys, next } = await page(token, signal)
      const names = keys.flatMap((text) =>
        text.startsWith(location.prefix) ? [text.slice(location.prefix.length)] : [],
      )
      for (const name of names.filter(isTable)) tables.add(name)
      if (tables.size > maxFiles) throw tooMany(`more than ${maxFiles} files of data`)
      if (next === undefined) return tables.size > 0 ? [...tables] : nothing(location)
      token = next
    }
    throw tooMany(`more than ${maxPages * pageKeys} objects`)
  }

  const pathOf = (file: string): string => encoded(`${location.prefix}${file}`)
  return {
    list: async (signal) => files ?? list(signal),
    addressOf: (file) => `${base}${pathOf(file)}`,
    get: (file, headers, signal) => send(pathOf(file), {}, headers, signal),
    refusalOf,
  }
}

/** Of the bucket; ends with `/`. Certificates of Amazon cover no bucket with a dot in its name. */
function baseOf({ bucket, region, endpoint, isPathStyle }: S3Location): string {
  const { protocol, host } = new URL(
    endpoint ?? `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
  )
  return isPathStyle ? `${protocol}//${host}/${bucket}/` : `${protocol}//${bucket}.${host}/`
}

/** As S3 encodes what it signs (RFC 3986), but for the `/` of a path. */
const encoded = (path: string): string => path.split('/').map(encodedPart).join('/')
const encodedPart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function searchOf(query: Readonly<Record<string, string>>): string {
  const parts = Object.entries(query).map(([name, value]) => `${encodedPart(name)}=${encodedPart(value)}`)
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}

type Page = { readonly keys: readonly string[]; readonly next: string | undefined }

const root = 'ListBucketResult'
const keyPath = `${root}/Contents/Key`
const tokenPath = `${root}/NextContinuationToken`
const encodingPath = `${root}/EncodingType`
const truncatedPath = `${root}/IsTruncated`
const paths = new Set([root, keyPath, tokenPath, encodingPath, truncatedPath])

async function readPage(body: AsyncIterable<Buffer>): Promise<Page> {
  const texts = await readTexts(body, paths, maxPageBytes).catch((error) => {
    throw error instanceof ApiError ? error : noListing(error)
  })
  const all = (wanted: string): string[] => texts.flatMap(({ path, text }) => (path === wanted ? [text] : []))
  if (all(root).length === 0) throw noListing(undefined)
  const keys = all(encodingPath).includes('url') ? all(keyPath).flatMap(decoded) : all(keyPath)
  const isTruncated = all(truncatedPath).includes('true')
  const [next] = all(tokenPath)
  if (isTruncated && !next) throw noListing(undefined)
  return { keys, next: isTruncated ? next : undefined }
}

function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text.replaceAll('+', ' '))]
  } catch {
    return []
  }
}

const noListing = (cause: unknown): ApiError =>
  new ApiError(
    'invalid_request',
    'The server did not answer with a listing of S3 (ListObjectsV2). Check host, or name the files in metadata.files.',
    { cause },
  )

const tooMany = (what: string): ApiError =>
  new ApiError(
    'too_large',
    `There are ${what} directly behind this prefix, which is beyond the limit. Give a longer prefix, or name the files in metadata.files.`,
  )

function nothing({ bucket, prefix }: S3Location): never {
  throw new ApiError(
    'invalid_request',
    `There are no Parquet, CSV, JSON or .duckdb files directly behind s3://${bucket}/${prefix}. Folders below it are not read.`,
  )
}
