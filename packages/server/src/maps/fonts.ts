import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { composeStacks } from './glyph-stack.ts'

export type GlyphRange = { bytes: Buffer; isGzip: boolean }

export type Fonts = {
  /** The installed fonts, in the order of the alphabet. */
  names(): string[]
  /** The glyphs of `0-255` and the like. Undefined if none of the fonts in `A,B` is installed, or the range is none. */
  range(fontstack: string, range: string): Promise<GlyphRange | undefined>
}

/** By range: the file of glyphs. */
type Font = ReadonlyMap<string, string>

const unpack = promisify(gunzip)
const pack = promisify(gzip)
const lastStart = 65_280
const maxFonts = 10
const cacheBytes = 32 * 1024 * 1024
const maxRangeBytes = 16 * 1024 * 1024

/**
 * Fonts as folders of ranges, `Noto Sans Regular/0-255.pbf` or `.pbf.gz`. Of two folders with the same name the
 * later directory’s counts. What a client asks for is looked up in the list made here and never becomes a path.
 */
export async function createFonts(directories: readonly string[]): Promise<Fonts> {
  const fonts = new Map<string, Font>()
  for (const directory of directories) for (const [name, font] of await fontsIn(directory)) fonts.set(name, font)
  const sorted = [...fonts.keys()].sort()
  const cache = createByteCache(cacheBytes)

  async function make(names: readonly string[], range: string): Promise<GlyphRange> {
    const files = names.map((name) => fonts.get(name)?.get(range)).filter((file) => file !== undefined)
    const [first] = files
    if (first && names.length === 1) return { bytes: await readFile(first), isGzip: first.endsWith('.gz') }
    const stacks = await Promise.all(files.map(readGlyphs))
    return { bytes: await pack(composeStacks(names.join(','), range, stacks)), isGzip: true }
  }

  return {
    names: () => [...sorted],
    async range(fontstack, range) {
      const names = fontstack.split(',', maxFonts).map((name) => name.trim())
      const known = [...new Set(names)].filter((name) => fonts.has(name))
      if (known.length === 0 || !isRange(range)) return undefined
      const key = `${known.join(',')}/${range}`
      return cache.get(key) ?? cache.set(key, await make(known, range))
    },
  }
}

function isRange(range: string): boolean {
  const [, start, end] = /^(\d{1,5})-(\d{1,5})$/.exec(range) ?? []
  const first = Number(start)
  return first % 256 === 0 && first <= lastStart && `${first}-${first + 255}` === `${start}-${end}`
}

async function readGlyphs(file: string): Promise<Buffer> {
  const bytes = await readFile(file)
  return file.endsWith('.gz') ? unpack(bytes, { maxOutputLength: maxRangeBytes }) : bytes
}

/** A missing directory counts as empty. */
async function fontsIn(directory: string): Promise<[string, Font][]> {
  const folders = await entriesOf(directory)
  const fonts = folders
    .filter((name) => !name.startsWith('.') && !name.includes(','))
    .map(async (name): Promise<[string, Font]> => {
      const folder = join(directory, name)
      const ranges = (await entriesOf(folder)).flatMap((file) => {
        const [, range = ''] = /^(.*)\.pbf(\.gz)?$/.exec(file) ?? []
        return isRange(range) ? [[range, join(folder, file)] as const] : []
      })
      return [name, new Map(ranges)]
    })
  return (await Promise.all(fonts)).filter(([, font]) => font.size > 0)
}

async function entriesOf(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

/** LRU cache, bounded in bytes. */
function createByteCache(limit: number) {
  const kept = new Map<string, GlyphRange>()
  let size = 0
  return {
    get(key: string): GlyphRange | undefined {
      const found = kept.get(key)
      if (found) {
        kept.delete(key)
        kept.set(key, found)
      }
      return found
    },
    set(key: string, value: GlyphRange): GlyphRange {
      if (kept.has(key)) return value
      kept.set(key, value)
      size += value.bytes.length + key.length
      for (const [oldest, { bytes }] of kept) {
        if (size <= limit) break
        kept.delete(oldest)
        size -= bytes.length + oldest.length
      }
      return value
    },
  }
}
