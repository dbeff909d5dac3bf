import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

export type Load = {
  /** `http://host:port` */
  readonly url: string
  /** Asked for in turn. */
  readonly paths: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
}

const seconds = 4
const script = new URL('paths.lua', import.meta.url).pathname

/**
 * The requests a second that a server answers. By wrk where it is installed: autocannon takes longer for a request than a
 * fast server for the answer, so what it measures is mostly itself.
 */
export const requestRate = (load: Load): Promise<number> => (hasWrk ? wrkRate(load) : autocannonRate(load))

const hasWrk = ((): boolean => {
  try {
    execFileSync('which', ['wrk'])
    return true
  } catch {
    return false
  }
})()

async function wrkRate({ url, paths, headers, connections }: Load): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  try {
    const file = join(directory, 'paths')
    await writeFile(file, paths.join('\n'))
    const sent = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, ...sent, '-s', script, url, '--', file]
    const { stdout } = await promisify(execFile)('wrk', options)
    if (/Non-2xx or 3xx|Socket errors/.test(stdout)) throw new Error(stdout)
    return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function autocannonRate({ url, paths, headers, connections }: Load): Promise<number> {
  const asked = paths.map((path) => ({ path }))
  const result = await autocannon({ url, connections, duration: seconds, headers: { ...headers }, requests: asked })
  const { requests, non2xx } = result
  if (non2xx > (result['3xx'] ?? 0)) throw new Error(`${non2xx} answers were not 2xx`)
  return requests.average
}
