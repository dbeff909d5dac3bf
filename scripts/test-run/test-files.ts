// The files of a test run: which a pattern selects, what each needs, and in which order they run.
import { globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { moduleOf, modulesOf } from './import-graph.ts'

export const allTestFiles = (): string[] =>
  globSync(
    ['packages/*/{src,build,system-tests}/**/*.test.{ts,tsx}', 'examples/**/*.test.ts', '{scripts,bench}/**/*.test.ts'],
    {
      exclude: (name) => name === 'node_modules',
    },
  ).sort()

// A pattern is a part of a path or, where no path has it, a regular expression on the names of tests. One that no source has is refused at
// once: all files would run to find that no test is called so, and those that start a server at their top would not end.
export function selectFiles(patterns: readonly string[], all: readonly string[]): { files: string[]; names: string[] } {
  const isPath = (pattern: string) => all.some((file) => file.includes(pattern))
  const paths = patterns.filter(isPath)
  const names = patterns.filter((pattern) => !isPath(pattern))
  const mistaken = names.find((name) => /\/|\.tsx?$/.test(name))
  if (mistaken !== undefined) throw new Error(`No test file has ${JSON.stringify(mistaken)} in its path.`)
  const inPaths = all.filter((file) => paths.length === 0 || paths.some((path) => file.includes(path)))
  if (names.length === 0) return { files: inPaths, names }
  return { files: [...new Set(names.flatMap((name) => filesWithTest(name, inPaths)))].sort(), names }
}

function filesWithTest(name: string, files: readonly string[]): string[] {
  const pattern = patternOf(name)
  const matching = files.filter((file) => testNames(file).some((text) => pattern.test(text)))
  if (matching.length > 0) return matching
  throw new Error(
    `No path has ${JSON.stringify(name)}, nor has the name of a test in ${files.length} files. Of a name that is put together, such as \`\${kind} ends\`, give a part that stands in the source.`,
  )
}

function patternOf(name: string): RegExp {
  try {
    return new RegExp(name)
  } catch (error) {
    throw new Error(`${JSON.stringify(name)} is no path, and no regular expression: ${(error as Error).message}`)
  }
}

const namedTest =
  /\b(?:test|it|describe|suite)(?:\.\w+)?\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/g
const computedName = /\b(?:test|it|describe|suite)(?:\.\w+)?\(\s*\w+[,.]/

// As the source has them. Where a variable is the name of a test, it may be any text of the file.
function testNames(file: string): string[] {
  const source = readFileSync(file, 'utf8')
  if (computedName.test(source)) return [source]
  return [...source.matchAll(namedTest)].map(([, single, double, template]) => single ?? double ?? template ?? '')
}

// Only TEST_DATABASE_URL tells the two databases apart, so a file that cannot reach a mention of it needs none.
export function usesDatabase(file: string): boolean {
  return [...modulesOf(file)].some((path) => moduleOf(path).mentionsDatabaseUrl)
}

export function usesBrowser(file: string): boolean {
  return [...modulesOf(file)].some((module) => module.endsWith('/testing/chromium.ts'))
}

function startsServers(file: string): boolean {
  return [...modulesOf(file)].some((module) => /\/testing\/(command-line|processes\/replica-process)\.ts$/.test(module))
}

// Runs on both databases: a test that opens one itself, and one that has to do with code that talks to one, by its own
// imports or by those of its folder. All others see only the API, which contract.test.ts holds on both; so does a browser.
// A file that knows better says `// One database is enough:` and why.
export function dependsOnDatabase(file: string): boolean {
  if (/^\/\/ One database is enough: ./m.test(readFileSync(file, 'utf8'))) return false
  if (importsValues(file, /\/testing\/database\.ts$/)) return true
  if (usesBrowser(file)) return false
  if (file.includes('/system-tests/')) return true
  const folder = dirname(file)
  const sources = globSync('**/*.{ts,tsx}', { cwd: folder }).filter((source) => !/\.test\.tsx?$/.test(source))
  return [file, ...sources.map((source) => join(folder, source))].some(talksToDatabase)
}

// A guess: a page waits for a browser, others for servers that they start or for time-outs, and the embedded database starts in each
// file. A long file that begins last keeps one core busy, or none, while the others have nothing left to do; those that take minutes,
// whatever their size, say so.
export function expectedWork(file: string, isEmbedded: boolean): number {
  if (/^\/\/ It takes minutes: ./m.test(readFileSync(file, 'utf8'))) return 10_000_000
  const waits = usesBrowser(file) || startsServers(file) || looksAtProcess(file)
  return statSync(file).size * (waits ? 3 : 1) + (isEmbedded ? 10_000 : 0)
}

// Files that run one after another in one process. Short ones share it: loading the server takes most of their time. Long
// ones run alone, so that the run does not end with one busy process, and so do those that look at their own process.
export function batchesOf(files: readonly string[], isEmbedded: boolean): string[][] {
  const batches: string[][] = []
  const open = new Map<boolean, { files: string[]; work: number }>()
  for (const file of files) {
    const work = expectedWork(file, isEmbedded)
    const batch = open.get(usesBrowser(file))
    if (work > maxBatchWork || looksAtProcess(file)) batches.push([file])
    else if (batch && batch.work + work <= maxBatchWork) {
      batch.files.push(file)
      batch.work += work
    } else {
      const started = { files: [file], work }
      open.set(usesBrowser(file), started)
      batches.push(started.files)
    }
  }
  return batches
}

// In bytes of source, as `expectedWork` guesses it.
const maxBatchWork = 120_000

// Its memory, children, open files, environment, signals or clock: others in the same process would change them.
function looksAtProcess(file: string): boolean {
  const source = readFileSync(file, 'utf8')
  return /\bmock\b|\/proc\/|delete process\.env|process\.env\.\w+ (?:\?\?|\|\|)?=[^=]|process\.(pid|on|once|emit|chdir|memoryUsage|exit|cpuUsage)\b/.test(
    source,
  )
}

function talksToDatabase(path: string): boolean {
  const databaseFolder = /\/packages\/server\/src\/kernel\/db\//
  return databaseFolder.test(resolve(path)) || importsValues(path, databaseFolder)
}

function importsValues(path: string, wanted: RegExp): boolean {
  return moduleOf(resolve(path)).valueImports.some((module) => wanted.test(module))
}
