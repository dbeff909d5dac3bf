import { randomUUID } from 'node:crypto'
import { open, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf } from '../../../kernel/db/database-error.ts'
import type { Config } from '../../../kernel/settings/config.ts'
import { openBucket } from '../../../kernel/storage/open-file-store.ts'
import { type Check, type Finding, fault, megabytes, messageOf, ok, warning } from '../check.ts'

const slowSyncMs = 250

/** Where files are kept. */
export const storageChecks: readonly Check[] = [
  {
    name: 'storage',
    async run({ config: { DATA_DIR, DATA_MIN_FREE_MB } }) {
      const directory = await nearest(resolve(DATA_DIR))
      return [await checkRoom(directory, DATA_MIN_FREE_MB), await checkWriting(directory, DATA_DIR)]
    },
  },
  { name: 'bucket', applies: ({ S3_BUCKET }) => S3_BUCKET !== undefined, run: ({ config }) => checkBucket(config) },
]

/** Lists a file of it. What is not allowed besides, such as writing, it cannot tell without changing something. */
async function checkBucket(config: Config): Promise<Finding> {
  const { S3_BUCKET: name, S3_ENDPOINT: endpoint = 'AWS' } = config
  const bucket = await openBucket(config)
  try {
    await bucket?.probe()
    return ok(`The bucket ${name} at ${endpoint} can be listed.`)
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    const mend = 'Check S3_ENDPOINT, S3_BUCKET and S3_REGION, and that the key may list, read, write and delete there.'
    return fault(`The bucket ${name} at ${endpoint} cannot be listed: ${messageOf(cause)}`, mend)
  } finally {
    await bucket?.close()
  }
}

/** The first start makes what is missing. */
async function nearest(path: string): Promise<string> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() || path === dirname(path) ? path : nearest(dirname(path))
}

async function checkRoom(directory: string, minFreeMb: number): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory)
  const free = bavail * bsize
  const text = `${megabytes(free)} are free in ${directory}.`
  if (free < minFreeMb * 1024 * 1024)
    return fault(`${text} That is less than DATA_MIN_FREE_MB (${minFreeMb}).`, 'Make room.')
  return free < 1024 ** 3 ? warning(text, 'Make room for uploads and exports.') : ok(text)
}

/** Writes a small file and waits until it is on the disk. */
async function checkWriting(directory: string, dataDirectory: string): Promise<Finding> {
  const path = join(directory, `.doctor-${randomUUID()}`)
  try {
    const begun = performance.now()
    const file = await open(path, 'wx', 0o600)
    try {
      await file.write(Buffer.alloc(65_536))
      await file.sync()
    } finally {
      await file.close()
    }
    const ms = Math.round(performance.now() - begun)
    if (ms > slowSyncMs)
      return warning(
        `Writing to ${directory} is slow: 64 KiB took ${ms} ms with fsync.`,
        'Put DATA_DIR on a faster disk.',
      )
    return ok(`${directory} can be written; 64 KiB with fsync took ${ms} ms.`)
  } catch (error) {
    const isFull = ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
    const mend = isFull ? 'Make room.' : `Give the directory to the user of the server: chown -R USER ${dataDirectory}`
    return fault(`${directory} cannot be written: ${messageOf(error)}`, mend)
  } finally {
    await rm(path, { force: true }).catch(() => {})
  }
}
