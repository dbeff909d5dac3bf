// The npm packages that reach a user: what the server installs, and what is bundled into the console. Read from the lockfile, which
// lists the packages of every platform, so that the answer is the same on each.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export type ShippedPackage = {
  readonly name: string
  readonly version: string
  readonly license: string
  /** Where it lies once installed. */
  readonly path: string
  /** Installed beside the server, or a part of the files of packages/console/built. */
  readonly as: 'installed' | 'bundled'
}

type Locked = {
  version?: string
  license?: string
  link?: boolean
  dev?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}
type Lock = Readonly<Record<string, Locked>>

export const root = resolve(import.meta.dirname, '../..')

/** The console's own tools: they test or build it. */
const notBundled = new Set(['axe-core'])
/** The console takes them from the root. */
const fromRoot = ['react', 'react-dom']

export function shippedPackages(): ShippedPackage[] {
  const { packages } = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')) as { packages: Lock }
  const installed = Object.keys(packages).filter((path) => isThirdParty(path, packages) && !packages[path]?.dev)
  const bundled = bundledPaths(packages).difference(new Set(installed))
  const all = [
    ...installed.map((path) => shipped(path, packages, 'installed')),
    ...[...bundled].map((path) => shipped(path, packages, 'bundled')),
  ]
  return all.sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version) || compare(a.path, b.path))
}

export const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const isThirdParty = (path: string, lock: Lock): boolean => path.includes('node_modules/') && !lock[path]?.link

function shipped(path: string, lock: Lock, as: ShippedPackage['as']): ShippedPackage {
  const { version = '', license = '' } = lock[path] ?? {}
  return { name: nameOf(path), version, license, path, as }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** What the console names, and what that needs. */
function bundledPaths(lock: Lock): Set<string> {
  const console = 'packages/console'
  const named = Object.keys(lock[console]?.devDependencies ?? {}).filter((name) => !notBundled.has(name))
  const found = new Set<string>()
  const follow = (name: string, from: string): void => {
    const path = locate(name, from, lock)
    if (path === undefined || found.has(path)) return
    if (isThirdParty(path, lock)) found.add(path)
    for (const next of neededBy(lock[path] ?? {})) follow(next, path)
  }
  for (const name of [...named, ...fromRoot]) follow(name, console)
  return found
}

function neededBy({ dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }: Locked): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
  return [...Object.keys(dependencies), ...peers]
}

/** As Node looks a package up: beside, then further up. Packages of this repository are links. */
function locate(name: string, from: string, lock: Lock): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (lock[path]) return lock[path].link ? `packages/${name.replace('@graticule/', '')}` : path
    if (folder === '') return undefined
  }
}
