/** Downloads a query's result as a stream, with credentials in a header, so that it has progress and can be cancelled. */
import type { Client, Dataset, DatasetQuery } from '@graticule/client'
import { fetchAuthorized } from './fetch-authorized.ts'

export const exportFormats = [
  'csv',
  'xlsx',
  'geojson',
  'gpkg',
  'parquet',
  'fgb',
  'shp',
  'kml',
  'ndjson',
  'json',
] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface Export {
  dataset: Pick<Dataset, 'id' | 'name'>
  query: DatasetQuery
  format: ExportFormat
}

/** `onBytes` is called with the number of bytes received. */
export async function fetchExport(
  client: Client,
  { dataset, query, format }: Export,
  { signal, onBytes }: { signal: AbortSignal; onBytes(bytes: number): void },
): Promise<Blob> {
  const search = new URLSearchParams({ format, filename: fileName(dataset.name, format) })
  const path = `api/v1/datasets/${encodeURIComponent(dataset.id)}/query?${search}`
  const response = await fetchAuthorized(client, path, {
    method: 'POST',
    signal,
    body: JSON.stringify(query),
    headers: { 'content-type': 'application/json' },
  })
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done || !value) break
    parts.push(value)
    bytes += value.byteLength
    onBytes(bytes)
  }
  return new Blob(parts, { type: response.headers.get('content-type') ?? 'application/octet-stream' })
}

/** Removes characters that file systems refuse: letters and digits of any script, `-`, `_` and blanks stay. */
export function fileName(name: string, format: ExportFormat): string {
  const plain = name.replaceAll(/[^\p{L}\p{N}_ -]+/gu, '-').trim()
  return `${plain.slice(0, 100) || 'rows'}.${extensions[format] ?? format}`
}

const extensions: { readonly [format in ExportFormat]?: string } = { shp: 'zip', ndjson: 'geojsons' }
