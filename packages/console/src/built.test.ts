import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'

const folder = resolve(import.meta.dirname, '../built')
const limitBytes = 300_000

async function filesOf(root: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const paths = names.map((entry) => join(entry.parentPath, entry.name)).sort()
  return new Map(await Promise.all(paths.map(async (path) => [path.slice(root.length), await readFile(path)] as const)))
}

test('the built files in the repository are what the sources give (npm run console)', async () => {
  const fresh = await mkdtemp(join(tmpdir(), 'console-'))
  try {
    const configFile = resolve(import.meta.dirname, '../vite.config.ts')
    await build({ configFile, logLevel: 'error', build: { outDir: fresh, emptyOutDir: true } })
    const [kept, made] = await Promise.all([filesOf(folder), filesOf(fresh)])
    assert.deepEqual([...kept.keys()], [...made.keys()])
    for (const [name, bytes] of made) assert.ok(kept.get(name)?.equals(bytes), `${name} differs`)
  } finally {
    await rm(fresh, { recursive: true })
  }
})

test('what is loaded before the first page is drawn is at most 300 kB, compressed, and holds no map', async () => {
  const html = await readFile(join(folder, 'index.html'), 'utf8')
  const names = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = '']) => name)
  assert.ok(names.length > 2)
  assert.deepEqual(
    names.filter((name) => /maplibre|codemirror/.test(name)),
    [],
  )
  const sizes = await Promise.all(names.map(async (name) => gzipSync(await readFile(join(folder, name))).length))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(total <= limitBytes, `${total} bytes`)
})
