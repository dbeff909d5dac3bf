import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ApiError } from '../../../kernel/errors.ts'
import type { Cell } from '../cell.ts'
import { type ExportColumn, type ExportOrder, type ExportWriter, partsOf } from './export-order.ts'
import { datetimeMicrosOf, daysOf, timeMicrosOf } from './export-values.ts'
import { writeFlatGeobuf } from './flatgeobuf/flatgeobuf.ts'
import { writeGeoPackage } from './geopackage/geopackage.ts'
import { writeKml } from './kml.ts'
import { writeParquet } from './parquet/parquet.ts'
import { writeShapefile } from './shapefile/shapefile.ts'
import { writeXlsx } from './xlsx.ts'

const folder = mkdtempSync(join(tmpdir(), 'graticule-writers-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const megabyte = 1024 * 1024
const columns: ExportColumn[] = [
  { name: 'id', type: 'integer' },
  { name: 'text', type: 'string' },
  { name: 'geom', type: 'geometry', geometryType: 'Point', hasZ: false, hasM: false },
]
const point = '0101000000000000000000f03f0000000000000040'

const orderOf = (format: ExportOrder['format']): ExportOrder => ({
  format,
  name: 'rows',
  columns,
  srid: 4326,
  maxBytes: 1024 * megabyte,
  path: join(folder, format),
})

/** Few and wide rows: what is tested is how bytes flow. */
async function* wideRows(count: number, width: number): AsyncGenerator<Cell[][]> {
  for (let first = 0; first < count; first += 500) {
    yield Array.from({ length: 500 }, (_, row) => [String(first + row), `${first + row} `.padEnd(width, 'x'), point])
  }
}

const writers: Readonly<Record<ExportOrder['format'], ExportWriter>> = {
  fgb: writeFlatGeobuf,
  gpkg: writeGeoPackage,
  kml: writeKml,
  parquet: writeParquet,
  shp: writeShapefile,
  xlsx: writeXlsx,
}

async function assertHoldsPart(write: ExportWriter, order: ExportOrder): Promise<void> {
  const [rows, width] = [30_000, 10_000]
  const before = process.memoryUsage.rss()
  let largest = 0
  for await (const _ of write(wideRows(rows, width), order)) {
    largest = Math.max(largest, process.memoryUsage.rss() - before)
  }
  largest = Math.max(largest, process.memoryUsage.rss() - before)
  // Of 300 MB; what the collector has not taken yet counts too.
  assert.ok(largest < 220 * megabyte, `${Math.round(largest / megabyte)} MB`)
}

describe('a writer', () => {
  for (const [format, write] of Object.entries(writers) as [ExportOrder['format'], ExportWriter][]) {
    test(`holds a part of its rows only: ${format}`, () => assertHoldsPart(write, orderOf(format)))
  }

  const undeclared = columns.map(({ name, type }) => ({ name, type }))

  test('holds a part of its rows only, also where all are read before the first byte is written', async () => {
    await assertHoldsPart(writeFlatGeobuf, { ...orderOf('fgb'), columns: undeclared })
    assert.ok(!existsSync(partsOf(join(folder, 'fgb'))), 'the spool is left behind')
  })

  test('that reads all rows first refuses more bytes than a file may have', async () => {
    const order = { ...orderOf('fgb'), columns: undeclared, path: join(folder, 'large'), maxBytes: 100 }
    const pieces = writeFlatGeobuf(wideRows(500, 10), order)
    await assert.rejects(Array.fromAsync(pieces), /The file would be larger than 100 bytes, the limit/)
  })

  test('of a workbook refuses more rows than a sheet has', async () => {
    async function* manyRows(): AsyncGenerator<Cell[][]> {
      const batch: Cell[][] = Array.from({ length: 2 ** 12 }, () => [])
      for (let sent = 0; sent < 2 ** 20; sent += batch.length) yield batch
    }
    const pieces = writeXlsx(manyRows(), { ...orderOf('xlsx'), columns: [] })
    await assert.rejects(Array.fromAsync(pieces), (error: ApiError) => {
      assert.equal(error.code, 'too_many_rows')
      assert.match(error.message, /^A sheet of Excel has at most 1048575 rows/)
      return true
    })
  })
})

test('days and times are counted as the calendar has them, also before Christ', () => {
  for (const [cell, days] of [
    ['1970-01-01', 0],
    ['2000-02-29', 11_016],
    ['1969-12-31', -1],
    ['0001-01-01', -719_162],
    ['0001-12-31 BC', -719_163],
    ['0001-02-29 BC', -719_469],
  ] as const)
    assert.equal(daysOf(cell), days, cell)
  assert.equal(timeMicrosOf('23:59:59.000001'), 86_399_000_001n)
  assert.equal(datetimeMicrosOf('1969-12-31T23:59:59.999999Z'), -1n)
})
