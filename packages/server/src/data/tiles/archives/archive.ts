// The interface of tile archives: MBTiles, PMTiles and remote tile servers.
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
  /** HTML from the archive, not sanitized. */
  attribution?: string
  vectorLayers: VectorLayer[]
  /** Changes with the archive's content. */
  version: string
}

/** A tile as stored: `encoding` is the compression of the bytes ('identity' if none). Nothing is decompressed. */
export type StoredTile = { bytes: Buffer; encoding: 'identity' | 'gzip' | 'br' | 'zstd'; digest?: string }

/** Ready-made tiles in a file or on a server. */
export type Archive = {
  info(): Promise<ArchiveInfo>
  tile(z: number, x: number, y: number, signal?: AbortSignal): Promise<StoredTile | undefined>
  /** The tile if it can be read within microseconds; null if there is none. Undefined says nothing about it. */
  tileNow?(z: number, x: number, y: number): StoredTile | null | undefined
  close(): Promise<void>
}

/** An archive that can tell whether its file or server content has been replaced. */
export type OpenArchive = Archive & { isStale(): Promise<boolean> }

/** What an archive uses of the egress guard. */
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

/** Larger than any tile a map can use. */
export const maxTileBytes = 5 * 1024 * 1024

export const fetchTimeoutMs = 10_000
