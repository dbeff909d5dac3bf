// Streams a multipart upload to disk, with a minimum transfer rate.
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import { type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { ApiError, invalid } from '../../../kernel/errors.ts'
import { free, ownsBuffer } from '../reader-process/memory.ts'

export type ReceivedForm = {
  readonly fields: Readonly<Record<string, string>>
  readonly file: { readonly name: string; readonly size: number }
}

const fieldBytes = 64 * 1024
const fieldCount = 20
/** The most bytes of the form besides the file. */
export const formBytes = fieldCount * fieldBytes
/** The slowest allowed client. */
export type Pace = {
  /** The minimum rate, averaged over each window; 0 for none. */
  readonly bytesPerSecond: number
  readonly windowMs?: number
  readonly deadlineMs: number
}

const paceWindowMs = 15_000
/** How long the rest of a refused body is read, so that the client can read the refusal. */
const lingerMs = 10_000

export type ReceiveOptions = {
  readonly maxBytes: number
  /** The error for a larger file. */
  readonly tooLarge: ApiError
  readonly pace: Pace
  onBytes?(count: number): void
  onWhole(): void
}

/**
 * Writes the form's file to `path` while it arrives; removes it on any error. `onWhole` is called after its last byte.
 */
export async function receiveForm(
  request: IncomingMessage,
  path: string,
  { maxBytes, tooLarge, pace, onBytes, onWhole }: ReceiveOptions,
): Promise<ReceivedForm> {
  const form = readForm(request)
  /** Buffers that only this function uses, so they can be freed early. */
  const own = new WeakSet<ArrayBufferLike>()
  const fields: Record<string, string> = {}
  let file: Promise<ReceivedForm['file']> | undefined
  let incoming: Readable | undefined
  await mkdir(dirname(path), { recursive: true })
  try {
    await new Promise<void>((resolve, reject) => {
      form.on('field', (name, value, isNameCut, isValueCut) => {
        if (isNameCut || isValueCut) reject(invalid(`body/${name}`, `must not be longer than ${fieldBytes} bytes`))
        else if (Object.hasOwn(fields, name)) reject(invalid(`body/${name}`, 'must be given once'))
        else fields[name] = value
      })
      const besides = countBesides(reject)
      form.on('file', (field, stream, fileName) => {
        besides.pause()
        stream.once('end', besides.resume)
        if (field !== 'file') return reject(invalid(`body/${field}`, 'must be text: send the file in the field "file"'))
        if (file) return reject(invalid('body/file', 'must be one file: put several into a zip archive'))
        incoming = stream.once('end', onWhole)
        file = store(stream, path, maxBytes, own, tooLarge).then((size) => ({ name: fileName ?? '', size }))
        file.catch(reject)
      })
      for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
        form.on(limit, () => reject(invalid('body', 'must not have more parts than the form has fields')))
      }
      form.on('error', (error) => reject(malformed(error)))
      form.on('finish', resolve)
      const count = (bytes: number): void => {
        onBytes?.(bytes)
        besides.add(bytes)
      }
      feed(request, form, own, { pace, onBytes: count, reject })
    })
    if (!file) throw invalid('body/file', 'is required')
    return { fields, file: await file }
  } catch (error) {
    request.unpipe(form)
    incoming?.destroy()
    await file?.catch(() => undefined)
    await rm(dirname(path), { recursive: true, force: true })
    throw error
  }
}

/** The largest piece that comes at once: the one in which a file begins or ends counts as a whole. */
const pieceBytes = 64 * 1024

/** Refuses what is not the file while it arrives: the parser reports a field when it has ended, however long it is. */
function countBesides(reject: (error: unknown) => void) {
  const most = formBytes + 2 * pieceBytes
  let bytes = 0
  let isInFile = false
  return {
    add(count: number): void {
      if (isInFile) return
      bytes += count
      if (bytes > most) reject(invalid('body', `must not have more than ${formBytes} bytes besides the file`))
    },
    pause(): void {
      isInFile = true
    },
    resume(): void {
      isInFile = false
    },
  }
}

/** Discards the rest of a refused body, so that the connection can be reused. */
export function dismissBody(request: IncomingMessage): void {
  request.resume()
  setTimeout(() => request.complete || request.destroy(), lingerMs).unref()
}

function readForm(request: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fieldSize: fieldBytes, fieldNameSize: 200, fields: fieldCount, files: 2, headerPairs: 20 },
    })
  } catch (error) {
    throw malformed(error)
  }
}

const malformed = (cause: unknown): ApiError =>
  new ApiError('invalid_request', 'The body is not a valid form (multipart/form-data).', { cause })

function feed(
  request: IncomingMessage,
  form: BusboyInstance,
  own: WeakSet<ArrayBufferLike>,
  { pace, onBytes, reject }: Pick<ReceiveOptions, 'pace' | 'onBytes'> & { reject(error: unknown): void },
): void {
  const { bytesPerSecond, windowMs = paceWindowMs, deadlineMs } = pace
  let received = 0
  const late = (detail: string): void => {
    stop()
    reject(new ApiError('request_timeout', detail))
  }
  const deadline = setTimeout(() => late(`The file did not arrive within ${deadlineMs / 1000} s.`), deadlineMs).unref()
  const window = setInterval(() => {
    // Less than one byte per window is too slow in any case.
    if (received < Math.max(1, (bytesPerSecond * windowMs) / 1000)) {
      late(`The file arrived at fewer than ${bytesPerSecond} bytes per second, the minimum.`)
    }
    received = 0
  }, windowMs).unref()
  request.on('data', (chunk: Buffer) => {
    received += chunk.length
    onBytes?.(chunk.length)
    if (ownsBuffer(chunk)) own.add(chunk.buffer)
  })
  const stop = (): void => {
    clearTimeout(deadline)
    clearInterval(window)
  }
  request.on('error', (error) => reject(malformed(error)))
  request.on('close', () => {
    stop()
    if (!request.complete) reject(malformed(new Error('The client closed the connection')))
  })
  request.once('end', stop)
  request.pipe(form)
}

/** Counts the bytes while writing, and syncs the file so that it survives a power cut. */
async function store(
  stream: Readable,
  path: string,
  maxBytes: number,
  own: WeakSet<ArrayBufferLike>,
  tooLarge: ApiError,
): Promise<number> {
  let handle: FileHandle | undefined
  let size = 0
  let last: ArrayBufferLike | undefined
  async function write(pieces: readonly Buffer[]): Promise<void> {
    size += pieces.reduce((length, piece) => length + piece.length, 0)
    if (size > maxBytes) throw tooLarge
    await handle?.writeFile(pieces)
    // Chunks arrive in order: when one has a new buffer, the previous buffer has been written.
    for (const { buffer } of pieces) {
      if (last && last !== buffer && own.has(last)) free(last)
      last = buffer
    }
  }
  async function begin(): Promise<void> {
    handle = await open(path, 'wx')
  }
  const file = new Writable({
    highWaterMark: 1024 * 1024,
    construct: (done) => void begin().then(() => done(), done),
    writev: (chunks, done) => void write(chunks.map(({ chunk }) => chunk)).then(() => done(), done),
    final: (done) => void handle?.sync().then(() => done(), done),
    destroy: (error, done) => void Promise.resolve(handle?.close()).then(() => done(error), done),
  })
  await pipeline(stream, file)
  return size
}
