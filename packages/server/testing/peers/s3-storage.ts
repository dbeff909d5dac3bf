import { randomUUID } from 'node:crypto'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { faultyProxy } from './faulty-proxy.ts'
import { s3Bucket, testKey } from './s3-bucket.ts'

/**
 * S3-compatible storage behind a proxy whose faults a test commands. `TEST_S3_ENDPOINT`, `TEST_S3_KEY` and
 * `TEST_S3_SECRET` take another server than that of `s3-bucket.ts`, to hold it against one that others have written.
 */
export async function s3Storage() {
  const { TEST_S3_ENDPOINT: given, TEST_S3_KEY: id = testKey.id, TEST_S3_SECRET: secret = testKey.secret } = process.env
  const Bucket = given ? `test-${randomUUID()}` : 'graticule'
  const own = given ? undefined : await s3Bucket({ bucket: Bucket })
  const endpoint = given ?? own?.endpoint ?? ''
  const proxy = await faultyProxy(endpoint)
  const credentials = { accessKeyId: id, secretAccessKey: secret }
  const checksums = {
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  } as const
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials, ...checksums })
  if (given) await client.send(new CreateBucketCommand({ Bucket }))
  const prefix = 'some/where/'
  return {
    proxy,
    bucket: Bucket,
    prefix,
    credentials,
    /** The settings of a server that uses it. */
    settings: {
      S3_BUCKET: Bucket,
      S3_PREFIX: prefix,
      S3_ENDPOINT: proxy.url,
      S3_REGION: 'us-east-1',
      S3_ACCESS_KEY_ID: id,
      S3_SECRET_ACCESS_KEY: secret,
    },
    /** The keys without the prefix. */
    async keys(): Promise<string[]> {
      const found: string[] = []
      let token: string | undefined
      do {
        const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: prefix, ContinuationToken: token }))
        found.push(...(page.Contents ?? []).map(({ Key = '' }) => Key.slice(prefix.length)))
        token = page.NextContinuationToken
      } while (token !== undefined)
      return found
    },
    async unfinishedUploads(): Promise<number> {
      return (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.length ?? 0
    },
    put: (key: string, bytes: string | Buffer) =>
      client.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body: Buffer.from(bytes) })),
    beginUpload: (key: string) => client.send(new CreateMultipartUploadCommand({ Bucket, Key: prefix + key })),
    async close(): Promise<void> {
      client.destroy()
      await proxy.close()
      await own?.close()
    },
  }
}
