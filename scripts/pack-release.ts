// npm run pack-release COMMIT: keeps what runs of a release's server, for the tests of upgrades. Once for each release.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { packFiles } from '../packages/server/testing/upgrades/packed-files.ts'

const [commit] = process.argv.slice(2)
if (commit === undefined) {
  console.error('Which release? npm run pack-release COMMIT, where COMMIT is its tag or commit.')
  process.exit(2)
}

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, { cwd: resolve(import.meta.dirname, '..'), maxBuffer: 2 ** 26 })

const paths = git('ls-tree', '-r', '--name-only', '--full-tree', commit, 'packages/server/')
  .toString()
  .split('\n')
  .filter((path) => path !== '' && !/\.test\.ts$|\/testing\//.test(path))
const target = resolve(import.meta.dirname, '../packages/server/testing/upgrades/last-release.br')
const archive = await packFiles(paths.map((path) => ({ path, bytes: git('show', `${commit}:${path}`) })))
await writeFile(target, archive)
console.log(`${paths.length} files, ${Math.round(archive.length / 1000)} KB: ${target}`)
