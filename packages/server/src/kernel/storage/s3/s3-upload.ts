// Writes a local file as an object: at once, or in parts.
import { type FileHandle, open } from 'node:fs/promises'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { abortUpload } from './s3-objects.ts'
import type { S3Requests } from './s3-requests.ts'

/** A part is held in memory while it is sent, so that it can be sent again. S3 takes 5 MiB or more, and 10 000 parts. */
const partBytes = 8 * 1024 * 1024
const maxParts = 10_000
const partsAtOnce = 2

export async function uploadFile(requests: S3Requests, key: string, path: string): Promise<void> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    if (size <= partBytes) await putWhole(requests, key, await readPart(file, 0, size))
    else await putParts(requests, key, file, size)
  } finally {
    await file.close()
  }
}

async function putWhole({ client, bucket, transfer }: S3Requests, key: string, bytes: Buffer): Promise<void> {
  const command = new PutObjectCommand({ Bucket: bucket, Key: key, Body: bytes })
  await transfer(bytes.length, (options) => client.send(command, options))
}

/**
 * Written here, because `Upload` of @aws-sdk/lib-storage leaves the parts behind when the last request fails, and goes on
 * sending after an abort. What is left where even the abort fails, the janitor removes.
 */
async function putParts(requests: S3Requests, key: string, file: FileHandle, size: number): Promise<void> {
  const { client, bucket, ask, transfer } = requests
  const target = { Bucket: bucket, Key: key }
  const { UploadId = '' } = await ask((options) => client.send(new CreateMultipartUploadCommand(target), options))
  try {
    const Parts = await sendParts(requests, { ...target, UploadId }, file, size)
    const complete = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } })
    await transfer(size, (options) => client.send(complete, options))
  } catch (error) {
    await abortUpload(requests, key, UploadId).catch(() => undefined)
    throw error
  }
}

type Target = { readonly Bucket: string; readonly Key: string; readonly UploadId: string }
type Part = { ETag: string | undefined; PartNumber: number }

/** Several at once; the first failure stops the others. */
async function sendParts(
  { client, transfer }: S3Requests,
  target: Target,
  file: FileHandle,
  size: number,
): Promise<Part[]> {
  const length = Math.max(partBytes, Math.ceil(size / maxParts))
  const count = Math.ceil(size / length)
  const parts: Part[] = []
  const stop = new AbortController()
  async function send(PartNumber: number): Promise<void> {
    const offset = (PartNumber - 1) * length
    const Body = await readPart(file, offset, Math.min(length, size - offset))
    const command = new UploadPartCommand({ ...target, PartNumber, Body })
    const { ETag } = await transfer(Body.length, (options) => client.send(command, options), stop.signal)
    parts[PartNumber - 1] = { ETag, PartNumber }
  }
  let next = 1
  async function work(): Promise<void> {
    while (next <= count && !stop.signal.aborted) await send(next++)
  }
  const workers = Array.from({ length: partsAtOnce }, () => work().catch((error) => stop.abort(error)))
  await Promise.all(workers)
  stop.signal.throwIfAborted()
  return parts
}

async function readPart(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, offset + done)
    if (bytesRead === 0) throw new Error('The file has become shorter while it was stored')
    done += bytesRead
  }
  return bytes
}
