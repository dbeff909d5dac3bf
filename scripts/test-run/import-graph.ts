// The import graph of the repository: which files a module loads, starts or reads, as far as its text says.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, matchesGlob, relative, resolve } from 'node:path'

export interface Module {
  // Modules that it loads, in whichever way.
  imports: string[]
  // Those of which it imports more than types.
  valueImports: string[]
  // What it names besides, relative to the root: endings of paths, and patterns. A process is started, or a page read, by its path.
  named: string[]
  mentionsDatabaseUrl: boolean
}

// Each is asked for by most of 400 test files.
const modules = new Map<string, Module>()
const literal = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`$\n]*)`/g
const importedPath = /(?:from|import|new URL|import\.meta\.resolve)\s*\(?\s*'(\.[^']+\.tsx?)'/g
// Of a file that ends as the module itself: .ts here, .js where it was compiled.
const startedPath = /`(\.[^`$]+)\$\{ext/g
const workspacePackage = /(?:from|import)\s*\(?\s*'(@graticule\/[^']+)'/g
const fileLike = /^(?=.*\w)[\w@{},*./-]*(?:\.[\w{},*]+|\/\*\*)$/
const root = resolve(import.meta.dirname, '../..')

const reached = new Map<string, ReadonlySet<string>>()

// A file and what it imports, directly or not, as absolute paths.
export function modulesOf(file: string): ReadonlySet<string> {
  const known = reached.get(file)
  if (known) return known
  const found = new Set<string>()
  reached.set(file, found)
  const open = [resolve(root, file)]
  for (let path = open.pop(); path; path = open.pop()) {
    if (found.has(path) || !existsSync(path)) continue
    found.add(path)
    open.push(...moduleOf(path).imports)
  }
  return found
}

export function moduleOf(path: string): Module {
  const known = modules.get(path)
  if (known) return known
  const module = readModule(path, readFileSync(path, 'utf8'))
  modules.set(path, module)
  return module
}

function readModule(path: string, text: string): Module {
  const source = withoutComments(text)
  const folder = dirname(path)
  const matches = (pattern: RegExp) => [...source.matchAll(pattern)].map(([, name = '']) => name)
  const literals = [...source.matchAll(literal)].map(([, single, double, plain]) => single ?? double ?? plain ?? '')
  const started = [...literals, ...matches(startedPath).map((name) => `${name}.ts`)]
  return {
    imports: [
      ...matches(importedPath).map((name) => resolve(folder, name)),
      ...matches(workspacePackage).flatMap(sourceOf),
      ...started.map((name) => resolve(folder, name)).filter(isModule),
    ],
    valueImports: matches(/^import (?!type )[^']*? from '(\.[^']+)'/gm).map((name) => resolve(folder, name)),
    named: literals.filter((name) => fileLike.test(name)).map((name) => nameFrom(folder, name)),
    mentionsDatabaseUrl: source.includes('TEST_DATABASE_URL'),
  }
}

// Whether one of its literals is the path, its end, or a pattern for one of the two.
export function namesFile(module: Module, path: string): boolean {
  return module.named.some((name) => path === name || path.endsWith(`/${name}`) || matchesAnywhere(path, name))
}

const matchesAnywhere = (path: string, pattern: string): boolean =>
  pattern.includes('*') && (matchesGlob(path, pattern) || matchesGlob(path, `**/${pattern}`))

const nameFrom = (folder: string, name: string): string =>
  name.startsWith('.') && name.includes('/') ? relative(root, resolve(folder, name)) : name

const isModule = (path: string): boolean =>
  /\.(tsx?|m?js)$/.test(path) && path.startsWith(root) && !path.includes('/node_modules/') && isFile(path)

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

// Of lines that are nothing else: `/**/` is also a part of patterns, and `//` of addresses.
const withoutComments = (source: string): string => source.replaceAll(/^\s*\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm, '')

// The source that a package of this repository exports by this name, where tests have the condition `graticule-source`.
function sourceOf(specifier: string): string[] {
  const [, name = '', rest = ''] = /^@graticule\/([^/]+)\/?(.*)$/.exec(specifier) ?? []
  const folder = join(root, 'packages', name)
  const description = join(folder, 'package.json')
  if (!existsSync(description)) return []
  const { exports = {} } = JSON.parse(readFileSync(description, 'utf8'))
  const source = exports[rest ? `./${rest}` : '.']?.['graticule-source']
  return source ? [resolve(folder, source)] : []
}
