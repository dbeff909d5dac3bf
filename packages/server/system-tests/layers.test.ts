import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path/posix'
import { test } from 'node:test'

// One database is enough: this reads the sources.
const sources = resolve(import.meta.dirname, '../src')

/**
 * The wings, from the roof down: each imports only those that it names. Inside a wing, folders import only those that stand
 * behind them in `order`; folders of one group import each other; folders that `order` leaves out import no other of their wing. '' are the
 * files of the wing itself.
 */
type Wing = { readonly mayImport: readonly string[]; readonly order: readonly (string | readonly string[])[] }

const wings: Readonly<Record<string, Wing>> = {
  boot: {
    mayImport: ['agents', 'data', 'tenants', 'api', 'query', 'kernel'],
    order: ['', 'commands', 'doctor', 'open', 'documents', 'backup', 'telemetry', 'cluster', 'start'],
  },
  agents: {
    mayImport: ['data', 'api', 'query', 'kernel'],
    order: [['', 'invocation', 'workers', 'bridges', 'history']],
  },
  data: {
    mayImport: ['api', 'query', 'kernel'],
    order: ['ogc', 'webhooks', 'editing', 'uploads', 'tiles', 'changes', 'datasets', 'databases'],
  },
  // Its areas do not import each other.
  tenants: { mayImport: ['api', 'query', 'kernel'], order: [] },
  api: {
    mayImport: ['query', 'kernel'],
    order: ['console', 'api-docs', 'metrics', 'server-info', 'resource', 'http', 'access'],
  },
  query: { mayImport: ['kernel'], order: ['formats', 'execution', 'plan', 'filter', 'values', 'geometry'] },
  kernel: {
    mayImport: [],
    order: [
      ...['jobs', 'egress', 'storage', 'bus', 'db'],
      ...['json', 'limits', 'settings', 'libpq', 'concurrency', ''],
    ],
  },
}

/** The files beside the wings. */
const roof = ['main.ts', 'operations.ts', 'services.ts']

/** What `boot/` opens and gives to the others as services, so that nobody else makes a connection. */
const openedByBoot = ['kernel/bus', 'kernel/egress']
/** What such a service is: a file of types, which opens nothing. */
const typesOfOpened = ['kernel/bus/bus.ts']

/** Readers of uploads run in a process that knows neither secrets nor the database. */
const readers = 'data/uploads/readers'
const readersMayImport = [
  'data/uploads',
  'query/geometry',
  'query/formats/formula-guard.ts',
  'query/formats/table-note.ts',
  'kernel/concurrency',
  'kernel/limits',
  'kernel/errors.ts',
  'kernel/nearest-name.ts',
]

/** The files that load another package of the repository by its path, because that package may be absent. */
const leaves = ['agents/bridges/bridge-package.ts', 'data/databases/duckdb/package.ts']

