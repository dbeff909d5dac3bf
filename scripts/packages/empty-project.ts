// A project of somebody else: an empty folder outside the repository, into which the tarballs are installed.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm, runIn } from './run-in.ts'
import { makeTarballs, type PublishedPackage } from './tarballs.ts'

export type Project = {
  folder: string
  tarballs: Record<PublishedPackage, string>
  /** Runs a command that an installed package brings. */
  run(command: string, args: readonly string[]): Promise<string>
  remove(): Promise<void>
}

/** What a user would have beside ours. */
const neighbours = ['typescript@7', '@types/node@20', 'maplibre-gl@6', 'react@19', '@types/react@19', 'vite@8']

export async function makeProject(): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'graticule-packages-'))
  const tarballs = await makeTarballs(join(folder, 'tarballs'))
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  await cp(new URL('./consumer', import.meta.url), folder, { recursive: true })
  const packages = [...Object.values(tarballs), ...neighbours]
  await npm(folder, ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...packages])
  return {
    folder,
    tarballs,
    run: (command, args) => runIn(folder, process.execPath, [join(folder, 'node_modules/.bin', command), ...args]),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
