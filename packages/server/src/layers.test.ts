import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { test } from 'node:test'

/** Root files that every folder may import. They import only each other. All other root files put the server together. */
const base = [
  ...['agent-settings.ts', 'config.ts', 'data-settings.ts', 'errors.ts', 'events.ts', 'json-budget.ts'],
  ...['json-scanner.ts', 'limit.ts', 'request-limits.ts'],
  ...['limits.ts', 'nearest-name.ts', 'setting-types.ts', 'steps.ts', 'storage-settings.ts'],
]

/** The folder that every other may import. */
const shared = 'concurrency'

const areaMayImport = ['resource', 'http', 'access', 'formats', 'query', 'geometry', 'db', 'storage']

/** The layers: which folders a folder may import, besides itself. One that is not named here is an area. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  [shared]: [],
  // How DATABASE_URL is read, which the settings need.
  libpq: [],
  db: ['libpq'],
  geometry: [],
  bus: [],
  cluster: ['bus'],
  egress: [],
  storage: [],
  jobs: ['db'],
  sending: [...areaMayImport, 'jobs'],
  query: ['geometry', 'db'],
  formats: ['query', 'geometry', 'db'],
  access: ['query', 'db'],
  http: ['access', 'query', 'db'],
  resource: ['http', 'access', 'query', 'db'],
  // It looks at all that the server depends on.
  doctor: ['bus', 'cluster', 'egress', 'databases', 'access', 'db', 'libpq', 'storage'],
  // It wraps what it records.
  telemetry: ['http', 'query', 'db', 'egress', 'databases'],
  // The data plane, each layer on those below it.
  databases: [...areaMayImport, 'libpq'],
  datasets: [...areaMayImport, 'databases'],
  tiles: [...areaMayImport, 'jobs', 'databases', 'datasets'],
  uploads: [...areaMayImport, 'jobs', 'databases', 'datasets', 'tiles', 'changes'],
  editing: [...areaMayImport, 'databases', 'datasets', 'uploads', 'changes'],
  ogc: [...areaMayImport, 'datasets', 'tiles', 'editing'],
  changes: [...areaMayImport, 'jobs', 'databases', 'datasets'],
  // Changes of datasets as messages to contact points.
  bindings: [...areaMayImport, 'jobs', 'databases', 'datasets', 'changes', 'contactpoints'],
  backup: [...areaMayImport, 'databases'],
  // Readers run in a process that knows neither secrets nor the database.
  'uploads/readers': ['uploads', 'geometry'],
}

/** The files that load another package of the repository by its path, because that package may be absent. */
const leaves = ['agents/bridge-package.ts', 'databases/duckdb/package.ts']

const isTest = (file: string): boolean => /\.test\.ts$|^\.\.\/testing\//.test(file)
const folderOf = (file: string): string | undefined => (file.includes('/') ? file.split('/')[0] : undefined)
/** The longest path of folders that the table names. */
const layerOf = (file: string): string | undefined =>
  Object.keys(mayImport).findLast((layer) => file.startsWith(`${layer}/`)) ?? folderOf(file)

/** Relative paths that a module names: imports of values and of types, dynamic ones, and files of threads. */
const pathsIn = (source: string): string[] =>
  [...source.matchAll(/\b(?:from|import|import\(|import\.meta\.resolve\(|new URL\()\s*'(\.[^']*\.ts)'/g)].map(
    ([, path = '']) => path,
  )

/** Why a file may not import another; undefined when it may. Paths are relative to src/. */
function refusal(file: string, imported: string): string | undefined {
  if (isTest(imported)) return 'only tests import testing/'
  if (imported.startsWith('..')) return leaves.includes(file) ? undefined : 'it is outside src/'
  const layer = layerOf(file)
  const target = folderOf(imported)
  if (base.includes(imported)) return undefined
  if (file === 'config.ts' && target === 'libpq') return undefined
  if (base.includes(file)) return `${file} lies below all folders and imports only ${base.join(', ')}`
  if (layer === undefined || layer === target || target === shared) return undefined
  if (target === undefined) return `folders import only these root files: ${base.join(', ')}`
  const allowed = mayImport[layer] ?? areaMayImport
  return allowed.includes(target) ? undefined : `${layer}/ imports only ${allowed.join(', ') || 'no other folder'}`
}

const faultsOf = (file: string, source: string): string[] =>
  pathsIn(source).flatMap((path) => {
    const imported = join(dirname(file), path)
    const why = refusal(file, imported)
    return why ? [`${file} imports ${imported}: ${why}`] : []
  })

test('every module imports only the layers below it', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !isTest(file))
  const faults = files.flatMap((file) => faultsOf(file, readFileSync(join(import.meta.dirname, file), 'utf8')))
  assert.ok(files.length > 300)
  assert.deepEqual(faults, [])
})

