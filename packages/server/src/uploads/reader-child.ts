import { stat } from 'node:fs/promises'
import { flushCompileCache } from 'node:module'
import { Socket } from 'node:net'
import type { Converted, Converting, Opened, ReaderReply, ReaderRequest, RowsSent } from './reader-messages.ts'
import { rowsDescriptor } from './reader-messages.ts'
import { openReader } from './readers/open-reader.ts'
import { type GdalTask, type Loaded, type PassOptions, type Reader, ReadFault } from './readers/reader.ts'
import { createAreaCheck } from './readers/sure-areas.ts'
import { tileArchiveKind } from './readers/tile-archive.ts'

// Reads one file for the server and ends with it. It knows no secret and no database: whatever is in the file stays here.

const progressMs = 200

const rows = new Socket({ fd: rowsDescriptor, readable: false, writable: true })
const { signal } = new AbortController()
let reader: Reader | undefined
let toldAt = 0
let fileBytes = 0

const reply = (message: ReaderReply): void => void process.send?.(message)

const pass: PassOptions = {
  signal,
  onProgress(fraction) {
    const now = performance.now()
    if (now - toldAt < progressMs) return
    toldAt = now
    reply({ kind: 'progress', fraction })
  },
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

/** The memory of a chunk is the reader's, who makes the next rows in it while these are being written. */
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

/** Until all that was sent is written, and that there is no more. */
async function sendEnd(): Promise<void> {
  await send(new Uint8Array(0))
  for (const { written } of slots) await written
}

let gdalPid: number | undefined
let onConverted: ((answer: Converted) => void) | undefined
const tickMs = 1_000

/** Asks the server, which may have GDAL ready. It has its own limit of time, which stands for progress. */
async function convertByGdal({ signal: _, onAdvance, onStarted: __, ...task }: GdalTask): Promise<void> {
  const ticking = setInterval(() => onAdvance?.(1), tickMs)
  const { fault, error } = await new Promise<Converted>((resolve) => {
    onConverted = resolve
    reply({ kind: 'convert', task })
  }).finally(() => clearInterval(ticking))
  gdalPid = undefined
  if (fault) throw new ReadFault(fault.code, fault.message)
  if (error !== undefined) throw new Error(error)
}

async function open({ file, options }: Extract<ReaderRequest, { kind: 'open' }>): Promise<Opened> {
  const archive = await tileArchiveKind(file)
  if (archive) return { archive }
  fileBytes = (await stat(file)).size
  let advanced = 0
  const onAdvance = (bytes: number): void => {
    advanced += bytes
    pass.onProgress?.(advanced)
  }
  reader = await openReader(file, { ...options, signal, onAdvance, convertByGdal })
  // All that reads the file is loaded now. This process does not live to its own end, when it would be kept anyway.
  flushCompileCache()
  return { format: reader.format, layers: await reader.layers() }
}

async function answer(request: ReaderRequest): Promise<ReaderReply> {
  if (request.kind === 'open') return { kind: 'done', value: await open(request) }
  if (!reader) throw new Error('No file is open')
  toldAt = 0
  if (request.kind === 'scan') return { kind: 'done', value: await reader.scan(request.layer, pass) }
  if (request.kind === 'guess')
    return { kind: 'done', value: reader.load && (await reader.guess?.(request.layer, pass)) }
  return { kind: 'done', value: await sendRows(reader, request) }
}

/**
 * A few bytes can stand for rows without end: runs of Parquet, shared texts of a workbook, arcs of TopoJSON. Packed files are
 * bounded before, by what they unpack to.
 */
const expansion = { always: 256 * 1024 ** 2, ratio: 1_000, most: 32 * 1024 ** 3 }

type RowsRequest = Extract<ReaderRequest, { kind: 'encode' | 'load' }>

async function* rowsFor(
  { encode, load }: Reader,
  { kind, layer, columns }: RowsRequest,
): AsyncGenerator<Buffer, Loaded | undefined> {
  if (kind === 'load' && load) return yield* load(layer, columns, pass)
  yield* encode(layer, columns, pass)
  return undefined
}

async function sendRows(from: Reader, request: RowsRequest): Promise<RowsSent> {
  const check = request.hasAreas ? createAreaCheck(request.columns) : undefined
  const chunks = rowsFor(from, request)
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

process.on('message', (request: ReaderRequest | Converted | Converting) => {
  if (request.kind === 'converted') return onConverted?.(request)
  if (request.kind === 'converting') {
    gdalPid = request.pid
    return
  }
  answer(request)
    .catch(
      (error): ReaderReply =>
        error instanceof ReadFault
          ? { kind: 'fault', code: error.code, message: error.message, place: error.place }
          : isDiskFull(error)
            ? {
                kind: 'fault',
                code: 'storage_full',
                message: 'The server has no disk space left to unpack the file. Try again later.',
                place: {},
              }
            : { kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    )
    .then(reply, () => process.exit(1))
})
// The server has gone; whatever was started here goes too.
process.on('disconnect', () => {
  try {
    if (gdalPid !== undefined) process.kill(gdalPid, 'SIGKILL')
  } finally {
    process.kill(-process.pid, 'SIGKILL')
  }
})
