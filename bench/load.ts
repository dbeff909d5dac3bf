import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type Load = {
  /** `http://host:port` */
  readonly url: string
  /** Asked for in turn. */
  readonly paths: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly connections?: number
  /** Makes it a POST. */
  readonly body?: string
}

export type LoadResult = {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p95Ms: number
  /** Answers with a status of 400 and more. */
  readonly refused: number
}

const script = new URL('./requests.lua', import.meta.url).pathname
const defaultConnections = 4

/** By wrk, in one thread: load generators of JavaScript take longer for a request than a fast server for the answer. */
export async function runLoad(load: Load, seconds: number): Promise<LoadResult> {
  const directory = await mkdtemp(join(tmpdir(), 'graticule-bench-'))
  try {
    const file = join(directory, 'paths')
    await writeFile(file, load.paths.join('\n'))
    const headers = Object.entries(load.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const size = ['-t1', `-c${load.connections ?? defaultConnections}`, `-d${seconds}s`, '--timeout', '30s']
    const extra = load.body === undefined ? [] : [load.body]
    const parameters = [...size, ...headers, '-s', script, load.url, '--', file, ...extra]
    const { stdout } = await promisify(execFile)('wrk', parameters)
    return readResult(stdout)
  } finally {
    await rm(directory, { recursive: true })
  }
}

function readResult(output: string): LoadResult {
  const text = /^result (.*)$/m.exec(output)?.[1]
  if (text === undefined) throw new Error(`wrk said:\n${output}`)
  const { broken, ...answered } = JSON.parse(text) as LoadResult & { broken: number }
  if (broken > 0) throw new Error(`${broken} connections broke:\n${output}`)
  return answered
}
