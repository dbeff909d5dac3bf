// The worker thread of data/datasets/exports/export-threads.ts: asks for rows, and writes them as a file or as bytes to send.
import { open } from 'node:fs/promises'
import { lowerThreadPriority } from '../../../kernel/concurrency/priority.ts'
import { type RequestContext, serveRequests } from '../../../kernel/concurrency/serve-requests.ts'
import type { ExportFormat } from '../answer-formats.ts'
import type { Cell } from '../cell.ts'
import type { ExportOrder, ExportWriter } from './export-order.ts'
import { fileTooLarge } from './file-too-large.ts'

/** Rows, or null after the last; or the number of bytes that the reader has taken. */
export type ToExport = { readonly rows: Cell[][] | null } | { readonly taken: number }

/** Bytes to send; null asks for rows. */
export type FromExport = Uint8Array<ArrayBuffer> | null

/** Back-pressure: a writer pauses when so many bytes of its answer are on their way. */
const maxUnread = 4 * 1024 * 1024

/** Each is loaded when it is first asked for. */
const writers: Readonly<Record<ExportFormat, () => Promise<ExportWriter>>> = {
  gpkg: async () => (await import('./geopackage/geopackage.ts')).writeGeoPackage,
  parquet: async () => (await import('./parquet/parquet.ts')).writeParquet,
  shp: async () => (await import('./shapefile/shapefile.ts')).writeShapefile,
  kml: async () => (await import('./kml.ts')).writeKml,
  xlsx: async () => (await import('./xlsx.ts')).writeXlsx,
  fgb: async () => (await import('./flatgeobuf/flatgeobuf.ts')).writeFlatGeobuf,
}

lowerThreadPriority()
serveRequests<ExportOrder>(async (order, context) => {
  const inbox = openInbox(context)
  const write = await writers[order.format]()
  const pieces = write(inbox.rows(), order)
  if (order.path === undefined) await sendPieces(pieces, context, inbox.room)
  else await writeFile(pieces, order.path, order.maxBytes)
})

async function sendPieces(
  pieces: AsyncIterable<Uint8Array>,
  { notify }: RequestContext,
  room: (bytes: number) => Promise<void>,
): Promise<void> {
  for await (const piece of pieces) {
    await room(piece.byteLength)
    // A copy: what a writer uses again must not be transferred.
    const bytes = new Uint8Array(piece)
    notify(bytes, [bytes.buffer])
  }
}

async function writeFile(pieces: AsyncIterable<Uint8Array>, path: string, maxBytes: number): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    let size = 0
    for await (const piece of pieces) {
      size += piece.byteLength
      if (size > maxBytes) throw fileTooLarge(maxBytes)
      await file.write(piece)
    }
  } finally {
    await file.close()
  }
}

/** Messages of the main thread: rows, one batch at a time, and how much of the answer is taken. */
function openInbox({ signal, notify, onMessage }: RequestContext) {
  let batch: Cell[][] | null | undefined
  let unread = 0
  let wake = (): void => {}
  onMessage((received) => {
    const message = received as ToExport
    if ('rows' in message) batch = message.rows
    else unread -= message.taken
    wake()
  })
  signal.addEventListener('abort', () => wake())
  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      signal.throwIfAborted()
      await new Promise<void>((resolve) => (wake = resolve))
    }
    signal.throwIfAborted()
  }
  return {
    async *rows(): AsyncGenerator<Cell[][]> {
      for (;;) {
        batch = undefined
        notify(null)
        await until(() => batch !== undefined)
        if (!batch) return
        yield batch
      }
    },
    async room(bytes: number): Promise<void> {
      await until(() => unread === 0 || unread + bytes <= maxUnread)
      unread += bytes
    },
  }
}
