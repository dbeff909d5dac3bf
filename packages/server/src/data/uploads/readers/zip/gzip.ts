import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ReaderOptions, ReadFault } from '../reader.ts'

const gzipLimits = { expandedBytes: 4 * 1024 ** 3, ratio: 200, ratioFreeBytes: 10 * 1024 ** 2 }

const pieceBytes = 128 * 1024

/** Unpacks a gzip file into the directory and answers where; a bomb is stopped while it bursts. */
export async function gunzip(
  file: string,
  { directory, signal, onAdvance }: Pick<ReaderOptions, 'directory' | 'signal' | 'onAdvance'>,
): Promise<string> {
  const { size } = await stat(file)
  const target = join(await mkdtemp(join(directory, 'gzip-')), 'content')
  const most = Math.min(gzipLimits.expandedBytes, Math.max(gzipLimits.ratioFreeBytes, size * gzipLimits.ratio))
  try {
    await pipeline(
      createReadStream(file),
      createGunzip({ chunkSize: pieceBytes }),
      limited(most, onAdvance),
      createWriteStream(target, { highWaterMark: 4 * pieceBytes }),
      { signal },
    )
    return target
  } catch (error) {
    throw faultOf(error)
  }
}

function limited(most: number, onAdvance: ReaderOptions['onAdvance']): Transform {
  let total = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      total += chunk.length
      onAdvance?.(chunk.length)
      if (total <= most) done(null, chunk)
      else done(new ReadFault('zip_limit', `The gzip file has more than ${most} bytes when unpacked, the limit.`))
    },
  })
}

function faultOf(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error
  if (error.code === 'Z_BUF_ERROR') return new ReadFault('truncated', 'The gzip file is incomplete.', {}, error)
  return error.code.startsWith('Z_') ? new ReadFault('invalid_zip', 'The gzip file is damaged.', {}, error) : error
}
