import assert from 'node:assert/strict'
import type { ExportedFeature, Properties } from './exports.ts'

/** What a format makes of a value that is not null; undefined for null. */
export type Changes = Readonly<Record<string, (value: unknown) => unknown>>

/** Every value and every geometry that a reader found is the one of the JSON answer, or what the format makes of it. */
export function assertSameRows(
  found: readonly ExportedFeature[],
  expected: readonly Properties[],
  changes: Changes,
): void {
  assert.equal(found.length, expected.length)
  for (const [index, { geom, ...row }] of expected.entries()) {
    const { geometry, properties } = found[index] as ExportedFeature
    assert.deepEqual(geometry ?? null, geom, `geometry of row ${index + 1}`)
    for (const [name, value] of Object.entries(row)) {
      const wanted = value === null ? null : ((changes[name] ?? same)(value) ?? null)
      assertSame(properties[name] ?? null, wanted, `${name} of row ${index + 1}`)
    }
  }
}

const same = (value: unknown): unknown => value

/** Some readers have numbers as text, and JSON of which they see only lists and objects. */
function assertSame(found: unknown, wanted: unknown, place: string): void {
  if (typeof wanted === 'number' && found !== null) assert.equal(Number(found), wanted, place)
  else if (typeof wanted === 'object' && typeof found === 'string') assert.deepEqual(JSON.parse(found), wanted, place)
  else assert.deepEqual(found, wanted, place)
}

export const notFinite = (value: unknown): unknown => (/nan|inf/i.test(String(value)) ? undefined : value)

export const asHex = (base64: unknown): string => Buffer.from(String(base64), 'base64').toString('hex').toUpperCase()

/** `…:30.5` → `…:30.500`, as GDAL writes it. */
export const inMilliseconds = (text: unknown): string =>
  String(text).replace(/\.(\d+)/, (_, digits: string) => `.${digits.slice(0, 3).padEnd(3, '0')}`)

/** JSON that is neither a list nor an object stays text for most readers. */
export const asJsonText = (value: unknown): unknown => (typeof value === 'object' ? value : JSON.stringify(value))
