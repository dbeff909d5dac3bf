import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { ServerConfig } from '../../api/server-info/server-info.ts'

const manifest = new URL('../../../package.json', import.meta.url)

/** The release, and in a checkout also its commit. */
export async function readVersion(): Promise<ServerConfig['version']> {
  const { version } = JSON.parse(await readFile(manifest, 'utf8'))
  try {
    const { stdout } = await promisify(execFile)('git', ['log', '-1', '--format=%H %ct'], {
      cwd: new URL('.', manifest),
    })
    const [hash = '', seconds] = stdout.trim().split(' ')
    return { tag: version, hash, timestamp: Number(seconds) * 1000 }
  } catch {
    return { tag: version, hash: '', timestamp: Math.round((await stat(manifest)).mtimeMs) }
  }
}