const isTest = (file: string): boolean => /\.test\.ts$|^\.\.\/testing\//.test(file)
const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`)
const wingOf = (file: string): string => file.split('/')[0] ?? ''
/** The folder of a wing that a file is in; '' for a file of the wing itself. */
const folderOf = (file: string): string => file.split('/').slice(1, -1)[0] ?? ''

/** Relative paths that a module names: imports of values and of types, dynamic ones, and files of threads. */
const pathsIn = (source: string): string[] =>
  [...source.matchAll(/\b(?:from|import|import\(|import\.meta\.resolve\(|new URL\()\s*'(\.[^']*\.ts)'/g)].map(
    ([, path = '']) => path,
  )

/** Why a file may not import another; undefined when it may. Paths are relative to src/. */
function refusal(file: string, imported: string): string | undefined {
  if (isTest(imported)) return 'only tests import testing/'
  if (imported.startsWith('..')) return leaves.includes(file) ? undefined : 'it is outside src/'
  if (roof.includes(file)) return undefined
  const [from, to] = [wingOf(file), wingOf(imported)]
  if (roof.includes(imported)) return from === 'boot' ? undefined : 'only boot/ imports the files beside the wings'
  if (isIn(file, readers)) return refusalOfReaders(imported)
  return from === to ? refusalWithin(from, folderOf(file), folderOf(imported)) : refusalBetween(from, to, imported)
}

const refusalOfReaders = (imported: string): string | undefined =>
  readersMayImport.some((folder) => isIn(imported, folder))
    ? undefined
    : `${readers}/ imports only ${readersMayImport.join(', ')}`

function refusalBetween(from: string, to: string, imported: string): string | undefined {
  const isOpened = openedByBoot.some((folder) => isIn(imported, folder)) && !typesOfOpened.includes(imported)
  if (from !== 'boot' && isOpened) {
    return 'it is opened by boot/ and given to others as a service'
  }
  const allowed = wings[from]?.mayImport ?? []
  return allowed.includes(to) ? undefined : `${from}/ imports only ${allowed.join(', ') || 'no other wing'}`
}

function refusalWithin(wing: string, from: string, to: string): string | undefined {
  if (from === to) return undefined
  const order = wings[wing]?.order ?? []
  const rank = (folder: string): number =>
    order.findIndex((group) => (typeof group === 'string' ? group === folder : group.includes(folder)))
  if (rank(from) < 0 || rank(to) < 0) return `${wing}/${from} and ${wing}/${to} do not import each other`
  return rank(from) <= rank(to) ? undefined : `${wing}/${from} is below ${wing}/${to}`
}

const faultsOf = (file: string, source: string): string[] =>
  pathsIn(source).flatMap((path) => {
    const imported = join(dirname(file), path)
    const why = refusal(file, imported)
    return why ? [`${file} imports ${imported}: ${why}`] : []
  })

const sourceFiles = (): string[] => globSync('**/*.ts', { cwd: sources }).filter((file) => !isTest(file))
const textOf = (file: string): string => readFileSync(join(sources, file), 'utf8')

test('every module imports only the wings and folders below it', () => {
  const files = sourceFiles()
  assert.ok(files.length > 300)
  assert.deepEqual(
    files.flatMap((file) => faultsOf(file, textOf(file))),
    [],
  )
})

test('beside the wings stand main.ts, operations.ts and services.ts, and each wing has a README', () => {
  assert.deepEqual(globSync('*', { cwd: sources }).sort(), [...Object.keys(wings), ...roof].sort())
  assert.deepEqual(globSync('*/README.md', { cwd: sources }).map(wingOf).sort(), Object.keys(wings).sort())
})

/** Folders that grow with time and are read by nobody from the first to the last. */
const uncounted = ['packages/server/src/kernel/db/migrations', 'packages/server/src/kernel/db/functions']
const mostFiles = 20
const root = resolve(sources, '../../..')

test(`no folder of the repository has more than ${mostFiles} source files`, () => {
  const sizes = new Map<string, number>()
  const isLeftOut = (path: string): boolean => /(^|\/)(node_modules|dist|built|target)(\/|$)/.test(path)
  const code = globSync('{packages,scripts,bench,faults,examples}/**/*.{ts,tsx,css,sql}', {
    cwd: root,
    exclude: isLeftOut,
  })
  for (const file of code.filter((one) => !/\.test\.tsx?$/.test(one)))
    sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1)
  assert.ok(sizes.size > 150)
  assert.deepEqual(
    [...sizes].filter(([folder, count]) => count > mostFiles && !uncounted.includes(folder)),
    [],
  )
})

test('an import of a higher wing or folder is refused in each form that an import has', () => {
  const upward = [
    `import { makeTile } from '../tiles/workers/make-tile.ts'`,
    `import type { Tile } from '../tiles/workers/make-tile.ts'`,
    `import {\n  type Tile,\n  makeTile,\n} from '../tiles/workers/make-tile.ts'`,
    `export { makeTile } from '../tiles/workers/make-tile.ts'`,
    `import '../tiles/workers/make-tile.ts'`,
    `const { makeTile } = await import('../tiles/workers/make-tile.ts')`,
    `new Worker(new URL('../tiles/workers/make-tile.ts', import.meta.url))`,
  ]
  for (const source of upward) {
    assert.equal(faultsOf('data/datasets/rows.ts', source).length, 1, source)
    assert.deepEqual(faultsOf('data/uploads/publish.ts', source), [], source)
    assert.equal(faultsOf('data/datasets/types/rest.ts', source.replace('../', '../../')).length, 1, source)
  }
})

test('an import is refused that goes up, between areas of tenants, across wings, past boot or into testing', () => {
  const names = Object.keys(wings)
  for (const [low, lower] of names.entries())
    for (const higher of names.slice(0, low)) assert.ok(refusal(`${lower}/x/a.ts`, `${higher}/y/b.ts`), lower)
  for (const [file, imported] of [
    ['data/webhooks/a.ts', 'tenants/contactpoints/b.ts'],
    ['tenants/mail/a.ts', 'tenants/users/b.ts'],
    ['tenants/mail/a.ts', 'data/datasets/b.ts'],
    ['query/plan/a.ts', 'query/execution/b.ts'],
    ['kernel/db/a.ts', 'kernel/jobs/b.ts'],
    ['kernel/errors.ts', 'kernel/db/db.ts'],
    ['boot/start/a.ts', 'boot/app.ts'],
    ['data/datasets/a.ts', 'operations.ts'],
    ['data/datasets/a.ts', 'kernel/egress/guard.ts'],
    ['data/uploads/readers/csv/a.ts', 'data/databases/b.ts'],
    ['data/uploads/readers/csv/a.ts', 'kernel/db/b.ts'],
    ['data/uploads/a.ts', '../testing/uploads/b.ts'],
    ['boot/app.ts', '../testing/harness.ts'],
    ['data/tiles/a.ts', '../../map/src/b.ts'],
  ] as const) {
    assert.ok(refusal(file, imported), `${file} → ${imported}`)
  }
  for (const [file, imported] of [
    ['data/uploads/readers/csv/a.ts', 'data/uploads/readers/b.ts'],
    ['data/ogc/a.ts', 'data/tiles/b.ts'],
    ['agents/workers/a.ts', 'agents/invocation/b.ts'],
    ['boot/app.ts', 'operations.ts'],
    ['boot/open/a.ts', 'kernel/egress/guard.ts'],
    ['tenants/mail/a.ts', 'kernel/errors.ts'],
  ] as const) {
    assert.equal(refusal(file, imported), undefined, `${file} → ${imported}`)
  }
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
  const importsOf = (file: string): string[] => pathsIn(textOf(file)).map((path) => join(dirname(file), path))
  assert.deepEqual(circleIn(new Map(sourceFiles().map((file) => [file, importsOf(file)]))), [])
  const planted = { a: ['b', 'c'], b: [], c: ['d'], d: ['b', 'a'] }
  assert.deepEqual(circleIn(new Map(Object.entries(planted))), ['a', 'c', 'd', 'a'])
})

/** Who writes a table of the data plane: the folder that owns it. Others call its functions. */
const owners: Readonly<Record<string, string>> = {
  databases: 'data/databases',
  datasets: 'data/datasets',
  tilesources: 'data/tiles',
  overviews: 'data/tiles',
  uploads: 'data/uploads',
  arriving_uploads: 'data/uploads',
}

const writesOfOthers = (file: string, source: string): string[] =>
  [...source.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE) svc\.(\w+)/g)].flatMap(([, table = '']) => {
    const owner = owners[table]
    return owner === undefined || isIn(file, owner) ? [] : [`${file} writes svc.${table}, which is ${owner}/’s`]
  })

test('only its own folder writes a table of the data plane', () => {
  const texts = sourceFiles().map((file) => [file, textOf(file)] as const)
  assert.deepEqual(
    texts.flatMap(([file, source]) => writesOfOthers(file, source)),
    [],
  )
  const written = texts.flatMap(([, source]) =>
    [...source.matchAll(/INSERT INTO svc\.(\w+)/g)].map(([, table]) => table),
  )
  for (const table of ['datasets', 'tilesources', 'overviews', 'uploads', 'arriving_uploads'])
    assert.ok(written.includes(table), `nobody writes ${table}: the scan has lost sight of it`)
  assert.equal(writesOfOthers('data/uploads/a.ts', 'sql`DELETE FROM svc.tilesources`').length, 1)
  assert.equal(writesOfOthers('boot/app.ts', 'sql`UPDATE svc.datasets SET name = 1`').length, 1)
})
