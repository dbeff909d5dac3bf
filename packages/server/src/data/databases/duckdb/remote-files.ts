// Copies of files behind an https or S3 prefix: fetched through the egress guard and revalidated by ETag. The sandboxed process reads the copies, because it has no network.
import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLoadingCache } from '../../../kernel/concurrency/loading-cache.ts'
import { untilAborted } from '../../../kernel/db/cursor.ts'
import { ApiError } from '../../../kernel/errors.ts'
import type { FetchStream } from '../driver.ts'
import { discard, type RemoteSource } from './remote-source.ts'

export type RemoteFolder = {
  /** Below the files of the application, in a hidden folder. */
  readonly directory: string
  /** Changes with the record: what is known of the source of one is not taken for that of another. */
  readonly key: string
  readonly source: RemoteSource
}

export type RemoteFiles = {
  /** Waits until the copies are there. Later calls revalidate them in the background. Throws when not one file could be had. */
  ready(folder: RemoteFolder, signal: AbortSignal | undefined): Promise<void>
}

export type RemoteOptions = {
  /** For the log: a file that could not be had. */
  onError(error: unknown): void
  /** Of one file, and of all copies of an application. */
  readonly maxFileBytes?: number
  readonly maxBytes?: number
  /** Copies are taken for current for so long. */
  readonly trustMs?: number
  /** A request waits no longer for the first copies; they are fetched on. */
  readonly patienceMs?: number
}

const gigabyte = 1024 ** 3
/** Of one download. */
const downloadMs = 600_000
const atOnce = 4

export function createRemoteFiles(options: RemoteOptions): RemoteFiles {
  const { trustMs = 60_000, patienceMs = 55_000, onError } = options
  const outcomes = createLoadingCache<Outcome>({ ttlMs: trustMs, max: 1_000 })
  return {
    async ready(folder, signal) {
      const key = JSON.stringify([folder.directory, folder.key])
      const last = outcomes.last(key)
      const loading = outcomes.get(key, () => refresh(folder, options))
      if (last && !last.fault) return void loading.catch(onError)
      const patience = AbortSignal.timeout(patienceMs)
      const waiting = signal ? AbortSignal.any([signal, patience]) : patience
      const { fault } = await untilAborted(loading, waiting).catch((error) => {
        throw patience.aborted && !signal?.aborted ? stillFetching() : error
      })
      if (fault) throw fault
    },
  }
}

/** `fault`: why not one file could be had. */
type Outcome = { readonly fault: ApiError | undefined }

const stillFetching = (): ApiError =>
  new ApiError('busy', 'The files of this database are still being fetched. Try again in a moment.', {
    headers: { 'Retry-After': '5' },
  })

/** Brings the copies up to date. */
async function refresh(folder: RemoteFolder, options: RemoteOptions): Promise<Outcome> {
  await mkdir(folder.directory, { recursive: true, mode: 0o700 })
  const index = await readIndex(folder)
  const listed = await filesOf(folder, index, options)
  if ('fault' in listed) return listed
  const { files } = listed
  await tidy(folder.directory, files)
  const faults: ApiError[] = []
  const waiting = files.values()
  const take = async (): Promise<void> => {
    for (const file of waiting) {
      const fault = await refreshFile(folder, file, index, options)
      if (fault) faults.push(fault)
      if (fault) options.onError(fault)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, take))
  const path = join(folder.directory, indexName)
  await writeFile(`${path}.new`, JSON.stringify(Object.fromEntries(index)))
  await rename(`${path}.new`, path)
  const now = new Date()
  await utimes(folder.directory, now, now)
  return { fault: faults.length === files.length ? faults[0] : undefined }
}

/** Copies outlive a listing that fails, but not one that is refused. */
async function filesOf(
  { source, directory }: RemoteFolder,
  index: Index,
  { onError }: RemoteOptions,
): Promise<{ readonly files: readonly string[] } | Outcome> {
  try {
    return { files: await source.list(AbortSignal.timeout(downloadMs)) }
  } catch (error) {
    onError(error)
    const fault = error instanceof ApiError ? error : failed('The listing', error)
    const copies = [...index].flatMap(([file, { url }]) => (url === source.addressOf(file) ? [file] : []))
    const hasCopies = copies.length > 0 && fault.code === 'upstream_failed'
    if (!hasCopies) await tidy(directory, [])
    return { fault: hasCopies ? undefined : fault }
  }
}

/** What a server said of a file, by the name of the file. */
type Index = Map<string, FetchedFile>
type FetchedFile = { readonly url: string; readonly etag?: string; readonly modified?: string }

/** Hidden, as all that is no table. */
const indexName = '.index.json'

