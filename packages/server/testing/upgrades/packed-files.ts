import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'

/**
 * An archive of files that Node opens without any package: brotli of the length of an index, the index as JSON and the files one
 * after another. The window is as wide as the whole, because a database cluster has most of its catalogs three times, tens of
 * megabytes apart.
 */
export type ReleaseFile = { readonly path: string; readonly bytes: Buffer }

/** Of an entry of the index; a path that ends with a slash is an empty directory. */
type Entry = readonly [path: string, size: number]

const lengthBytes = 4
const widestWindow = 27

export async function packFiles(files: readonly ReleaseFile[]): Promise<Buffer> {
  const index = Buffer.from(JSON.stringify(files.map(({ path, bytes }): Entry => [path, bytes.length])))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(index.length)
  return await promisify(brotliCompress)(Buffer.concat([length, index, ...files.map(({ bytes }) => bytes)]), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
      [constants.BROTLI_PARAM_LGWIN]: widestWindow,
    },
  })
}

/** What is below a directory, by relative paths in a fixed order. */
export async function filesBelow(directory: string): Promise<ReleaseFile[]> {
  const files: ReleaseFile[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(directory.length + 1)
    if (entry.isFile()) files.push({ path: name, bytes: await readFile(path) })
    else if (entry.isDirectory() && (await readdir(path)).length === 0)
      files.push({ path: `${name}/`, bytes: Buffer.alloc(0) })
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Writes the files of an archive below a directory. */
export async function unpackFiles(archive: string, directory: string): Promise<void> {
  for (const { path, bytes } of await readPacked(archive)) {
    const target = join(directory, path)
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true, mode: 0o700 })
    if (!path.endsWith('/')) await writeFile(target, bytes, { mode: 0o600 })
  }
}

export async function readPacked(archive: string): Promise<ReleaseFile[]> {
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 }
  const packed = await promisify(brotliDecompress)(await readFile(archive), { params })
  let start = lengthBytes + packed.readUInt32LE()
  return (JSON.parse(packed.toString('utf8', lengthBytes, start)) as Entry[]).map(([path, size]) => {
    start += size
    return { path, bytes: packed.subarray(start - size, start) }
  })
}