test('an import of a higher layer is refused in each form that an import has', () => {
  const upward = [
    `import { makeTile } from '../tiles/make.ts'`,
    `import type { Tile } from '../tiles/make.ts'`,
    `import {\n  type Tile,\n  makeTile,\n} from '../tiles/make.ts'`,
    `export { makeTile } from '../tiles/make.ts'`,
    `import '../tiles/make.ts'`,
    `const { makeTile } = await import('../tiles/make.ts')`,
    `new Worker(new URL('../tiles/make.ts', import.meta.url))`,
  ]
  for (const source of upward) {
    assert.equal(faultsOf('datasets/rows.ts', source).length, 1, source)
    assert.deepEqual(faultsOf('uploads/publish.ts', source), [], source)
    assert.equal(faultsOf('datasets/types/rest.ts', source.replace('../', '../../')).length, 1, source)
  }
})

test('an import is refused that goes up the layers, between areas, through a root file or into testing', () => {
  const order = ['databases', 'datasets', 'tiles', 'uploads']
  for (const [low, lower] of order.entries())
    for (const higher of order.slice(low + 1)) {
      assert.ok(refusal(`${lower}/a.ts`, `${higher}/b.ts`), `${lower} → ${higher}`)
      assert.equal(refusal(`${higher}/b.ts`, `${lower}/a.ts`), undefined, `${higher} → ${lower}`)
    }
  assert.ok(refusal('tiles/mvt/a.ts', 'uploads/b.ts'))
  assert.ok(refusal('styles/a.ts', 'datasets/b.ts'))
  assert.ok(refusal('uploads/readers/csv/a.ts', 'databases/b.ts'))
  assert.equal(refusal('uploads/readers/csv/a.ts', 'uploads/readers/b.ts'), undefined)
  assert.ok(refusal('db/a.ts', 'resource/b.ts'))
  assert.ok(refusal('datasets/a.ts', 'operations.ts'))
  assert.ok(refusal('datasets/a.ts', 'tiling.ts'))
  assert.ok(refusal('tiles/mvt/a.ts', 'app.ts'))
  assert.ok(refusal('errors.ts', 'db/db.ts'))
  assert.ok(refusal('nearest-name.ts', 'app.ts'))
  assert.ok(refusal('uploads/a.ts', '../testing/uploads/b.ts'))
  assert.ok(refusal('app.ts', '../testing/harness.ts'))
  assert.ok(refusal('tiles/a.ts', '../../map/src/b.ts'))
  assert.equal(refusal('app.ts', 'uploads/uploads.ts'), undefined)
  assert.equal(refusal('tiles/mvt/a.ts', 'errors.ts'), undefined)
})

/** Files that import each other in a circle, by types alone too: nobody can read one of them first. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (seen.has(file)) return []
    seen.add(file)
    for (const next of imports.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle.length > 0) return circle
    }
    return []
  }
  for (const file of imports.keys()) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}

test('no files import each other in a circle', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !isTest(file))
  const importsOf = (file: string): string[] =>
    pathsIn(readFileSync(join(import.meta.dirname, file), 'utf8')).map((path) => join(dirname(file), path))
  assert.deepEqual(circleIn(new Map(files.map((file) => [file, importsOf(file)]))), [])
  const planted = { a: ['b', 'c'], b: [], c: ['d'], d: ['b', 'a'] }
  assert.deepEqual(circleIn(new Map(Object.entries(planted))), ['a', 'c', 'd', 'a'])
})

/** Who writes a table of the data plane: the area that owns it. Others call that area's functions. */
const owners: Readonly<Record<string, string>> = {
  databases: 'databases',
  datasets: 'datasets',
  tilesources: 'tiles',
  overviews: 'tiles',
  uploads: 'uploads',
  arriving_uploads: 'uploads',
}

const foreignWrites = (file: string, source: string): string[] =>
  [...source.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE) svc\.(\w+)/g)].flatMap(([, table = '']) => {
    const owner = owners[table]
    return owner === undefined || owner === folderOf(file) ? [] : [`${file} writes svc.${table}, which is ${owner}/’s`]
  })

test('only its own area writes a table of the data plane', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !isTest(file))
  const sources = files.map((file) => [file, readFileSync(join(import.meta.dirname, file), 'utf8')] as const)
  assert.deepEqual(
    sources.flatMap(([file, source]) => foreignWrites(file, source)),
    [],
  )
  const written = sources.flatMap(([, source]) =>
    [...source.matchAll(/INSERT INTO svc\.(\w+)/g)].map(([, table]) => table),
  )
  for (const table of ['datasets', 'tilesources', 'overviews', 'uploads', 'arriving_uploads'])
    assert.ok(written.includes(table), `nobody writes ${table}: the scan has lost sight of it`)
  assert.equal(foreignWrites('uploads/a.ts', 'sql`DELETE FROM svc.tilesources`').length, 1)
  assert.equal(foreignWrites('app.ts', 'sql`UPDATE svc.datasets SET name = 1`').length, 1)
})
