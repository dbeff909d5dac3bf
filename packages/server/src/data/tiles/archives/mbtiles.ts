// MBTiles archives: SQLite files, read in a child process.

import { once } from '../../../kernel/concurrency/once.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { Folder } from '../../../kernel/storage/file-store.ts'
import type { ArchiveInfo, OpenArchive, TileFormat } from './archive.ts'
import {
  boundsOf,
  centerOf,
  numbersOf,
  parseObject,
  textsOf,
  vectorLayersOf,
  versionOf,
  world,
  zoomOf,
} from './description.ts'
import type { MbtilesProcess } from './mbtiles-process.ts'
import type { MbtilesCommand, MbtilesSummary } from './mbtiles-protocol.ts'
import { formatOfName, imageFormatOf, kindOf, storedTile } from './tile-content.ts'

/** A file that once timed out is refused for this long. */
const distrustMs = 30_000

export async function openMbtiles(
  files: Pick<Folder, 'localFile'>,
  name: string,
  { process, ownsProcess }: { process: MbtilesProcess; ownsProcess: boolean },
): Promise<OpenArchive> {
  const { isReplaced, ...file } = await files.localFile(name)
  let distrustedUntil = 0

  async function ask(command: MbtilesCommand, signal?: AbortSignal) {
    if (performance.now() < distrustedUntil)
      throw new ApiError('query_timeout', 'The tile archive was too slow a moment ago. Try again shortly.')
    try {
      return await process.call(command, signal)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'query_timeout') distrustedUntil = performance.now() + distrustMs
      throw error
    }
  }

  async function describe(): Promise<ArchiveInfo> {
    return infoOf((await ask({ kind: 'summary', file })) as MbtilesSummary, file.version)
  }

  return {
    info: once(describe),
    async tile(z, x, y, signal) {
      // MBTiles counts rows from the south (TMS).
      const bytes = await ask({ kind: 'tile', file, z, column: x, row: 2 ** z - 1 - y }, signal)
      return bytes instanceof Uint8Array
        ? await storedTile(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
        : undefined
    },
    isStale: isReplaced,
    async close() {
      if (ownsProcess) await process.close()
      else await process.forget(file)
    },
  }
}

function infoOf({ metadata, zooms, extent, sample }: MbtilesSummary, version: string): ArchiveInfo {
  const format = formatFrom(metadata.format, sample)
  const maxZoom = zoomOf(metadata.maxzoom) ?? zooms.at(-1) ?? 0
  const center = centerOf(numbersOf(metadata.center))
  return {
    kind: kindOf(format),
    format,
    minZoom: Math.min(zoomOf(metadata.minzoom) ?? zooms[0] ?? 0, maxZoom),
    maxZoom,
    bounds: boundsOf(numbersOf(metadata.bounds)) ?? (extent ? boundsOfTiles(extent) : undefined) ?? world,
    ...(center ? { center } : {}),
    ...textsOf(metadata),
    vectorLayers: format === 'pbf' ? vectorLayersOf(parseObject(metadata.json ?? '').vector_layers) : [],
    version: versionOf(version),
  }
}

/** Vector tiles have no magic number, so they are what is left. */
function formatFrom(name: string | undefined, sample: Uint8Array | undefined): TileFormat {
  return formatOfName(name ?? '') ?? (sample && imageFormatOf(Buffer.from(sample))) ?? 'pbf'
}

function boundsOfTiles({ z, columns, rows }: NonNullable<MbtilesSummary['extent']>): ArchiveInfo['bounds'] | undefined {
  const longitude = (column: number) => (column / 2 ** z) * 360 - 180
  const latitude = (row: number) => (Math.atan(Math.sinh(((2 * row) / 2 ** z - 1) * Math.PI)) * 180) / Math.PI
  return boundsOf([longitude(columns[0]), latitude(rows[0]), longitude(columns[1] + 1), latitude(rows[1] + 1)])
}
