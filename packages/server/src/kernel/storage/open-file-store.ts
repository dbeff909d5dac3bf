// Opens the file storage that the settings name.
import { join } from 'node:path'
import { StartError } from '../errors.ts'
import type { Config } from '../settings/config.ts'
import { createDirectoryStore } from './directory-store.ts'
import type { FileStore } from './file-store.ts'
import type { S3Store, S3StoreSettings } from './s3/s3-store.ts'

type StorageConfig = Pick<
  Config,
  | 'DATA_DIR'
  | 'S3_BUCKET'
  | 'S3_PREFIX'
  | 'S3_ENDPOINT'
  | 'S3_REGION'
  | 'S3_ACCESS_KEY_ID'
  | 'S3_SECRET_ACCESS_KEY'
  | 'S3_SESSION_TOKEN'
  | 'S3_FORCE_PATH_STYLE'
  | 'S3_TIMEOUT_MS'
  | 'S3_CACHE_BYTES'
  | 'AWS_REGION'
  | 'AWS_ACCESS_KEY_ID'
  | 'AWS_SECRET_ACCESS_KEY'
  | 'AWS_SESSION_TOKEN'
>

/** Without `S3_BUCKET`: DATA_DIR. A bucket that does not answer is reported, but the server starts. */
export async function openFileStore(config: StorageConfig, onError: (error: unknown) => void): Promise<FileStore> {
  const bucket = await openBucket(config)
  if (!bucket) return createDirectoryStore(config.DATA_DIR)
  await bucket.probe().catch((cause) => {
    onError(new Error(`The bucket ${config.S3_BUCKET} cannot be used just now`, { cause }))
  })
  return bucket
}

/** Undefined without `S3_BUCKET`. Whether it answers is not tried. */
export async function openBucket(config: StorageConfig): Promise<S3Store | undefined> {
  const settings = s3SettingsOf(config)
  if (!settings) return undefined
  const { createS3Store } = await import('./s3/s3-store.ts')
  return createS3Store(settings)
}

function s3SettingsOf(config: StorageConfig): S3StoreSettings | undefined {
  const { S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_PREFIX: prefix } = config
  if (bucket === undefined) {
    if (endpoint !== undefined || prefix !== '') throw new StartError('S3_ENDPOINT and S3_PREFIX need S3_BUCKET.')
    return undefined
  }
  return {
    bucket,
    endpoint,
    credentials: credentialsOf(config),
    prefix: prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`,
    region: config.S3_REGION ?? config.AWS_REGION,
    forcePathStyle: config.S3_FORCE_PATH_STYLE === '' ? endpoint !== undefined : config.S3_FORCE_PATH_STYLE === 'true',
    timeoutMs: config.S3_TIMEOUT_MS,
    cache: { directory: join(config.DATA_DIR, 'cache', 'files'), maxBytes: config.S3_CACHE_BYTES },
  }
}

/** Those of S3, otherwise those of AWS; without either the SDK looks for the role of the machine. */
function credentialsOf(config: StorageConfig): S3StoreSettings['credentials'] {
  const hasS3Keys = config.S3_ACCESS_KEY_ID !== undefined
  const accessKeyId = hasS3Keys ? config.S3_ACCESS_KEY_ID : config.AWS_ACCESS_KEY_ID
  const secretAccessKey = hasS3Keys ? config.S3_SECRET_ACCESS_KEY : config.AWS_SECRET_ACCESS_KEY
  const sessionToken = hasS3Keys ? config.S3_SESSION_TOKEN : config.AWS_SESSION_TOKEN
  if (accessKeyId === undefined) return undefined
  if (secretAccessKey === undefined) throw new StartError('S3_ACCESS_KEY_ID needs S3_SECRET_ACCESS_KEY.')
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}
