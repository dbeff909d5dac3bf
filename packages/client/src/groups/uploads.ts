import { ApiError } from '../api-error.ts'
import { type Params, readable } from '../crud.ts'
import { type Call, path } from '../request.ts'
import { delayMs, sleep } from '../retry.ts'
import type { Send } from '../send.ts'
import type { Upload, UploadForm, UploadPreview } from '../types.ts'
import { asFile, countedForm, formDataOf, type OnProgress, type UploadFile } from '../upload-body.ts'
import { xhrFetch } from '../xhr-fetch.ts'

export type UploadOptions = Omit<UploadForm, 'file'> & {
  /** Required unless the file is a File, which has a name. */
  fileName?: string
}

/** An upload that ended without a dataset. */
export class UploadError extends ApiError {
  override readonly name = 'UploadError'
  readonly upload: Upload

  constructor(upload: Upload) {
    const { code = `upload_${upload.status}`, message = `The upload was ${upload.status}.` } = upload.error
    super({ status: unprocessable, code, message })
    this.upload = upload
  }
}

const unprocessable = 422
const notModified = 304
const root = '/api/v1/uploads'
/** Long polling: how long the server holds a request. */
const waitSeconds = 25
/** A response without news that comes sooner was not held, perhaps because a proxy removed the header. */
const heldMs = 500

/** Uploads files, which become datasets and maps. `isOwnFetch`: the caller passed a fetch, so no other transport is used. */
export function uploadsGroup(send: Send, isOwnFetch: boolean) {
  const group = {
    ...readable<Upload>(send, root),
    /** Cancels a running upload, or deletes the record of a finished one. Not retried, because a retry could do the other. */
    delete: (id: string, params?: Params) =>
      send<void>('DELETE', path`/api/v1/uploads/${id}`, params, { repeatability: 'once' }),
    /** Sends a file. Resolves when the server has received it; `wait` waits for the processing. */
    async upload(
      file: UploadFile,
      options: UploadOptions = {},
      { onProgress, ...params }: Params<{ onProgress?: OnProgress | undefined }> = {},
    ): Promise<Upload> {
      const form = formOf(file, options)
      const total = form.file instanceof Blob ? form.file.size : null
      onProgress?.({ loaded: 0, total })
      const upload = await send<Upload>('POST', () => root, params, bodyOf(form, onProgress, isOwnFetch))
      onProgress?.({ loaded: upload.size, total })
      return upload
    },
    /** Tells what an upload of the file would make (`POST /uploads?dryRun=true`), and makes nothing. */
    preview: (file: UploadFile, options: UploadOptions = {}, params: Params = {}): Promise<UploadPreview> =>
      send<UploadPreview>(
        'POST',
        () => root,
        { ...params, dryRun: true } as Params<{ dryRun: boolean }>,
        bodyOf(formOf(file, options), undefined, isOwnFetch),
      ),
    /**
     * The record as soon as it differs from the one with this ETag; null if nothing has changed for `seconds`. Without an ETag
     * at once. `onResponse` gets the ETag of the next request.
     */
    async changed(
      id: string,
      { etag, seconds = waitSeconds, ...params }: Params<{ etag?: string | undefined; seconds?: number }> = {},
    ): Promise<Upload | null> {
      const headers = { prefer: `wait=${seconds}`, ...(etag !== undefined && { 'if-none-match': etag }) }
      const options = etag === undefined ? {} : { headers, waitMs: seconds * 1_000 }
      return await send<Upload>('GET', path`/api/v1/uploads/${id}`, params, options).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === notModified) return null
        throw error
      })
    },
    /** Resolves when the upload is completed; rejects with an UploadError if it failed or was cancelled. */
    async wait(
      id: string,
      { onProgress, ...params }: Params<{ onProgress?: ((upload: Upload) => void) | undefined }> = {},
    ): Promise<Upload> {
      let etag: string | undefined
      const onResponse = (response: Response): void => {
        etag = response.headers.get('etag') ?? undefined
        params.onResponse?.(response)
      }
      const options = { headers: { prefer: `wait=${waitSeconds}` }, waitMs: waitSeconds * 1_000 }
      // Who shows no progress is not woken by it.
      const untilStatus = () => send<Upload>('GET', path`/api/v1/uploads/${id}`, { ...params, onResponse }, options)
      const untilProgress = async (show: (upload: Upload) => void) => {
        const upload = await group.changed(id, { ...params, etag, onResponse })
        if (upload) show(upload)
        return upload
      }
      for (let attempt = 0; ; attempt++) {
        const before = etag
        const askedAt = performance.now()
        const upload = await (onProgress ? untilProgress(onProgress) : untilStatus())
        if (upload && hasEnded(upload)) return upload
        const isNews = etag !== before || performance.now() - askedAt >= heldMs
        if (!isNews) await sleep(delayMs(attempt, undefined) ?? 0, params.signal)
      }
    },
  }
  return {
    ...group,
    /** `upload` with the file among its fields, as other groups create their records. */
    create: ({ file, ...options }: UploadOptions & { file: UploadFile }, params?: Params) =>
      group.upload(file, options, params),
  }
}

/** Whether it is completed; throws if it ended otherwise. */
function hasEnded(upload: Upload): boolean {
  if (upload.status === 'failed' || upload.status === 'cancelled') throw new UploadError(upload)
  return upload.status === 'completed'
}

function formOf(file: UploadFile, { fileName, ...fields }: UploadOptions): Form {
  const name = fileName ?? (file as Partial<File>).name
  if (!name) throw new TypeError('options.fileName: required, because only a File has a name of its own.')
  return { fields, file: asFile(file), fileName: name }
}

type Form = { fields: object; file: ReturnType<typeof asFile>; fileName: string }
type Body = Pick<Call, 'body' | 'headers' | 'fetch' | 'repeatability'>

/** Browsers report upload progress only for XMLHttpRequest and cannot send streams; elsewhere a counted stream is sent. */
function bodyOf({ fields, file, fileName }: Form, onProgress: OnProgress | undefined, isOwnFetch: boolean): Body {
  const form = { fields: fields as Record<string, unknown>, fileName }
  if (file instanceof Blob) {
    const xhr = onProgress && xhrFetch(file.size, onProgress)
    if (xhr || !onProgress) return { body: () => formDataOf({ ...form, file }), fetch: isOwnFetch ? undefined : xhr }
  }
  const { headers, body } = countedForm({ ...form, file }, onProgress ?? (() => {}))
  return { headers, body, repeatability: file instanceof Blob ? 'once' : 'never' }
}
