import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describeFile } from './describe-file.ts'
import { faultOf, isFatal } from './engine-error.ts'
import type { FolderFile } from './folder.ts'
import { type InstanceMaker, withConnection } from './instance.ts'
import { type FileFacts, UnusableFile } from './table-facts.ts'

/** Looks at each file once, in an instance that nobody's query sees and that may break. */
export type FactsCache = {
  factsOf(file: FolderFile, quarantined: readonly string[]): Promise<FileFacts | UnusableFile>
}

/** `onOpening`: which file is being looked at. Should the process die of it, it is not opened again. */
export function createFactsCache(instances: InstanceMaker, onOpening: (file: string | null) => void): FactsCache {
  const cache = new Map<string, FileFacts | UnusableFile>()
  let instance: Promise<DuckDBInstance> | undefined

  async function lookAt(file: FolderFile): Promise<FileFacts | UnusableFile> {
    instance ??= instances.make()
    const used = await instance
    try {
      return await withConnection(used, (connection) => limited(connection, describeFile(connection, file)))
    } catch (error) {
      if (isFatal(error)) {
        instance = undefined
        instances.close(used)
      }
      return error instanceof UnusableFile ? error : new UnusableFile(reasonOf(error, file))
    }
  }

  return {
    async factsOf(file, quarantined) {
      const key = `${file.path}\n${file.fingerprint}`
      if (quarantined.includes(key)) return new UnusableFile(deadlyReason)
      const before = cache.get(key)
      if (before) return before
      onOpening(key)
      const facts = await lookAt(file)
      onOpening(null)
      cache.set(key, facts)
      forgetOldest(cache)
      return facts
    },
  }
}

const deadlyReason = 'Reading it ended the process, so it is not read again until it changes.'
const maxKnown = 2_000

function forgetOldest(cache: Map<string, unknown>): void {
  const [oldest] = cache.keys()
  if (cache.size > maxKnown && oldest !== undefined) cache.delete(oldest)
}

const lookMs = 20_000
const graceMs = 1_000

/** Looking at a file takes milliseconds. One that takes this long is left alone; should it not let go, the process ends. */
async function limited<T>(connection: DuckDBConnection, work: Promise<T>): Promise<T> {
  const interrupting = setTimeout(() => connection.interrupt(), lookMs)
  const ending = setTimeout(() => process.kill(process.pid, 'SIGKILL'), lookMs + graceMs)
  try {
    return await work
  } finally {
    clearTimeout(interrupting)
    clearTimeout(ending)
  }
}

function reasonOf(error: unknown, { path, file }: FolderFile): string {
  if (isFatal(error)) return 'DuckDB failed while it looked at the file.'
  return `It cannot be read: ${faultOf(error, []).message.replaceAll(path, file)}`
}
