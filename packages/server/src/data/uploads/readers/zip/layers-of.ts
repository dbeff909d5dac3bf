import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type OpenReader, type Reader, type ReaderOptions, ReadFault } from '../reader.ts'

type Part = { readonly layer: string; readonly reader: Reader; readonly inner: string }

/** Opens several files as one: the layers of all of them, told apart by numbers where they are called alike. */
export async function openLayersOf(
  files: readonly { readonly path: string; readonly name: string }[],
  options: ReaderOptions,
  openFile: OpenReader,
): Promise<Reader> {
  const readers: Reader[] = []
  const close = async () => {
    for (const reader of readers) await reader.close()
  }
  try {
    const parts: Part[] = []
    for (const [index, { path, name }] of files.entries()) {
      const directory = join(options.directory, `f${index}`)
      await mkdir(directory)
      const reader = await openFile(path, { ...options, fileName: name, directory })
      readers.push(reader)
      for (const inner of await reader.layers()) parts.push({ layer: freeName(inner, parts), reader, inner })
    }
    return { ...readerOf(parts, readers), close }
  } catch (error) {
    await close()
    throw error
  }
}

function freeName(name: string, parts: readonly Part[]): string {
  let free = name
  for (let number = 2; parts.some(({ layer }) => layer === free); number++) free = `${name}_${number}`
  return free
}

function readerOf(parts: readonly Part[], readers: readonly Reader[]): Omit<Reader, 'close'> {
  const partOf = (name: string) => {
    const part = parts.find(({ layer }) => layer === name)
    if (!part) throw new ReadFault('layer_not_found', `There is no layer "${name}".`)
    return part
  }
  return {
    format: readers[0]?.format ?? 'zip',
    layers: async () => parts.map(({ layer }) => layer),
    scan: async (name, options) => {
      const { reader, inner } = partOf(name)
      return { ...(await reader.scan(inner, options)), name }
    },
    encode: (name, columns, options) => {
      const { reader, inner } = partOf(name)
      return reader.encode(inner, columns, options)
    },
    guess: async (name, options) => {
      const { reader, inner } = partOf(name)
      const layer = await reader.guess(inner, options)
      return layer && { ...layer, name }
    },
    async *load(name, columns, options) {
      const { reader, inner } = partOf(name)
      const { layer, isAsGuessed } = yield* reader.load(inner, columns, options)
      return { layer: { ...layer, name }, isAsGuessed }
    },
  }
}
