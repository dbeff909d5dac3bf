import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** An entry of a zip file: its name and its bytes, which are read when its turn comes. */
export type ZipEntry = { readonly name: string; pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array> }

/** The bytes of a zip file, entry after entry, in constant memory. */
export async function* zipStream(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  const fail = (error: Error): void => void output.destroy(error)
  let current: Readable | undefined
  zip.on('error', fail)
  for (const { name, pieces } of entries) {
    zip.addReadStreamLazy(name, { compressionLevel: 4 }, (done) => {
      // The library does not listen for errors of what it reads.
      current = Readable.from(pieces(), { objectMode: false }).on('error', fail)
      done(null, current)
    })
  }
  zip.end()
  try {
    yield* output as AsyncIterable<Uint8Array>
  } finally {
    current?.destroy()
  }
}
