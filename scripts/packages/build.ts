// Builds the package in the current folder into dist/, as its script "prepack": npm pack and npm publish run it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

build(process.cwd())

function build(folder: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8'))
  // A package of ours that it builds on is built first: the compiler reads its declarations.
  for (const name of Object.keys(dependencies)) {
    if (name.startsWith('@graticule/')) build(resolve(root, 'packages', name.slice('@graticule/'.length)))
  }
  // A file whose source is gone must not be packed.
  rmSync(resolve(folder, 'dist'), { recursive: true, force: true })
  const tsc = [resolve(root, 'node_modules/typescript/bin/tsc'), '-p', resolve(folder, 'tsconfig.build.json')]
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
  copyFileSync(resolve(root, 'LICENSE'), resolve(folder, 'LICENSE'))
}
