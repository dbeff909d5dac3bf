import type { SQLOutputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { createFlatGeometry } from '../../../../query/geometry/flat/flat-geometry.ts'
import { writeFlatGeometry } from '../../../../query/geometry/flat/flat-geometry-write.ts'
import { createReader } from '../engine/create-reader.ts'
import { kindsOfNoted, notedField, writeNoted } from '../engine/noted-values.ts'
import type { Reading, RecordField } from '../engine/reading.ts'
import { kind } from '../engine/type-inference.ts'
import { maxFields, type Reader, ReadFault } from '../reader.ts'
import { openSqliteFile, type SqliteFile } from '../sqlite/sqlite-file.ts'
import { readPackedGeometry } from './geometry.ts'
import { guarded, openRows, type SqliteRow } from './rows.ts'
import { describeTable, type PackageTable, packageLayers } from './tables.ts'
import { columnType, hintOf, kindsOfCell, writeCell } from './values.ts'

/** A GeoPackage: its feature tables, then its tables without geometry. It is never written to, nor are views run. */
export async function openGeoPackage(file: string, keyName?: string): Promise<Reader> {
  const opened = guarded(() => openSqliteFile(file))
  try {
    const layers = guarded(() => packageLayers(opened))
    if (layers.length === 0) throw new ReadFault('no_features', 'The GeoPackage holds no table with data.')
    return createReader({
      format: 'gpkg',
      layers,
      open: (layer) => guarded(() => readTable(opened.database, describeTable(opened, layer, keyName))),
      close: async () => opened.close(),
    })
  } catch (error) {
    opened.close()
    throw error
  }
}

/** Where the number of a row is, should it say more than their order. */
const keyIndex = maxFields

function readTable(database: SqliteFile['database'], table: PackageTable): Reading {
  const { columns, key } = table
  const hints = columns.map(({ declared }) => hintOf(declared))
  const geometry = createFlatGeometry()
  const stored = openRows(database, table)
  let [rows, at, count]: [readonly SqliteRow[], number, number] = [[], -1, 0]
  let row: SqliteRow = []
  const cellAt = (place: number): SQLOutputValue => row[place === keyIndex ? 0 : place + 2] ?? null
  return {
    places: [...columns.keys(), ...(key === undefined ? [] : [keyIndex])],
    next(writer) {
      const following = rows[++at]
      if (!following) return undefined
      row = following
      const packed = table.isOfPoints ? Buffer.from(String(row[1]), 'hex') : row[1]
      return readPackedGeometry(packed, geometry, ++count) ? writeFlatGeometry(writer, geometry) : 'missing'
    },
    async fill() {
      await setImmediate()
      rows = stored.next() ?? []
      at = -1
      return rows.length > 0
    },
    kindsOf(place) {
      const value = cellAt(place)
      if (place === keyIndex) return value === BigInt(count) ? kind.none : kind.int8
      if (value === null) return kind.none
      const noted = columns[place]?.noted
      return noted ? kindsOfNoted(value, noted) : kindsOfCell(value, hints[place] ?? 'any')
    },
    write(writer, place, type) {
      const noted = columns[place]?.noted
      if (noted) writeNoted(writer, type, cellAt(place), noted)
      else writeCell(writer, type, cellAt(place))
    },
    fields: (kinds) => fieldsOf(table, kinds),
    progress: stored.progress,
    facts: () => ({
      srid: table.srid,
      wkt: table.wkt,
      warnings: [],
      isSpatial: table.geometry !== undefined,
      note: table.note,
    }),
  }
}

/** Numbers that just count the rows are no field. */
function fieldsOf({ columns, key }: PackageTable, kinds: ArrayLike<number>): RecordField[] {
  const fields: RecordField[] = columns.map(({ name, declared, noted }, place) =>
    noted
      ? notedField(noted, place, kinds[place] ?? 0)
      : { name, place, type: columnType(kinds[place] ?? 0, declared) },
  )
  if (key !== undefined && kinds[keyIndex] !== kind.none) fields.push({ name: key, place: keyIndex, type: 'bigint' })
  return fields
}
