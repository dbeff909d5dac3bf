import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** An entry of a zip file: its name and its bytes, which are read when its turn comes. */
export type ZipEntry = { readonly name: string; pieces(): AsyncIterable<Uint8Array> | Iterable<Uint8Array> }

/** The bytes of a zip file, entry after entry, in constant memory. */
export async function* zipStream(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  zip.on('error', (error: Error) => output.destroy(error))
  for (const { name, pieces } of entries) {
    zip.addReadStreamLazy(name, { compressionLevel: 4 }, (done) =>
      done(null, Readable.from(pieces(), { objectMode: false })),
    )
  }
  zip.end()
  yield* output as AsyncIterable<Uint8Array>
}
