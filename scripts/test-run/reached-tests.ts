// The tests that a change can reach: `npm test -- --since main`. What the import graph does not see is said here, and reaches
// more than it need, never less; what neither knows reaches every test.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { moduleOf, modulesOf, namesFile } from './import-graph.ts'
import { usesBrowser } from './test-files.ts'

interface Rule {
  // Of paths relative to the root.
  changed: RegExp
  reaches(test: string): boolean
  // Whether a file that no test loads is loaded in a way that the graph does not see, and so reaches all.
  isModule?: true
}

// Modules that start every test, besides those that the runner imports.
const startingModules = [
  'scripts/test.ts',
  'scripts/test-run/test-batch.ts',
  'scripts/seed.ts',
  'scripts/test-run/note-cpu.ts',
]
const isTest = /\.test\.tsx?$/
const all = () => true
const none = () => false

// The first whose pattern matches says what a file reaches besides the tests that import or name it.
const rules: readonly Rule[] = [
  // The server sends these files; tests in a browser load them.
  { changed: /^packages\/console\/built\//, reaches: (test) => usesBrowser(test) || test.includes('/console/') },
  // Their tests are of the built files.
  {
    changed: /^packages\/console\/(src|testing)\/(?!.*\.test\.tsx?$)/,
    reaches: (test) => test.startsWith('packages/console/'),
  },
  { changed: /^examples\//, reaches: (test) => test.startsWith('examples/') },
  // Commands of their own, with few tests.
  { changed: /^(bench|faults|scripts)\//, reaches: (test) => test.startsWith('scripts/') || test.startsWith('bench/') },
  // Read by name or by a pattern, by tests and what they use, never by the server.
  { changed: /^docs\/|\.md$/, reaches: none },
  // What the graph is for.
  { changed: /\.tsx?$/, reaches: none, isModule: true },
  { changed: /^(LICENSE|NOTICE|\.gitignore|\.gitattributes|\.ci\/run)$/, reaches: none },
  // Migrations, settings of tools, fixtures, the API document: modules read them by paths that they put together.
  { changed: /^/, reaches: all },
]

// Files that differ from the last commit that this branch has in common with `revision`, uncommitted and new ones included.
export function changedSince(revision: string, cwd = process.cwd()): string[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [base = ''] = git('merge-base', revision, 'HEAD')
  return [...git('diff', '--name-only', '--no-renames', base), ...git('ls-files', '--others', '--exclude-standard')]
}

export function reachedTests(changed: readonly string[], tests: readonly string[]): string[] {
  const reached = new Set(changed.flatMap((path) => testsOf(path, tests)))
  return tests.filter((test) => reached.has(test))
}

function testsOf(path: string, tests: readonly string[]): readonly string[] {
  const rule = rules.find(({ changed }) => changed.test(path))
  if (startingModules.some((module) => modulesOf(module).has(resolve(path)))) return tests
  const importing = tests.filter((test) => modulesOf(test).has(resolve(path)))
  if (importing.length === 0 && rule?.isModule && !isTest.test(path) && existsSync(path)) return tests
  const naming = modulesNaming(path, tests)
  const isReached = (test: string) => rule?.reaches(test) || [...modulesOf(test)].some((module) => naming.has(module))
  return [...importing, ...tests.filter(isReached)]
}

function modulesNaming(path: string, tests: readonly string[]): Set<string> {
  const modules = new Set(tests.flatMap((test) => [...modulesOf(test)]))
  return new Set([...modules].filter((module) => namesFile(moduleOf(module), path)))
}
