import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type SpriteFile = { bytes: Buffer; contentType: string }

export type Sprites = {
  /** `light.json`, `light@2x.png`, …; undefined if there is no such file. */
  file(path: string): Promise<SpriteFile | undefined>
}

const contentTypes: Record<string, string> = { json: 'application/json; charset=utf-8', png: 'image/png' }

/** The sheets of icons in a folder. They are few and small, so they are read once and kept. */
export async function createSprites(directory: string): Promise<Sprites> {
  const names = (await readdir(directory)).filter((name) => /^[\w-]+(@2x)?\.(json|png)$/.test(name))
  const read = async (name: string): Promise<[string, SpriteFile]> => {
    const contentType = contentTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    return [name, { bytes: await readFile(join(directory, name)), contentType }]
  }
  const files = new Map(await Promise.all(names.map(read)))
  return { file: async (path) => files.get(path) }
}
