import { mkdir, readdir, symlink } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { readPacked, unpackFiles } from './packed-files.ts'

const root = resolve(import.meta.dirname, '../../../..')
const archive = join(import.meta.dirname, 'last-release.br')

/**
 * Unpacks the server of the last release (scripts/pack-release.ts) and returns its program. The packages that it needs are those
 * installed here, and so are the other workspaces: map data and pages do not depend on the schema.
 */
export async function unpackLastRelease(directory: string): Promise<string> {
  await unpackFiles(archive, directory)
  const server = join(directory, 'packages/server')
  const others = (await readdir(join(root, 'packages'))).filter((name) => name !== 'server')
  for (const path of ['node_modules', 'packages/server/node_modules', ...others.map((name) => `packages/${name}`)]) {
    await symlink(join(root, path), join(directory, path))
  }
  await mkdir(join(server, '.cache'))
  return join(server, 'bin/graticule.js')
}

/** The texts of its migrations and functions, by their file names. */
export async function lastReleaseSql(): Promise<Record<'migrations' | 'functions', Map<string, string>>> {
  const sql = { migrations: new Map<string, string>(), functions: new Map<string, string>() }
  for (const { path, bytes } of await readPacked(archive)) {
    const [, kind] = /\/db\/(migrations|functions)\/[^/]+\.sql$/.exec(path) ?? []
    if (kind !== undefined) sql[kind as keyof typeof sql].set(basename(path), bytes.toString())
  }
  return sql
}
