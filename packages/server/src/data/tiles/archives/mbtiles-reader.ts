import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import { maxTileBytes } from './archive.ts'
import { boundsOf, maxZoomOfAll, numbersOf, zoomOf } from './description.ts'
import type { MbtilesCommand, MbtilesFile, MbtilesSummary } from './mbtiles-protocol.ts'
import { formatOfName } from './tile-content.ts'

// The MBTiles reader, run as a child process: the files are untrusted, a SQLite statement can be stopped only by ending
// its process, and a crash must not take the server down.

type OpenArchive = { database: DatabaseSync; tile: StatementSync }

const opened = new Map<string, OpenArchive>()
const maxTilesLookedAt = 20_000
const maxMetadataRows = 200

const keyOf = ({ path, version }: MbtilesFile): string => `${version} ${path}`

function open(file: MbtilesFile): OpenArchive {
  const archive = opened.get(keyOf(file))
  if (archive) return archive
  // immutable=1: no locks, and no journal or write-ahead log next to the file.
  const database = new DatabaseSync(`${pathToFileURL(file.path).href}?immutable=1`, {
    readOnly: true,
    defensive: true,
    limits: { length: maxTileBytes, attach: 0, exprDepth: 100, compoundSelect: 20, triggerDepth: 1, vdbeOp: 25_000 },
  })
  try {
    database.exec('PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON')
    database.setAuthorizer((action) => (allowed.has(action) ? constants.SQLITE_OK : constants.SQLITE_DENY))
    const tile = database.prepare(
      'SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ? LIMIT 1',
    )
    opened.set(keyOf(file), { database, tile })
    return { database, tile }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Authorizer: views may join and compute, but not recurse. */
const allowed: ReadonlySet<number> = new Set([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
])

function run(command: MbtilesCommand): Uint8Array | MbtilesSummary | undefined {
  if (command.kind === 'close') {
    opened.get(keyOf(command.file))?.database.close()
    opened.delete(keyOf(command.file))
    return undefined
  }
  const { database, tile } = open(command.file)
  if (command.kind === 'summary') return summaryOf(database)
  return bytesOf(tile.get(command.z, command.column, command.row)?.tile_data)
}

const bytesOf = (value: unknown): Uint8Array | undefined => (value instanceof Uint8Array ? value : undefined)

function summaryOf(database: DatabaseSync): MbtilesSummary {
  const metadata = metadataOf(database)
  const hasBounds = boundsOf(numbersOf(metadata.bounds)) !== undefined
  const hasZooms = zoomOf(metadata.minzoom) !== undefined && zoomOf(metadata.maxzoom) !== undefined
  const zooms = hasZooms && hasBounds ? [] : zoomsOf(database)
  const extent = hasBounds ? undefined : extentOf(database, zooms)
  const hasFormat = formatOfName(metadata.format ?? '') !== undefined
  const first = hasFormat ? undefined : database.prepare('SELECT tile_data FROM tiles LIMIT 1').get()
  return { metadata, zooms, extent, sample: bytesOf(first?.tile_data) }
}

function metadataOf(database: DatabaseSync): Record<string, string> {
  const rows = database.prepare('SELECT name, value FROM metadata LIMIT ?').all(maxMetadataRows)
  return Object.fromEntries(
    rows.flatMap(({ name, value }) =>
      typeof name === 'string' && (typeof value === 'string' || typeof value === 'number')
        ? [[name, String(value)]]
        : [],
    ),
  )
}

/** Level by level, which needs at most an index; a minimum over all tiles may need a full scan. */
function zoomsOf(database: DatabaseSync): number[] {
  const any = database.prepare('SELECT 1 FROM tiles WHERE zoom_level = ? LIMIT 1')
  return Array.from({ length: maxZoomOfAll + 1 }, (_, z) => z).filter((z) => any.get(z) !== undefined)
}

/** The extent of the deepest level that has not too many tiles: the levels above cover at least as much. */
function extentOf(database: DatabaseSync, zooms: readonly number[]): MbtilesSummary['extent'] {
  const tiles = database.prepare('SELECT tile_column, tile_row FROM tiles WHERE zoom_level = ? LIMIT ?')
  tiles.setReturnArrays(true)
  for (const z of zooms.toReversed()) {
    const columns: [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    const rows: [number, number] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    let count = 0
    for (const [column, row] of tiles.iterate(z, maxTilesLookedAt + 1) as Iterable<unknown[]>) {
      count++
      widen(columns, Number(column))
      widen(rows, Number(row))
    }
    if (count > 0 && count <= maxTilesLookedAt) return { z, columns, rows }
  }
  return undefined
}

function widen(range: [number, number], value: number): void {
  range[0] = Math.min(range[0], value)
  range[1] = Math.max(range[1], value)
}

// A watchdog thread: while a statement runs, the main thread cannot notice that the parent process is gone.
const watchdog = `const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1_000)`
new Worker(watchdog, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref()

serveRequests(run)
