// What `npm test` and `npm run test:all` run. The first is for every change and takes eight minutes on two cores: every test
// once, on PostgreSQL, and those below once more on the embedded database; of the tests in a browser only the main paths.
// The second is for CI: everything on both databases.
import { readFileSync } from 'node:fs'
import { dependsOnDatabase, usesBrowser, usesDatabase } from './test-files.ts'

// A fifth of the files that can, by what differs most between the databases. A name is the end of a path, or a folder in it.
const alsoOnEmbedded: Readonly<Record<string, readonly string[]>> = {
  contract: ['contract.test.ts', 'crud.test.ts', 'limits.test.ts'],
  'database layer': ['/db/', 'table-operations.test.ts', 'filter-spatial.test.ts'],
  uploads: ['upload.test.ts', 'replace.test.ts', 'transform-batches.test.ts'],
  tiles: ['dataset-tiles.test.ts', 'tile-data.test.ts', 'small-tiles.test.ts', 'tile-source.test.ts'],
  start: ['first-start.test.ts', 'start-modules.test.ts'],
  // Of what only the embedded database does.
  'itself alone': ['hostile-queries.test.ts'],
}

// Signing in, a file that becomes a dataset, its rows, a map of it, and the map in a page of somebody else.
const mainPaths: readonly string[] = [
  ...['newcomer.test.ts', 'uploads/uploads.test.ts', 'pages/data/data-page.test.ts', 'dataset/table/table.test.ts'],
  ...['maps/maps-page.test.ts', 'access/keys-page.test.ts', 'client/src/browser.test.ts', 'map/src/map.test.ts'],
]

export interface Plan {
  onPostgres: string[]
  onEmbedded: string[]
  // Sentences.
  leftOut: string[]
}

const hasName = (file: string, name: string): boolean =>
  name.startsWith('/') ? file.includes(name) : `/${file}`.endsWith(`/${name}`)
const hasOneOf = (file: string, names: readonly string[]): boolean => names.some((name) => hasName(file, name))
const embeddedNames = Object.values(alsoOnEmbedded).flat()

export const canUseBoth = (file: string): boolean => usesDatabase(file) && dependsOnDatabase(file)

// `changed` are test files that are themselves the change: they run wherever they can.
export function planOf(files: readonly string[], tier: 'main' | 'all', changed: readonly string[] = []): Plan {
  const both = files.filter(canUseBoth)
  if (tier === 'all') return { onPostgres: [...files], onEmbedded: both, leftOut: outsideTests }
  const isMain = (file: string) => changed.includes(file) || !usesBrowser(file) || hasOneOf(file, mainPaths)
  const onPostgres = files.filter(isMain)
  const onEmbedded = both.filter((file) => changed.includes(file) || hasOneOf(file, embeddedNames))
  const long = onPostgres.filter(hasLongVariant)
  const leftOut = [
    `${both.length - onEmbedded.length} of the ${both.length} files that can run on the embedded database`,
    `${files.length - onPostgres.length} of the ${files.filter(usesBrowser).length} files that need a browser`,
    `what ${long.length} files do for longer (${long.map((file) => file.split('/').at(-1)).join(', ')})`,
  ]
  return { onPostgres, onEmbedded, leftOut: leftOut.filter((sentence) => !/^0 |^what 0 /.test(sentence)) }
}

const outsideTests = [
  'broken disks, processes and networks (npm run test:faults)',
  'other seeds (--random)',
  'npm run bench',
]

// A file that does more where TEST_ALL is set.
const hasLongVariant = (file: string): boolean => /process\.env\.TEST_ALL\b/.test(readFileSync(file, 'utf8'))

// For the test that every name above has a file.
export const namesOfTiers: readonly string[] = [...embeddedNames, ...mainPaths]
export { hasName }
