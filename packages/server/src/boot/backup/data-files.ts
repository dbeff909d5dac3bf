import { lstat, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../../kernel/errors.ts'

/** A file beside the database, by its path below DATA_DIR with slashes. */
export type DataFile = { readonly path: string; readonly bytes: number }

/** Where the files of an installation are. All that backup and restore know of files goes through here. */
export type DataFiles = {
  list(leaveOut: (path: string) => void): AsyncIterable<DataFile>
  /** Undefined when it is not there. */
  read(path: string): Promise<AsyncIterable<Uint8Array> | undefined>
  write(path: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Demands that there are no files; `isRepeated` removes those of a restore that was interrupted. */
  prepare(isRepeated: boolean): Promise<void>
}

/** Tile archives and fonts. */
export const listedRoots = ['files', 'fonts']
/** Besides, uploads that wait or are being read. What else is in DATA_DIR can be made again. */
export const fileRoots = [...listedRoots, 'uploads']

export function openDataFiles(directory: string): DataFiles {
  return {
    async *list(leaveOut) {
      for (const root of listedRoots) yield* filesBelow(directory, root, leaveOut)
    },
    async read(path) {
      const file = await open(join(directory, path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        return undefined
      })
      return file?.createReadStream()
    },
    async write(path, content) {
      demandFilePath(path)
      await mkdir(dirname(join(directory, path)), { recursive: true, mode: 0o700 })
      const file = await open(join(directory, path), 'wx', 0o600)
      try {
        for await (const piece of content) await file.writeFile(piece)
        await file.sync()
      } finally {
        await file.close()
      }
    },
    // It goes with the rest of DATA_DIR (restore-target.ts).
    async prepare() {},
  }
}

export function demandFilePath(path: string): void {
  if (!isFilePath(path)) throw new StartError(`The backup has a file that would be outside of DATA_DIR: ${path}`)
}

/** Below one of the roots, without a part that leads elsewhere or that a file system could read as something else. */
export function isFilePath(path: string): boolean {
  if (path.length > 2_000 || !path.isWellFormed()) return false
  const [root = '', ...names] = path.split('/')
  return fileRoots.includes(root) && names.length > 0 && names.every(isName)
}

const isName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && Buffer.byteLength(name) <= 255 && !/[\\:\p{Cc}]/u.test(name)

async function* filesBelow(
  directory: string,
  path: string,
  leaveOut: (path: string) => void,
): AsyncGenerator<DataFile, void, undefined> {
  const file = await lstat(join(directory, path)).catch(() => undefined)
  if (!file) return
  if (file.isDirectory()) {
    const names = (await readdir(join(directory, path)).catch(() => [])).sort()
    for (const name of names) yield* filesBelow(directory, `${path}/${name}`, leaveOut)
  } else if (file.isFile() && isFilePath(path)) yield { path, bytes: file.size }
  else leaveOut(path)
}
