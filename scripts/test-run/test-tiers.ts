// What `npm test` and `npm run test:all` run. The first is for every change: every test that is not long once, on PostgreSQL,
// and those below once more on the embedded database; of the tests in a browser only the main paths. The second is for CI:
// everything on both databases.
import { dependsOnDatabase, usesBrowser, usesDatabase } from './test-files.ts'

// A fifth of the files that can, by what differs most between the databases. A name is the end of a path, or a folder in it.
const alsoOnEmbedded: Readonly<Record<string, readonly string[]>> = {
  contract: ['contract.test.ts', 'crud.test.ts', 'limits.test.ts'],
  'database layer': ['/db/', 'table-operations.test.ts', 'filter-spatial.test.ts'],
  uploads: ['replace.test.ts', 'transform-batches.test.ts', 'prj-systems.test.ts'],
  tiles: ['dataset-tiles.test.ts', 'tile-data.test.ts', 'small-tiles.test.ts', 'tile-source.test.ts'],
  start: ['first-start.test.ts', 'start-modules.test.ts'],
}

// Signing in, a file that becomes a dataset, its rows, a map of it, and the map in a page of somebody else.
const mainPaths: readonly string[] = [
  ...['newcomer.test.ts', 'pages/data/data-page.test.ts', 'maps/maps-page.test.ts', 'client/src/browser.test.ts'],
  'map/src/map.test.ts',
]

// An eighth of the files that costs two thirds of the CPU time of all. What each of them holds on to as a whole, others hold on to by an
// example, and a change that can reach one runs it by --since.
const long: Readonly<Record<string, readonly string[]>> = {
  'servers, workers and clusters of their own': [
    ...['rolling-upgrade.test.ts', 'agents/replicas.test.ts', 'replica-bridges.test.ts', 'auth/replicas.test.ts'],
    ...['rolling-restart.test.ts', 'settings-file.test.ts', 'worker-process.test.ts', 'agent/src/end-to-end.test.ts'],
    ...['database-url.test.ts', 'other-ways-in.test.ts', 'deploy-page.test.ts', 'missing-rights.test.ts'],
    ...['cluster/workers.test.ts', 'backup/backup.test.ts', 'backup-commands.test.ts', 'boot/cli.test.ts'],
    ...['outbox/crash.test.ts', 'deletes-under-load.test.ts', 'doctor/doctor.test.ts', 'first-data-directory.test.ts'],
    ...['first-command.test.ts', 'telemetry.test.ts', 'console-link.test.ts', 'tile-workers.test.ts'],
    ...['embedded-scratch.test.ts', 'watchdog.test.ts', 'overviews-afterwards.test.ts', 'reads-while-loading.test.ts'],
  ],
  'the largest and strangest input': [
    ...['hostile-bodies.test.ts', 'hostile-inputs.test.ts', 'hostile-upstream.test.ts', 'extreme-values.test.ts'],
    ...['uploads/hostile.test.ts', 'break-out-slots.test.ts', 'wire-fuzz.test.ts', 'driver-duckdb/src/limits.test.ts'],
    ...['embedded-limits.test.ts', 'exports/writers.test.ts', 'nearest-reach.test.ts', 'system-tests/fuzz.test.ts'],
    ...['readers/damaged-files.test.ts', 'hostile-queries.test.ts', 'datasets/stream.test.ts', 'rule-matrix.test.ts'],
  ],
  'comparison with other programs': [
    ...['uploads/differential.test.ts', 'gdal/differential.test.ts', 'binary-differential.test.ts', 'gdal.test.ts'],
    ...[
      'gdal-pool.test.ts',
      'feature-ids.test.ts',
      'csv/fast.test.ts',
      'mvt/postgis.test.ts',
      'basemap-format.test.ts',
    ],
    ...['external-overviews.test.ts', 'peer-readers.test.ts', 'generated-clients.test.ts', 'round-trip.test.ts'],
    ...['duckdb/nearest.test.ts', 'driver-duckdb/src/changes.test.ts', 'longitudes-beyond.test.ts'],
  ],
  'thinned tiles as a whole': [
    ...[
      'thinning/real-seams.test.ts',
      'thinning/pictures.test.ts',
      'thinning/seams.test.ts',
      'duckdb-thinning.test.ts',
    ],
  ],
  'published packages and pages': [
    'installed-packages.test.ts',
    'reference-pages.test.ts',
    'system-tests/docs.test.ts',
    'console/src/accessibility.test.ts',
    'client/src/docs.test.ts',
  ],
}

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
const longNames = Object.values(long).flat()

export const canUseBoth = (file: string): boolean => usesDatabase(file) && dependsOnDatabase(file)

// `changed` are the files of a change, if `files` are those that it can reach: long ones run then, and test files that are
// themselves the change run wherever they can.
export function planOf(files: readonly string[], tier: 'main' | 'all', changed?: readonly string[]): Plan {
  const both = files.filter(canUseBoth)
  if (tier === 'all') return { onPostgres: [...files], onEmbedded: both, leftOut: outsideTests }
  const isChanged = (file: string) => changed?.includes(file) ?? false
  const isShort = (file: string) => changed !== undefined || !hasOneOf(file, longNames)
  const isShown = (file: string) => isChanged(file) || !usesBrowser(file) || hasOneOf(file, mainPaths)
  const onPostgres = files.filter((file) => isShort(file) && isShown(file))
  const onEmbedded = both.filter((file) => isChanged(file) || (isShort(file) && hasOneOf(file, embeddedNames)))
  const hidden = files.filter((file) => !isShown(file))
  const leftOut = [
    `${both.length - onEmbedded.length} of the ${both.length} files that can run on the embedded database`,
    `${hidden.length} of the ${files.filter(usesBrowser).length} files that need a browser`,
    ...Object.entries(long).map(([what, names]) => {
      const left = files.filter((file) => hasOneOf(file, names) && !onPostgres.includes(file))
      return `${left.length} files: ${what} (${left.map((file) => file.split('/').at(-1)?.replace('.test.ts', '')).join(', ')})`
    }),
  ]
  return { onPostgres, onEmbedded, leftOut: leftOut.filter((sentence) => !sentence.startsWith('0 ')) }
}

const outsideTests = [
  'broken disks, processes and networks (npm run test:faults)',
  'other seeds (--random)',
  'npm run bench',
]

// For the test that every name above has a file.
export const namesOfTiers: readonly string[] = [...embeddedNames, ...mainPaths, ...longNames]
export { hasName }
