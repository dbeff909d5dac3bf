import { stat } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import { type RequestContext, serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import { createValidityCheck } from '../readers/engine/polygon-validity.ts'
import { openReader } from '../readers/open-reader.ts'
import { type GdalTask, type LoadResult, type PassOptions, type Reader, ReadFault } from '../readers/reader.ts'
import { tileArchiveKind } from '../readers/sqlite/tile-archive.ts'
import {
  type ConversionUpdate,
  type FileFault,
  type FileSummary,
  fileFaultOf,
  type ReaderAnswer,
  type ReaderNotice,
  type ReaderRequest,
  type RowsSent,
  readFaultOf,
  rowsDescriptor,
} from './reader-messages.ts'
import { sampleRows } from './sample-rows.ts'

// The reader process: reads one file for the server and exits. It has no secrets and no database access, so that a
// malicious file can do no harm.

const progressMs = 200

const rows = new Socket({ fd: rowsDescriptor, readable: false, writable: true })
let reader: Reader | undefined
let fileBytes = 0

function passOf({ signal, notify }: RequestContext): PassOptions {
  let toldAt = 0
  return {
    signal,
    onProgress(fraction, rows) {
      const now = performance.now()
      if (now - toldAt < progressMs) return
      toldAt = now
      notify({ kind: 'progress', fraction, rows } satisfies ReaderNotice)
    },
  }
}

const write = (bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    rows.write(bytes, (error) => (error ? reject(error) : resolve()))
  })

type Slot = { bytes: Buffer; written: Promise<void> }
const slots: [Slot, Slot] = [emptySlot(), emptySlot()]

function emptySlot(): Slot {
  return { bytes: Buffer.alloc(0), written: Promise.resolve() }
}

/** The chunk's memory belongs to the reader, which reuses it for the next rows once these are written. */
async function send(chunk: Uint8Array): Promise<void> {
  const slot = slots[0]
  slots.reverse()
  await slot.written
  const length = 4 + chunk.length
  if (slot.bytes.length < length) slot.bytes = Buffer.allocUnsafeSlow(length)
  slot.bytes.writeUInt32BE(chunk.length)
  slot.bytes.set(chunk, 4)
  slot.written = write(slot.bytes.subarray(0, length))
  slot.written.catch(() => undefined)
}

/** Waits until everything is written, then sends the end mark. */
async function sendEnd(): Promise<void> {
  await send(new Uint8Array(0))
  for (const { written } of slots) await written
}

let gdalPid: number | undefined
const tickMs = 1_000

/**
 * Asks the server to convert, because it may have a GDAL process ready. The conversion has its own timeout, so it
 * counts as progress.
 */
async function convertByGdal(
  { notify, onMessage }: RequestContext,
  { signal: _, onAdvance, onStarted: __, ...task }: GdalTask,
): Promise<void> {
  const ticking = setInterval(() => onAdvance?.(1), tickMs)
  const { fault, error } = await new Promise<Extract<ConversionUpdate, { kind: 'converted' }>>((resolve) => {
    onMessage((message) => {
      const update = message as ConversionUpdate
      if (update.kind === 'converted') resolve(update)
      else gdalPid = update.pid
    })
    notify({ kind: 'convert', task } satisfies ReaderNotice)
  }).finally(() => clearInterval(ticking))
  gdalPid = undefined
  if (fault) throw readFaultOf(fault)
  if (error !== undefined) throw new Error(error)
}

async function open(
  { file, options }: Extract<ReaderRequest, { kind: 'open' }>,
  context: RequestContext,
): Promise<FileSummary> {
  const archive = await tileArchiveKind(file)
  if (archive) return { archive }
  fileBytes = (await stat(file)).size
  const pass = passOf(context)
  let advanced = 0
  const onAdvance = (bytes: number): void => {
    advanced += bytes
    pass.onProgress?.(advanced)
  }
  const { signal } = context
  reader = await openReader(file, {
    ...options,
    signal,
    onAdvance,
    convertByGdal: (task) => convertByGdal(context, task),
  })
  // Write the compile cache now that all readers are loaded: this process is killed and never reaches the exit that
  // would do it.
  flushCompileCache()
  return { format: reader.format, layers: await reader.layers(), bytes: reader.unpackedBytes ?? fileBytes }
}

async function answer(request: ReaderRequest, context: RequestContext) {
  if (request.kind === 'open') return open(request, context)
  if (!reader) throw new Error('No file is open')
  const pass = passOf(context)
  if (request.kind === 'scan') return reader.scan(request.layer, pass)
  if (request.kind === 'guess') return reader.guess(request.layer, pass)
  if (request.kind === 'sample') return sampleRows(reader, request, pass)
  return sendRows(reader, request, pass)
}

/**
 * Decompression-bomb limit: a few bytes can expand to endless rows (Parquet runs, shared strings of a workbook,
 * TopoJSON arcs). Archives are limited earlier, by their unpacked size.
 */
const expansion = { always: 256 * 1024 ** 2, ratio: 1_000, most: 32 * 1024 ** 3 }

type RowsRequest = Extract<ReaderRequest, { kind: 'encode' | 'load' }>

async function* rowsFor(
  { encode, load }: Reader,
  { kind, layer, columns }: RowsRequest,
  pass: PassOptions,
): AsyncGenerator<Buffer, LoadResult | undefined> {
  if (kind === 'load') return yield* load(layer, columns, pass)
  yield* encode(layer, columns, pass)
  return undefined
}

async function sendRows(from: Reader, request: RowsRequest, pass: PassOptions): Promise<RowsSent> {
  const check = request.hasAreas ? createValidityCheck(request.columns) : undefined
  const chunks = rowsFor(from, request, pass)
  const most = Math.min(expansion.most, Math.max(expansion.always, fileBytes * expansion.ratio))
  for (let sent = 0; ; ) {
    const { value, done: isOver } = await chunks.next()
    if (isOver) {
      await sendEnd()
      return { loaded: value, doubtful: check?.doubtful() }
    }
    sent += value.length
    if (sent > most) {
      const times = `${expansion.ratio} times the size of the file and more than ${most} bytes`
      throw new ReadFault('expansion_limit', `The rows of the file take more than ${times}, the limit.`)
    }
    check?.look(value)
    if (value.length > 0) await send(value)
  }
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')

const storageFull: FileFault = {
  code: 'storage_full',
  message: 'The server has no disk space left to unpack the file. Try again later.',
  position: {},
}

function faultOf(error: unknown): FileFault | undefined {
  if (error instanceof ReadFault) return fileFaultOf(error)
  return isDiskFull(error) ? storageFull : undefined
}

serveRequests(async (request: ReaderRequest, context): Promise<ReaderAnswer> => {
  try {
    return { value: await answer(request, context) }
  } catch (error) {
    const fault = faultOf(error)
    if (!fault) throw error
    return { fault }
  }
})

// The server is gone: end, with all child processes.
process.on('disconnect', () => {
  try {
    if (gdalPid !== undefined) process.kill(gdalPid, 'SIGKILL')
  } finally {
    process.kill(-process.pid, 'SIGKILL')
  }
})
