// Opens an archive of any kind by its address.
import { invalid } from '../../../kernel/errors.ts'
import type { ByteSource, Folder } from '../../../kernel/storage/file-store.ts'
import type { Archive, Fetch, OpenArchive } from './archive.ts'
import { parseArchiveUri } from './archive-uri.ts'
import { openDescribed } from './described-tiles.ts'
import { openMbtiles } from './mbtiles.ts'
import { createMbtilesProcess, type MbtilesProcess } from './mbtiles-process.ts'
import { createWebSource } from './pmtiles-source.ts'
import { openProxy } from './proxy.ts'

export type ArchiveDependencies = {
  /** The tenant's files. */
  readonly files: Pick<Folder, 'open' | 'localFile'>
  /** Through the egress guard. */
  readonly fetch: Fetch
  /** Shared by the archives of a tenant; when absent, the archive starts its own. */
  readonly mbtilesProcess?: MbtilesProcess
}

export async function openArchive(uri: string, dependencies: ArchiveDependencies): Promise<OpenArchive> {
  return inGrid(await open(uri, dependencies))
}

async function open(uri: string, { files, fetch, mbtilesProcess }: ArchiveDependencies): Promise<OpenArchive> {
  const address = parseArchiveUri(uri)
  switch (address.kind) {
    case 'mbtiles': {
      const process = mbtilesProcess ?? createMbtilesProcess()
      return await openMbtiles(files, address.file, { process, ownsProcess: !mbtilesProcess })
    }
    case 'pmtiles':
      return await opened(await files.open(address.file))
    case 'remote-pmtiles':
      return await opened(createWebSource(address.url, fetch))
    case 'described':
      return await openDescribed(address.url, fetch, (named) => openNamed(named, fetch))
    case 'proxy':
      return openProxy(address.url, fetch)
  }
}

/** What a document names is on the web too, and no further document. */
async function openNamed(uri: string, fetch: Fetch): Promise<OpenArchive> {
  const address = parseArchiveUri(uri)
  if (address.kind === 'proxy') return openProxy(address.url, fetch)
  if (address.kind === 'remote-pmtiles') return await opened(createWebSource(address.url, fetch))
  throw invalid('body/source', 'names no tiles on the web')
}

async function opened(source: ByteSource): Promise<OpenArchive> {
  try {
    const { openPmtiles } = await import('./pmtiles.ts')
    return await openPmtiles(source)
  } catch (error) {
    await source.close()
    throw error
  }
}

/** Checks the tile's coordinates, so that readers can rely on them. */
function inGrid(archive: OpenArchive): OpenArchive {
  const { tileNow } = archive
  const tile: Archive['tile'] = async (z, x, y, signal) => {
    if (!isInGrid(z, x, y)) throw invalid('path', 'must name a tile of the grid')
    signal?.throwIfAborted()
    return await archive.tile(z, x, y, signal)
  }
  return {
    ...archive,
    tile,
    ...(tileNow && { tileNow: (z, x, y) => (isInGrid(z, x, y) ? tileNow(z, x, y) : undefined) }),
  }
}

const isInGrid = (z: number, x: number, y: number): boolean =>
  isWhole(z) && isWhole(x) && isWhole(y) && z <= 30 && x < 2 ** z && y < 2 ** z

const isWhole = (number: number): boolean => Number.isInteger(number) && number >= 0
