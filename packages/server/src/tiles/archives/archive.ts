export type TileFormat = 'pbf' | 'png' | 'jpg' | 'webp' | 'avif'

export type VectorLayer = {
  id: string
  fields: Record<string, string>
  minzoom?: number
  maxzoom?: number
  description?: string
}

export type ArchiveInfo = {
  kind: 'vector' | 'raster'
  format: TileFormat
  minZoom: number
  maxZoom: number
  bounds: [number, number, number, number]
  center?: [number, number, number]
  name?: string
  description?: string
  /** As the archive says it: HTML that nobody has cleaned. */
  attribution?: string
  vectorLayers: VectorLayer[]
  /** Changes when the archive does. */
  version: string
}

/** As stored: `encoding` is what the bytes are compressed with ('identity' when they are not). Nothing is unpacked. */
export type StoredTile = { bytes: Buffer; encoding: 'identity' | 'gzip' | 'br' | 'zstd' }

/** Tiles that somebody else made: a file, or a server. */
export type Archive = {
  info(): Promise<ArchiveInfo>
  tile(z: number, x: number, y: number, signal?: AbortSignal): Promise<StoredTile | undefined>
  close(): Promise<void>
}

/** An archive that can tell whether what it was opened from is still the same. */
export type OpenArchive = Archive & { isStale(): Promise<boolean> }

/** What an archive needs of the egress guard. */
export type Fetch = (
  url: string,
  request: {
    headers: Record<string, string>
    signal?: AbortSignal
    timeoutMs: number
    maxBytes: number
    isEncodedWelcome?: boolean
  },
) => Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Buffer }>

/** More than any map can use. */
export const maxTileBytes = 5 * 1024 * 1024

export const fetchTimeoutMs = 10_000
