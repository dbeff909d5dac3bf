import { chmod, lstat, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const others = 0o077

/**
 * Makes DATA_DIR, and takes from all but its owner the right to look into it and at what an earlier version has left
 * there. What belongs to somebody else, such as a volume that is shared with a group, stays as it is and is reported.
 */
export async function closeToOthers(directory: string, onError: (error: unknown) => void): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await close(directory, onError)
}

async function close(path: string, onError: (error: unknown) => void): Promise<void> {
  try {
    const stats = await lstat(path)
    // What a link leads to is not ours to change.
    if (stats.isSymbolicLink()) return
    if (stats.mode & others) await chmod(path, stats.mode & 0o777 & ~others)
    if (!stats.isDirectory()) return
    for (const name of await readdir(path)) await close(join(path, name), onError)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A server that runs on the same directory may have removed it meanwhile.
    if (code === 'ENOENT') return
    if (code !== 'EPERM' && code !== 'EACCES' && code !== 'EROFS') throw error
    onError(new Error(`${path} stays open to other users of this machine: ${code}`, { cause: error }))
  }
}
