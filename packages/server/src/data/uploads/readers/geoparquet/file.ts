import { open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
} from 'hyparquet'
import { compressors as portable } from 'hyparquet-compressors'
import { ReadFault } from '../reader.ts'
import { withPlainDecimals } from './decimals.ts'

/** An open Parquet file; columns are read in pieces. */
export type ParquetFile = {
  readonly metadata: FileMetaData
  /** Ranges of rows that can be read at once. */
  readonly ranges: readonly { readonly rowStart: number; readonly rowEnd: number }[]
  readColumn(column: string, rowStart: number, rowEnd: number): Promise<ArrayLike<unknown>>
  /** Whether times were read that are finer than microseconds. */
  cutsTimes(): boolean
  close(): Promise<void>
}

const maxSliceBytes = 512 * 1024 * 1024
const maxPageBytes = 256 * 1024 * 1024
const maxFooterBytes = 64 * 1024 * 1024
const rowsAtOnce = 65_536
/** A run of equal values takes a few bytes, however long it is. */
const maxRows = { always: 1_000_000, perByte: 100 }

export async function openParquetFile(path: string): Promise<ParquetFile> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const file: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        if (!(start >= 0 && end >= start && end <= size)) throw new ReadFault('truncated', 'The file ends too early.')
        if (end - start > maxSliceBytes)
          throw new ReadFault(
            'row_too_large',
            `A part of the file is larger than ${maxSliceBytes} bytes, the limit. Write it with smaller row groups.`,
          )
        const bytes = new Uint8Array(end - start)
        const { bytesRead } = await handle.read(bytes, 0, bytes.length, start)
        if (bytesRead < bytes.length) throw new ReadFault('truncated', 'The file ends too early.')
        return bytes.buffer
      },
    }
    const metadata = await guarded(() => readMetadata(file))
    if (Number(metadata.num_rows) > Math.max(maxRows.always, size * maxRows.perByte)) {
      throw new ReadFault('expansion_limit', 'The Parquet file claims more rows than a file of its size can hold.')
    }
    const found = { hasNanos: false }
    const scan = await guarded(() =>
      parquetScan({
        file,
        metadata: withPlainDecimals(metadata, parquetSchema(metadata).children),
        compressors,
        parsers: parsersInto(found),
        utf8: false,
        geoparquet: false,
      }),
    )
    return {
      metadata,
      ranges: scan.ranges,
      cutsTimes: () => found.hasNanos,
      readColumn: (column, rowStart, rowEnd) =>
        guarded(async () => {
          const values = await scan.readColumn({ column, rowStart, rowEnd })
          if (values.length !== rowEnd - rowStart)
            throw new ReadFault('truncated', `The column "${column}" has fewer values than the file has rows.`)
          return values as ArrayLike<unknown>
        }),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function readMetadata(file: AsyncBuffer): Promise<FileMetaData> {
  if (file.byteLength < 12) throw new ReadFault('truncated', 'The file ends too early.')
  const tail = new DataView(await file.slice(file.byteLength - 8))
  if (tail.getUint32(4, true) === 0x45524150)
    throw new ReadFault('unsupported_format', 'The file is encrypted. Send it without encryption.')
  if (tail.getUint32(4, true) !== 0x31524150)
    throw new ReadFault('truncated', 'The Parquet file ends without its footer: it is incomplete.')
  if (tail.getUint32(0, true) > maxFooterBytes)
    throw new ReadFault(
      'invalid_file',
      `The footer of the Parquet file is larger than ${maxFooterBytes} bytes, the limit.`,
    )
  return parquetMetadataAsync(file, { geoparquet: false, parsers })
}

/** Whatever the library stumbles over is the file's fault. */
async function guarded<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ReadFault || (error instanceof Error && 'syscall' in error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new ReadFault('invalid_file', `The Parquet file cannot be read: ${why}.`, {}, error)
  }
}

/** The pieces that the rows are read in. */
export function* pieces({ ranges }: ParquetFile): Iterable<{ rowStart: number; rowEnd: number }> {
  for (const { rowStart, rowEnd } of ranges) {
    for (let row = rowStart; row < rowEnd; row += rowsAtOnce)
      yield { rowStart: row, rowEnd: Math.min(row + rowsAtOnce, rowEnd) }
  }
}

/** Times stay microseconds, dates days and JSON text, so that nothing is lost or made twice. */
const parsers = {
  timestampFromMilliseconds: (millis: bigint) => (millis == null ? millis : BigInt(millis) * 1000n),
  timestampFromMicroseconds: (micros: bigint) => micros,
  timestampFromNanoseconds: (nanos: bigint) => (nanos == null ? nanos : BigInt(nanos) / 1000n),
  dateFromDays: (days: number) => days,
  jsonFromBytes: (bytes: Uint8Array) => bytes && new TextDecoder().decode(bytes),
  geometryFromBytes: (bytes: Uint8Array) => bytes,
  geographyFromBytes: (bytes: Uint8Array) => bytes,
}

/** The same, noting times that are finer than a database keeps. */
const parsersInto = (found: { hasNanos: boolean }) => ({
  ...parsers,
  timestampFromNanoseconds: (nanos: bigint) => {
    if (nanos != null && BigInt(nanos) % 1000n !== 0n) found.hasNanos = true
    return parsers.timestampFromNanoseconds(nanos)
  },
})

type Decompress = (input: Uint8Array, outputLength: number) => Uint8Array

function limited(decompress: Decompress | undefined): Decompress {
  return (input, outputLength) => {
    if (!decompress) throw new Error('its compression is unknown')
    if (!(outputLength >= 0 && outputLength <= maxPageBytes)) throw new Error('a page is too large')
    return decompress(input, outputLength)
  }
}

const compressors: Compressors = {
  SNAPPY: limited(portable.SNAPPY),
  LZ4: limited(portable.LZ4),
  LZ4_RAW: limited(portable.LZ4_RAW),
  GZIP: limited((input, size) => gunzipSync(input, { maxOutputLength: Math.max(size, 1) })),
  BROTLI: limited((input, size) => brotliDecompressSync(input, { maxOutputLength: Math.max(size, 1) })),
  ZSTD: limited((input, size) => zstdDecompressSync(input, { maxOutputLength: Math.max(size, 1) })),
}
