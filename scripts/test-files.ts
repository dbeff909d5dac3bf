// The files of a test run: which a pattern selects, what each needs, and in which order they run.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const allTestFiles = (): string[] =>
  globSync(['packages/*/{src,build}/**/*.test.{ts,tsx}', 'examples/**/*.test.ts', 'scripts/**/*.test.ts'], {
    exclude: (name) => name === 'node_modules',
  }).sort()

// A pattern is a part of a path or, where no path has it, a regular expression on the names of tests. What looks like a path is
// never taken for a name: all files would run to find that no test is called so.
export function selectFiles(patterns: readonly string[], all: readonly string[]): { files: string[]; names: string[] } {
  const isPath = (pattern: string) => all.some((file) => file.includes(pattern))
  const paths = patterns.filter(isPath)
  const names = patterns.filter((pattern) => !isPath(pattern))
  const unknown = names.find((name) => /\/|\.tsx?$/.test(name))
  if (unknown !== undefined) throw new Error(`No test file has ${JSON.stringify(unknown)} in its path.`)
  return { files: all.filter((file) => paths.length === 0 || paths.some((path) => file.includes(path))), names }
}

// Only TEST_DATABASE_URL tells the two databases apart, so a file that cannot reach a mention of it needs none.
export function usesDatabase(file: string): boolean {
  return [...modulesOf(file)].some((module) => readFileSync(module, 'utf8').includes('TEST_DATABASE_URL'))
}

export function usesBrowser(file: string): boolean {
  return [...modulesOf(file)].some((module) => module.endsWith('/testing/chromium.ts'))
}

function startsServers(file: string): boolean {
  return [...modulesOf(file)].some((module) => /\/testing\/(command-line|replica-process)\.ts$/.test(module))
}

// Runs on both databases: a test that opens one itself, and one that has to do with code that talks to one, by its own
// imports or by those of its folder. All others see only the API, which contract.test.ts holds on both; so does a browser.
// A file that knows better says `// One database is enough:` and why.
export function dependsOnDatabase(file: string): boolean {
  if (/^\/\/ One database is enough: ./m.test(readFileSync(file, 'utf8'))) return false
  if (importsValues(file, /\/testing\/database\.ts$/)) return true
  if (usesBrowser(file)) return false
  const folder = dirname(file)
  const sources = globSync('**/*.{ts,tsx}', { cwd: folder }).filter((source) => !/\.test\.tsx?$/.test(source))
  return [file, ...sources.map((source) => join(folder, source))].some(talksToDatabase)
}

// A guess: a page waits for a browser, others for servers that they start, and the embedded database starts in each file. A long file that begins last keeps one
// core busy while the others have nothing left to do.
export function expectedWork(file: string, isEmbedded: boolean): number {
  return statSync(file).size * (usesBrowser(file) || startsServers(file) ? 3 : 1) + (isEmbedded ? 10_000 : 0)
}

// A file and what it imports, directly or not.
function modulesOf(file: string, seen = new Set<string>()): Set<string> {
  const path = resolve(file)
  if (seen.has(path) || !existsSync(path)) return seen
  seen.add(path)
  for (const module of importsOf(path, /(?:from|import|new URL)\s*\(?\s*'(\.[^']+\.ts)'/g)) modulesOf(module, seen)
  return seen
}

function importsOf(path: string, pattern: RegExp): string[] {
  return [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name = '']) => resolve(dirname(path), name))
}

function talksToDatabase(path: string): boolean {
  const databaseFolder = /\/packages\/server\/src\/db\//
  return databaseFolder.test(resolve(path)) || importsValues(path, databaseFolder)
}

function importsValues(path: string, wanted: RegExp): boolean {
  return importsOf(path, /^import (?!type )[^']*? from '(\.[^']+)'/gm).some((module) => wanted.test(module))
}
