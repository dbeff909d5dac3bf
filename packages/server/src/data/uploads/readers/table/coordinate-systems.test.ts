import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type CoordinateSystem, coordinateSystems } from './coordinate-systems.ts'

const manners: Readonly<Record<CoordinateSystem['headings'][number], string>> = {
  letters: '`E`, `N`',
  english: '`easting`, `northing`',
  german: '`Rechtswert`, `XKOORD`',
  swiss: '`GKODE`, `GKODN`',
  french: '`coordonnée X`, `coord_x`',
  dutch: '`x-coördinaat`, `coord_x`',
  italian: '`est`, `nord`, `coord_x`',
  iberian: '`este`, `norte`, `coord_x`',
}

const rangeOf = ([least, most]: CoordinateSystem['east']): string =>
  `${Math.round(least / 1000)} to ${Math.round(most / 1000)}`

/** A row of the table of grids in docs/uploads.md. */
const rowOf = ({ srid, title, countries, words, headings, east, north }: CoordinateSystem): string => {
  const named = words.slice(0, 4).map((word) => `\`${word}\``)
  const called = headings.map((manner) => manners[manner])
  const names = [named.join(', '), ...called].filter(Boolean).join('; ')
  return `| ${srid} | ${title} | ${countries} | ${names} | ${rangeOf(east)} | ${rangeOf(north)} |`
}

test('the table of grids in the documentation is the one that is read by', async () => {
  const page = await readFile(new URL('../../../../../../../docs/uploads.md', import.meta.url), 'utf8')
  const head = '| SRID | System | Country | Names | Easting, km | Northing, km |\n|---|---|---|---|---|---|'
  const expected = `${head}\n${coordinateSystems.map(rowOf).join('\n')}`
  assert.ok(page.includes(expected), `docs/uploads.md should have this table:\n${expected}`)
})

test('no system is declared twice, and every range has room', () => {
  const srids = coordinateSystems.map(({ srid }) => srid)
  assert.equal(new Set(srids).size, srids.length)
  for (const { east, north, title } of coordinateSystems) assert.ok(east[0] < east[1] && north[0] < north[1], title)
})
