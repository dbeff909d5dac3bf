import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { FileStore } from '../../../kernel/storage/file-store.ts'
import { composeStacks } from './glyph-stack.ts'

export type GlyphRange = { bytes: Buffer; isGzip: boolean }

export type Fonts = {
  /** The installed fonts, in the order of the alphabet. */
  names(): string[]
  /** The glyphs of `0-255` and the like. Undefined if none of the fonts in `A,B` is installed, or the range is none. */
  range(fontstack: string, range: string): Promise<GlyphRange | undefined>
}

/** By range: the file of glyphs. */
type Font = Map<string, GlyphFile>
type GlyphFile = { readonly isGzip: boolean; read(): Promise<Buffer> }
type FontStore = Pick<FileStore, 'list' | 'read'>

const unpack = promisify(gunzip)
const pack = promisify(gzip)
const lastStart = 65_280
const maxFonts = 10
const cacheBytes = 32 * 1024 * 1024
const maxRangeBytes = 16 * 1024 * 1024

/** How soon a store that did not answer is asked again. */
const retryMs = 60_000

/**
 * Fonts as folders of ranges, `fonts/Noto Sans Regular/0-255.pbf` or `.pbf.gz`. Of two folders with the same name the
 * later store’s counts. What a client asks for is looked up in the list made here and never becomes a key.
 */
export async function createFonts(stores: readonly FontStore[], onError: (error: unknown) => void): Promise<Fonts> {
  let fonts = new Map<string, Font>()
  const cache = new LRUCache<string, GlyphRange>({
    maxSize: cacheBytes,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  })

  /** Without the fonts of a store that fails the server is of use all the same. */
  async function load(): Promise<void> {
    const loaded = await Promise.allSettled(stores.map(fontsIn))
    fonts = new Map(loaded.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : [])))
    const failures = loaded.filter((result) => result.status === 'rejected')
    for (const { reason } of failures) onError(reason)
    if (failures.length > 0) setTimeout(load, retryMs).unref()
  }
  await load()

  async function make(names: readonly string[], range: string): Promise<GlyphRange> {
    const files = names.map((name) => fonts.get(name)?.get(range)).filter((file) => file !== undefined)
    const [first] = files
    if (first && names.length === 1) return { bytes: await first.read(), isGzip: first.isGzip }
    const stacks = await Promise.all(files.map(readGlyphs))
    return { bytes: await pack(composeStacks(names.join(','), range, stacks)), isGzip: true }
  }

  return {
    names: () => [...fonts.keys()].sort(),
    async range(fontstack, range) {
      const names = fontstack.split(',', maxFonts).map((name) => name.trim())
      const installed = [...new Set(names)].filter((name) => fonts.has(name))
      if (installed.length === 0 || !isRange(range)) return undefined
      const key = `${installed.join(',')}/${range}`
      const kept = cache.get(key)
      if (kept) return kept
      const made = await make(installed, range)
      cache.set(key, made)
      return made
    },
  }
}

function isRange(range: string): boolean {
  const [, start, end] = /^(\d{1,5})-(\d{1,5})$/.exec(range) ?? []
  const first = Number(start)
  return first % 256 === 0 && first <= lastStart && `${first}-${first + 255}` === `${start}-${end}`
}

async function readGlyphs({ isGzip, read }: GlyphFile): Promise<Buffer> {
  const bytes = await read()
  return isGzip ? unpack(bytes, { maxOutputLength: maxRangeBytes }) : bytes
}

async function fontsIn(store: FontStore): Promise<Map<string, Font>> {
  const fonts = new Map<string, Font>()
  for await (const { key } of store.list('fonts/')) {
    const [, name = '', file = ''] = key.split('/')
    const [, range = '', packed] = /^(.*)\.pbf(\.gz)?$/.exec(file) ?? []
    if (name.startsWith('.') || name.includes(',') || !isRange(range)) continue
    const font: Font = fonts.get(name) ?? new Map()
    fonts.set(name, font.set(range, { isGzip: packed !== undefined, read: () => store.read(key) }))
  }
  return fonts
}
