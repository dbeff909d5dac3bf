import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { modulesOf } from './import-graph.ts'
import { changedSince, reachedTests } from './reached-tests.ts'
import { allTestFiles } from './test-files.ts'

const tests = allTestFiles()
const ending = (name: string): string => {
  const [file, ...others] = globSync(`packages/*/src/**/${name}`)
  assert.ok(file && others.length === 0, `${name} is one file`)
  return file
}
const reachedBy = (path: string): string[] => reachedTests([path], tests)
const has = (path: string, name: string): boolean => reachedBy(path).some((file) => file.endsWith(`/${name}`))

test('a module reaches the tests that import it, directly or not, and those that start it in another process or thread', () => {
  const module = ending('nearest.ts')
  assert.ok(has(module, 'nearest.test.ts'))
  assert.ok(has(module, 'contract.test.ts'), 'by the server that it starts')
  assert.ok(has(module, 'cli.test.ts'), 'by the path of main.ts')
  assert.ok(has(ending('readers/kml/kml.ts'), 'upload.test.ts'), 'in the process that reads uploads')
  assert.ok(has('packages/driver-duckdb/src/child/main.ts', 'duckdb.test.ts'), 'in the process of a driver')
  assert.ok(reachedBy(module).length < tests.length * 0.7, 'and not all others')
})

test('a module of a package reaches those that import the package by its name', () => {
  assert.ok(has('packages/client/src/request.ts', 'map.test.ts'))
  assert.ok(!has('packages/map/src/map.ts', 'contract.test.ts'))
})

test('a document reaches the tests that name it or a pattern for it, and few others', () => {
  assert.ok(has('docs/deploy.md', 'deploy-page.test.ts'))
  assert.ok(has('docs/tiles.md', 'docs.test.ts'))
  assert.ok(reachedBy('docs/tiles.md').length < 20)
})

test('the console’s sources and built files reach its tests and those in a browser', () => {
  assert.ok(has('packages/console/src/app.tsx', 'newcomer.test.ts'))
  assert.ok(has('packages/console/built/index.html', 'newcomer.test.ts'))
  assert.ok(!has('packages/console/src/app.tsx', 'contract.test.ts'))
})

test('what the graph cannot see reaches every test: migrations, settings, the runner, and modules that nobody seems to load', () => {
  const [migration = ''] = globSync('packages/server/src/**/migrations/*.sql')
  for (const path of [
    migration,
    'package-lock.json',
    'openapi.json',
    'a-new-kind-of.file',
    'scripts/test-run/run-files.ts',
  ]) {
    assert.equal(reachedBy(path).length, tests.length, path)
  }
  assert.equal(reachedBy('packages/agent/src/main.ts').length, tests.length)
})

test('a changed test reaches itself, and no change reaches none', () => {
  assert.ok(has(ending('keyset-walk.test.ts'), 'keyset-walk.test.ts'))
  assert.deepEqual(reachedTests([], tests), [])
})

test('the graph sees nearly every module of the packages in which every test could be left out', () => {
  const seen = new Set(tests.flatMap((file) => [...modulesOf(file)]))
  const sources = globSync('packages/{agent,client,driver-duckdb,map,server}/src/**/*.{ts,tsx}')
  const unseen = sources.filter((file) => !file.endsWith('.d.ts') && !seen.has(resolve(file)))
  // Each of them reaches every test, see above.
  assert.ok(unseen.length < 5, unseen.join(', '))
})

test('what differs from a revision is what was committed since, changed, removed, renamed and added', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graticule-since-'))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: folder, stdio: 'pipe' })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  try {
    git('init', '-b', 'main')
    for (const name of ['same', 'changed', 'removed', 'renamed', 'committed']) write(name, name)
    git('add', '.')
    git('commit', '-m', 'first')
    git('checkout', '-b', 'work')
    write('committed', 'otherwise')
    git('mv', 'renamed', 'renamed-now')
    git('commit', '-am', 'second')
    write('changed', 'otherwise')
    rmSync(join(folder, 'removed'))
    write('added', 'added')
    const expected = ['added', 'changed', 'committed', 'removed', 'renamed', 'renamed-now']
    assert.deepEqual(changedSince('main', folder).toSorted(), expected)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
