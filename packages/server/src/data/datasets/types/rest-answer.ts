// Fetches web services and reads their answers as rows.
import { createHash } from 'node:crypto'
import { ApiError } from '../../../kernel/errors.ts'
import type { AttributeDto } from '../attribute-dto.ts'
import { csvRows } from './csv-rows.ts'
import { inferAttributes } from './infer-attributes.ts'
import { jsonRows, likelyPath, parseExactJson, type SourceRow, valueAt } from './json-rows.ts'
import { checkPointFields, withPointHint, withPoints } from './point-geometry.ts'
import { type CachedAnswer, cacheSeconds, type RestCache } from './rest-cache.ts'
import type { RestSettings } from './rest-settings.ts'
import { fillRestTemplate } from './rest-template.ts'

export type RestSource = {
  /** The cache is separate for each application, so that none learns what another has requested. */
  readonly applicationId: string
  /** A URL with {name} markers in its path or query. */
  readonly url: string
  readonly parameters: Readonly<Record<string, string | null>>
  readonly headers?: Readonly<Record<string, string>>
}

export type RestAnswer = {
  readonly body: Uint8Array
  readonly contentType: string
} & RestSettings

/** What a source uses of the egress guard. */
export type RestFetcher = {
  fetch(
    url: string,
    request: { headers: Record<string, string>; signal?: AbortSignal; timeoutMs?: number },
  ): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Buffer }>
}

export type RestOptions = { egress: RestFetcher; cache?: RestCache; signal?: AbortSignal; timeoutMs?: number }

/** The rows of a JSON, GeoJSON or CSV answer. */
export function restRows(answer: RestAnswer): SourceRow[] {
  const { rows } = readRows(answer)
  return answer.point ? withPoints(rows, answer.point) : rows
}

/** Infers the attributes, with hints in their descriptions where settings would improve the result. */
export function inspectRest(answer: RestAnswer): AttributeDto[] {
  const { point } = answer
  const { rows, likelyPath } = readRows(answer)
  if (point) checkPointFields(rows, point)
  const attributes = inferAttributes(point ? withPoints(rows, point) : rows)
  return likelyPath === undefined ? withPointHint(attributes) : withPathHint(attributes, likelyPath)
}

type RestRows = { rows: SourceRow[]; likelyPath?: string | undefined }

function readRows({ body, contentType, path }: RestAnswer): RestRows {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (formatOf(bytes, contentType) === 'csv') return { rows: csvRows(bytes) }
  const answer = parseExactJson(bytes.toString().replace(/^\uFEFF/, ''))
  if (path) return { rows: jsonRows(valueAt(answer, path)) }
  return { rows: jsonRows(answer), likelyPath: likelyPath(answer) }
}

/** Adds a hint: the answer is one object and so one row, but the rows may be a list inside it. */
function withPathHint(attributes: readonly AttributeDto[], path: string): AttributeDto[] {
  const [name] = path.split('.')
  const description = `Looks like the rows. metadata.rest.path "${path}" makes each of its items a row.`
  return attributes.map((one) => (one.name === name ? { ...one, description } : one))
}

/** Fetches the raw answer of a web service. */
export async function fetchRest(source: RestSource, { egress, cache, ...limits }: RestOptions): Promise<CachedAnswer> {
  const url = fillRestTemplate(source.url, source.parameters)
  const headers = { accept: 'application/geo+json, application/json, text/csv;q=0.9, */*;q=0.1', ...source.headers }
  const key = hash([source.applicationId, url, Object.entries(headers)])
  const cached = cache?.get(key)
  if (cached) return cached
  const response = await egress.fetch(url, { headers, ...limits })
  if (response.status < 200 || response.status > 299) {
    throw new ApiError('upstream_failed', `The source answered with status ${response.status}.`)
  }
  const answer = { body: response.body, contentType: response.headers['content-type'] ?? '' }
  cache?.set(key, answer, cacheSeconds(response.headers))
  return answer
}

/** Hashed, because the key contains secret headers. */
const hash = (parts: unknown): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64')

/** The Content-Type decides; if it says little, the first bytes do. */
function formatOf(body: Buffer, contentType: string): 'json' | 'csv' {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/[/+]json$/.test(type)) return 'json'
  if (type === 'text/csv' || type === 'application/csv') return 'csv'
  if (/^\s*[[{]/.test(body.toString('utf8', 0, 1_000).replace(/^\uFEFF/, ''))) return 'json'
  if (['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'].includes(type)) return 'csv'
  throw new ApiError('upstream_failed', 'The answer of the source is neither JSON nor CSV.')
}
