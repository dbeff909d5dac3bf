import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type ReaderOptions, ReadFault, sampleBytes } from '../reader.ts'

const gzipLimits = { expandedBytes: 4 * 1024 ** 3, ratio: 200, ratioFreeBytes: 10 * 1024 ** 2 }

const pieceBytes = 128 * 1024

/** Unpacks a gzip file into the directory and answers where; a bomb is stopped while it bursts. */
export async function gunzip(
  file: string,
  options: Pick<ReaderOptions, 'directory' | 'signal' | 'onAdvance' | 'isSample'>,
): Promise<{ file: string; bytes: number }> {
  const target = join(await mkdtemp(join(options.directory, 'gzip-')), 'content')
  await (options.isSample ? unpackBeginning(file, target, options) : unpackWhole(file, target, options))
  return { file: target, bytes: (await stat(target)).size }
}

async function unpackBeginning(
  file: string,
  target: string,
  { signal, onAdvance }: Pick<ReaderOptions, 'signal' | 'onAdvance'>,
): Promise<void> {
  const source = createReadStream(file)
  const handle = await open(target, 'wx')
  let total = 0
  try {
    for await (const chunk of source.pipe(createGunzip({ chunkSize: pieceBytes }))) {
      signal.throwIfAborted()
      onAdvance?.(chunk.length)
      await handle.write(chunk)
      total += chunk.length
      if (total >= sampleBytes) break
    }
  } catch (error) {
    throw faultOf(error)
  } finally {
    source.destroy()
    await handle.close()
  }
}

async function unpackWhole(
  file: string,
  target: string,
  { signal, onAdvance }: Pick<ReaderOptions, 'signal' | 'onAdvance'>,
): Promise<void> {
  const { size } = await stat(file)
  const most = Math.min(gzipLimits.expandedBytes, Math.max(gzipLimits.ratioFreeBytes, size * gzipLimits.ratio))
  try {
    await pipeline(
      createReadStream(file),
      createGunzip({ chunkSize: pieceBytes }),
      limited(most, onAdvance),
      createWriteStream(target, { highWaterMark: 4 * pieceBytes }),
      { signal },
    )
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
