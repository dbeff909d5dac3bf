import assert from 'node:assert/strict'
import { parseTemporal } from '../../src/data/uploads/readers/engine/temporal.ts'
import type { ReadGeometry, ReadLayer, ReadRow } from './read-back.ts'
import { gdal } from './source-layers.ts'

/** What GDAL reads from a layer of the file. */
export async function readByGdal(file: string, layer?: string): Promise<ReadRow[]> {
  const text = await gdal('ogr2ogr', [
    ...['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=15', '-lco', 'WRITE_NAME=NO', '-lco', 'SIGNIFICANT_FIGURES=17'],
    ...['/vsistdout/', file, ...(layer === undefined ? [] : [layer])],
  ])
  const reviver = (_: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    return typeof value === 'number' && source && /^-?\d{16,}$/.test(source) ? BigInt(source) : value
  }
  return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]).features
}

/** Holds what we read against what GDAL reads of the same file. */
export function assertSameRows({ scanned, rows }: ReadLayer, expected: readonly ReadRow[]): void {
  assert.equal(rows.length, expected.length, 'the number of rows')
  for (const [index, row] of rows.entries()) {
    const wanted = expected[index]
    assert.deepEqual(normalGeometry(row.geometry), normalGeometry(wanted?.geometry ?? null), `geometry ${index}`)
    for (const name of Object.keys(wanted?.properties ?? {})) {
      const field = scanned.fields.find((known) => known.name === name)
      assert.ok(field, `the field ${name}`)
      assert.deepEqual(
        normalValue(row.properties[name], field.type),
        normalValue(wanted?.properties[name], field.type),
        `${name} of row ${index}`,
      )
    }
  }
}

/** Singles and multis of one, and empties and nothing, are told apart by GDAL's writers at will. */
function normalGeometry(geometry: ReadGeometry | null): unknown {
  if (geometry === null) return null
  if (geometry.geometries) return { type: geometry.type, parts: geometry.geometries.map(normalGeometry) }
  const single = !geometry.type.startsWith('Multi')
  const parts = single ? [geometry.coordinates] : (geometry.coordinates as unknown[])
  const present = parts.filter((part) => Array.isArray(part) && part.length > 0)
  if (present.length === 0) return null
  return { type: geometry.type.replace('Multi', ''), parts: rounded(present) }
}

function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded)
  return typeof value === 'number' ? Number(value.toPrecision(13)) + 0 : value
}

function normalValue(value: unknown, type: string | undefined): unknown {
  if (value === undefined || value === null) return null
  // GDAL takes wide integers of some formats for decimals.
  if (typeof value === 'bigint' || typeof value === 'number') return Number(Number(value).toPrecision(15))
  if (type === 'boolean') return Boolean(value)
  if (typeof value !== 'string' || !/^(date|time)/.test(type ?? '')) return value
  const temporal = parseTemporal(value.replace(/\.000Z$/, 'Z').replace(/\+00$/, 'Z'))
  if (!temporal) return value
  return 'days' in temporal ? [temporal.days, 'micros' in temporal ? temporal.micros : 0] : temporal.micros
}
