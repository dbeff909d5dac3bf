import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { maxTileBytes } from './archive.ts'
import { boundsOf, maxZoomOfAll, numbersOf, zoomOf } from './description.ts'
import {
  type MbtilesCommand,
  type MbtilesFile,
  type MbtilesReply,
  type MbtilesSummary,
  ready,
} from './mbtiles-protocol.ts'
import { formatOfName } from './tile-content.ts'

// A process of its own: the files are foreign, a statement of SQLite's can be stopped by nothing but the end of its
// process, and so can a crash be survived.

type Opened = { database: DatabaseSync; tile: StatementSync }

const opened = new Map<string, Opened>()
const maxTilesLookedAt = 20_000
const maxMetadataRows = 200

const keyOf = ({ path, version }: MbtilesFile): string => `${version} ${path}`

function open(file: MbtilesFile): Opened {
  const known = opened.get(keyOf(file))
  if (known) return known
  // Immutable: no locks, and no journal or log beside the file is looked for.
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

/** Views may join and compute, but not recurse. */
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

/** Asked level by level, which needs an index at most, where a minimum of all tiles may need a look at each. */
function zoomsOf(database: DatabaseSync): number[] {
  const any = database.prepare('SELECT 1 FROM tiles WHERE zoom_level = ? LIMIT 1')
  return Array.from({ length: maxZoomOfAll + 1 }, (_, z) => z).filter((z) => any.get(z) !== undefined)
}

/** Of the deepest level that has not too many tiles: the levels above it enclose at least the same. */
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

function answer(command: MbtilesCommand): MbtilesReply {
  try {
    return { outcome: run(command) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

// While a statement runs, this thread cannot notice that nobody waits for it any more.
const watchdog = `const parent = process.ppid
setInterval(() => process.ppid === parent || process.kill(process.pid, 'SIGKILL'), 1_000)`
new Worker(watchdog, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref()

process.on('message', (command: MbtilesCommand) => process.send?.(answer(command)))
process.send?.(ready)