async function readIndex({ directory }: RemoteFolder): Promise<Index> {
  const text = await readFile(join(directory, indexName), 'utf8').catch(() => '{}')
  return new Map(Object.entries(JSON.parse(text) as Record<string, { url: string }>))
}

/** Away with files that are no longer named, and with parts that no download is writing any more. */
async function tidy(directory: string, files: readonly string[]): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const isOld = async (): Promise<boolean> => Date.now() - (await stat(path)).mtimeMs > downloadMs
    const isLeft = name.startsWith('.') ? name.endsWith(partEnding) && (await isOld()) : !files.includes(name)
    if (isLeft) await rm(path, { force: true })
  }
}

/** A copy outlives a server that does not answer, but not one that no longer has the file. */
async function refreshFile(
  folder: RemoteFolder,
  file: string,
  index: Index,
  options: RemoteOptions,
): Promise<ApiError | undefined> {
  const { source, directory } = folder
  const path = join(directory, file)
  const url = source.addressOf(file)
  const guessedLayer = index.get(file)
  const hasCopy = guessedLayer?.url === url && (await sizeOf(path)) !== undefined
  try {
    const headers = conditions(hasCopy ? guessedLayer : undefined)
    const answer = await source.get(file, headers, AbortSignal.timeout(downloadMs))
    if (answer.status === 200) {
      await store(folder, path, answer, options)
      index.set(file, { url, ...validatorsOf(answer.headers) })
      return undefined
    }
    if (answer.status === 304 && hasCopy) return void (await discard(answer.body))
    const reason = await source.refusalOf(answer)
    const isGone = [401, 403, 404, 410].includes(answer.status)
    if (isGone) await rm(path, { force: true })
    return hasCopy && !isGone ? undefined : new ApiError('invalid_request', `${file}: ${reason}`)
  } catch (error) {
    if (hasCopy) return void options.onError(error)
    return withName(file, error)
  }
}

const withName = (file: string, cause: unknown): ApiError =>
  cause instanceof ApiError ? new ApiError(cause.code, `${file}: ${cause.message}`, { cause }) : failed(file, cause)

const failed = (what: string, cause: unknown): ApiError =>
  new ApiError('upstream_failed', `${what} could not be fetched.`, { cause })

/** Under which the server need not send the file again. */
const conditions = ({ etag, modified }: Partial<FetchedFile> = {}): Record<string, string> => ({
  ...(etag && { 'if-none-match': etag }),
  ...(modified && { 'if-modified-since': modified }),
})

function validatorsOf({ etag, 'last-modified': modified }: Readonly<Record<string, string>>) {
  return { ...(etag && { etag }), ...(modified && { modified }) }
}

const partEnding = '.part'

/** Renamed over the old copy, so that queries which read that go on. */
async function store(
  { directory }: RemoteFolder,
  path: string,
  { headers, body }: Awaited<ReturnType<FetchStream>>,
  { maxFileBytes = gigabyte, maxBytes = 4 * gigabyte }: RemoteOptions,
): Promise<void> {
  const part = join(directory, `.${randomUUID()}${partEnding}`)
  const room = await makeRoom(directory, Number(headers['content-length'] ?? maxFileBytes), maxBytes)
  const most = Math.min(maxFileBytes, room)
  try {
    const file = await open(part, 'wx', 0o600)
    try {
      let bytes = 0
      for await (const chunk of body) {
        bytes += chunk.length
        if (bytes > most) throw tooLarge(room < maxFileBytes ? maxBytes : maxFileBytes, room < maxFileBytes)
        await file.write(chunk)
      }
    } finally {
      await file.close()
    }
    // The same on every replica, so that what is made of a copy fits the copies of others.
    const modified = new Date(headers['last-modified'] ?? '')
    if (!Number.isNaN(modified.getTime())) await utimes(part, modified, modified)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

const tooLarge = (limit: number, isTotal: boolean): ApiError =>
  new ApiError(
    'too_large',
    isTotal
      ? `The copies of remote files of this application would take more than ${megabytes(limit)} MB, the limit.`
      : `The file is larger than ${megabytes(limit)} MB, the limit of a remote file.`,
  )

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2)

/** Copies of other databases of the application go first, those not used for longest. Answers how much more may be stored. */
async function makeRoom(directory: string, expected: number, maxBytes: number): Promise<number> {
  const root = join(directory, '..')
  const folders = await Promise.all(
    (await readdir(root)).map(async (name) => {
      const path = join(root, name)
      return { path, bytes: await bytesIn(path), usedAt: (await stat(path)).mtimeMs }
    }),
  )
  let used = folders.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const { path, bytes } of folders.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (used + expected <= maxBytes || path === directory) continue
    await rm(path, { recursive: true, force: true })
    used -= bytes
  }
  return maxBytes - used
}

async function bytesIn(folder: string): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map((name) => sizeOf(join(folder, name))))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
