/**
 * The console's built files (packages/console/built), read when they are first asked for and kept: they are few, and
 * every reader gets the same bytes, compressed once.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'

export type ConsoleFile = { readonly contentType: string; readonly bytes: Buffer; readonly revision: string }

const root = new URL('../../../../console/built/', import.meta.url)
const assets = 'assets/'

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
}

export interface ConsoleFiles {
  /** A built file by its path, such as `assets/index-Ab12.js`; nothing when it was not built. */
  file(path: string): Promise<ConsoleFile | undefined>
  /** The page itself for an address so many folders below `/console/`. */
  page(depth: number): Promise<ConsoleFile>
}

export function createConsoleFiles(): ConsoleFiles {
  let names: Promise<ReadonlySet<string>> | undefined
  const kept = new Map<string, Promise<ConsoleFile>>()
  const keep = (name: string, read: () => Promise<Buffer>): Promise<ConsoleFile> => {
    const file = kept.get(name)
    if (file) return file
    const contentType = contentTypes[extname(name)] ?? 'application/octet-stream'
    const reading = read().then((bytes) => consoleFile(contentType, bytes))
    kept.set(name, reading)
    reading.catch(() => kept.delete(name))
    return reading
  }
  return {
    async file(path) {
      names ??= listFiles()
      // Only names that were listed are read, so no path leads anywhere else.
      return (await names).has(path) ? keep(path, () => readFile(new URL(path, root))) : undefined
    },
    page: (depth) => keep(`${depth}.html`, () => readPage(depth)),
  }
}

export const consoleFile = (contentType: string, bytes: Buffer): ConsoleFile => ({
  contentType,
  bytes,
  revision: createHash('sha1').update(bytes).digest('base64url'),
})

async function listFiles(): Promise<ReadonlySet<string>> {
  const [top, inner] = await Promise.all([readdir(root), readdir(new URL(assets, root))])
  return new Set([
    ...top.filter((name) => name !== 'index.html' && name.includes('.')),
    ...inner.map((name) => assets + name),
  ])
}

/** Its addresses are relative to `/console/`, wherever a proxy puts that: each folder below needs one step up more. */
async function readPage(depth: number): Promise<Buffer> {
  const html = await readFile(new URL('index.html', root), 'utf8')
  return Buffer.from(html.replaceAll('="./', `="${'../'.repeat(depth) || './'}`))
}
