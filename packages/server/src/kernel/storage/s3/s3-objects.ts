// The objects of a bucket: write, read, list and delete.
import { createWriteStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3'
import type { FileFacts, ListedFile } from '../file-store.ts'
import { storageUnavailable } from '../storage-unavailable.ts'
import { ObjectFault, type S3Requests } from './s3-requests.ts'

export type StoredObject = FileFacts & { readonly etag: string }

type Range = { readonly offset: number; readonly length: number }

/** Undefined if there is no such object. */
export async function headObject({ client, bucket, ask }: S3Requests, key: string): Promise<StoredObject | undefined> {
  const head = await ask((options) => client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options)).catch(
    undefinedIfMissing,
  )
  if (!head) return undefined
  const { ContentLength: size = 0, ETag: etag = '', LastModified } = head
  return { etag, size, version: versionOf(etag, size), modifiedAt: LastModified?.getTime() ?? 0 }
}

const versionOf = (etag: string, size: number | string): string => `${etag.replaceAll('"', '')} ${size}`

/** Bytes of an object; with `etag` only of that version, otherwise an `ObjectFault` 412. */
export async function readObject(
  { client, bucket, ask }: S3Requests,
  key: string,
  { offset, length }: Range,
  etag?: string,
  signal?: AbortSignal,
): Promise<{ bytes: Buffer; etag: string; version: string }> {
  const wanted = { Bucket: bucket, Key: key, Range: `bytes=${offset}-${offset + length - 1}` }
  return ask(async (options) => {
    const command = new GetObjectCommand({ ...wanted, ...(etag && { IfMatch: etag }) })
    const { Body, ETag = '', ContentRange = '' } = await client.send(command, options)
    const body = addAbortSignal(options.abortSignal, Body as Readable)
    const [, start, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(ContentRange) ?? []
    if (size === undefined || Number(start) !== offset) {
      body.destroy()
      throw new Error('The storage answered with other bytes than were asked for')
    }
    return { bytes: await collect(body, length), etag: ETag, version: versionOf(ETag, size) }
  }, signal)
}

async function collect(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Error('The storage answered with more bytes than were asked for')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

/** Writes an object of a known version to a new local file. */
export async function downloadObject(
  { client, bucket, transfer }: S3Requests,
  key: string,
  { etag, size }: StoredObject,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  await transfer(
    size,
    async (options) => {
      const command = new GetObjectCommand({ Bucket: bucket, Key: key, IfMatch: etag })
      const { Body } = await client.send(command, options)
      const file = createWriteStream(path, { flags: 'wx' })
      await pipeline(Body as Readable, file, { signal: options.abortSignal })
      if (file.bytesWritten !== size) throw new Error(`The storage sent ${file.bytesWritten} of ${size} bytes`)
    },
    signal,
  )
}

export async function* listObjects({ client, bucket, ask }: S3Requests, prefix: string): AsyncGenerator<ListedFile> {
  let token: string | undefined
  do {
    const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token })
    const page = await ask((options) => client.send(command, options))
    for (const { Key = '', Size = 0, LastModified } of page.Contents ?? [])
      yield { key: Key, size: Size, modifiedAt: LastModified?.getTime() ?? 0 }
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}

/** Whether the bucket can be used at all. */
export async function probeBucket({ client, bucket, ask }: S3Requests, prefix: string): Promise<void> {
  await ask((options) =>
    client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), options),
  ).catch((error) => {
    throw error instanceof ObjectFault ? storageUnavailable(error.cause) : error
  })
}

export async function deleteObject({ client, bucket, ask }: S3Requests, key: string): Promise<void> {
  await ask((options) => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), options)).catch(
    undefinedIfMissing,
  )
}

/** Gives up multipart uploads that were begun before a time. A storage that cannot list them removes them by itself. */
export async function abortUploads(requests: S3Requests, prefix: string, before: number): Promise<void> {
  const { client, bucket, ask } = requests
  let marker: { KeyMarker: string; UploadIdMarker: string } | undefined
  do {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...marker })
    const page = await ask((options) => client.send(command, options)).catch((error) => {
      if (error instanceof ObjectFault) return undefined
      throw error
    })
    for (const { Key, UploadId, Initiated } of page?.Uploads ?? [])
      if (Key && UploadId && (Initiated?.getTime() ?? 0) < before) await abortUpload(requests, Key, UploadId)
    marker = page?.IsTruncated
      ? { KeyMarker: page.NextKeyMarker ?? '', UploadIdMarker: page.NextUploadIdMarker ?? '' }
      : undefined
  } while (marker)
}

export async function abortUpload({ client, bucket, ask }: S3Requests, key: string, id: string): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })
  await ask((options) => client.send(command, options)).catch(undefinedIfMissing)
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof ObjectFault && error.status === 404)) throw error
}
