import { execFile } from 'node:child_process'
import { existsSync, constants as fsConstants } from 'node:fs'
import { chmod, cp, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cacheDirectory, pgliteVersion, postgisVersion, slimBundle } from './embedded-bundle.ts'
import { startSession } from './embedded-session.ts'

const isDatabase = (directory: string): boolean => existsSync(join(directory, 'PG_VERSION'))

/** A data directory with PostGIS in it, made once for each version; copying it takes 0.4 s, making it 10 s. */
export function templateDirectory(): string {
  return join(cacheDirectory, `pgdata-${pgliteVersion}-${postgisVersion}`)
}

export async function prepareTemplate(): Promise<void> {
  await makeWhole(templateDirectory(), initialise)
}

/** Makes the data directory if there is none. */
export async function prepareDataDirectory(directory: string): Promise<void> {
  if (isDatabase(directory)) return
  if (existsSync(directory) && (await readdir(directory)).length > 0) {
    throw new Error(`The directory ${directory} is neither empty nor a database. Set DATA_DIR to another directory.`)
  }
  const hasTemplate = await prepareTemplate().then(
    () => true,
    () => false,
  )
  // Where the packages lie on a read-only disk there is no template.
  await makeWhole(directory, hasTemplate ? (target) => copyDurably(templateDirectory(), target) : initialise)
}

/** In a process of its own, because half of the gigabyte that it needs would stay with this one. */
async function initialise(directory: string): Promise<void> {
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), directory])
}

async function initialiseHere(directory: string): Promise<void> {
  await mkdir(directory)
  const session = await startSession({ directory, bundle: await slimBundle() })
  try {
    await session.call({ kind: 'script', text: 'CREATE EXTENSION postgis', single: true })
  } finally {
    await session.close()
  }
}

async function copyDurably(source: string, target: string): Promise<void> {
  await cp(source, target, { recursive: true, mode: fsConstants.COPYFILE_FICLONE })
  for (const entry of await readdir(target, { recursive: true, withFileTypes: true })) {
    await sync(join(entry.parentPath, entry.name))
  }
  await sync(target)
}

/** Holds nobody's data: what one user has installed (root, building an image) another one serves with. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path)
  await file.sync()
  await file.close()
}

/** `directory` appears complete or not at all; of several makers at once the first one wins. */
async function makeWhole(directory: string, make: (temporary: string) => Promise<void>): Promise<void> {
  if (isDatabase(directory)) return
  const parent = dirname(directory)
  const mark = `${basename(directory)}.new-`
  const temporary = join(parent, `${mark}${process.pid}-${Date.now()}`)
  await mkdir(parent, { recursive: true })
  try {
    await make(temporary)
    await rename(temporary, directory)
    await sync(parent)
  } catch (error) {
    if (!isDatabase(directory)) throw error
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  // What makers that were killed have left.
  for (const name of await readdir(parent)) {
    if (name.startsWith(mark)) await rm(join(parent, name), { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const [, , directory] = process.argv
  if (directory !== undefined) await initialiseHere(directory)
  else {
    const start = performance.now()
    await prepareTemplate()
    await makeReadable(templateDirectory())
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    process.stdout.write(`The template of the embedded database is ready (${seconds} s): ${templateDirectory()}\n`)
  }
}
