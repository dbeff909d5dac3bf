// Builds the package in the current folder into dist/, as its script "prepack": npm pack and npm publish run it.
import { spawnSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

// A file whose source is gone must not be packed.
rmSync('dist', { recursive: true, force: true })
const tsc = [resolve(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json']
const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' })
if (status !== 0) process.exit(1)
copyFileSync(resolve(root, 'LICENSE'), 'LICENSE')
