import { writeSync } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { ResultCell } from '../values.ts'

/**
 * Answers that wait on disk for their readers. The session is free as soon as the query has run, and what others do to it,
 * such as ending it with a query that takes too long, does not reach an answer that is being read.
 */
export type Spool = { readonly file: FileHandle }

export type Spools = {
  take(): Promise<Spool>
  /** One that nothing was written to can be taken again. */
  giveBack(spool: Spool): Promise<void>
  close(): Promise<void>
}

let spoolsMade = 0

export function createSpools(directory: string): Spools {
  let spare: Spool | undefined

  async function make(): Promise<Spool> {
    await mkdir(directory, { recursive: true })
    const path = join(directory, `graticule_${process.pid}_${++spoolsMade}`)
    const file = await open(path, 'wx+', 0o600)
    // Nameless from now on: its blocks are free when it is closed, however the process ends.
    await rm(path)
    return { file }
  }

  return {
    async take() {
      const taken = spare
      spare = undefined
      return taken ?? (await make())
    },
    async giveBack(spool) {
      if (spare) await spool.file.close()
      else spare = spool
    },
    async close() {
      await spare?.file.close()
      spare = undefined
    },
  }
}

/** Batches are at most this large, unless a single row is larger. */
const batchLength = 1024 * 1024

/** The first batch stays in memory. The others are on disk, one behind the other. */
export type SpoolWriter = {
  add(row: ResultCell[]): void
  /** Also at the end. */
  flush(): void
  readonly first: ResultCell[][]
  readonly lengths: number[]
  readonly bytes: number
}

/** Runs in the thread of the database, on a file that the other side has opened and closes. */
export function createSpoolWriter(descriptor: number, batchSize: number): SpoolWriter {
  let first: ResultCell[][] | undefined
  let batch: ResultCell[][] = []
  let length = 0
  let bytes = 0
  const lengths: number[] = []

  function write(written: Uint8Array): void {
    for (let done = 0; done < written.length; ) {
      done += writeSync(descriptor, written, done, written.length - done, bytes + done)
    }
    bytes += written.length
    lengths.push(written.length)
  }

  function flush(): void {
    const full = batch
    batch = []
    length = 0
    if (first === undefined) first = full
    else if (full.length > 0) write(serialize(full))
  }

  return {
    add(row) {
      batch.push(row)
      for (const cell of row) length += cell?.length ?? 0
      if (batch.length >= batchSize || length >= batchLength) flush()
    },
    flush,
    get first() {
      return first ?? []
    },
    lengths,
    get bytes() {
      return bytes
    },
  }
}

export async function* readSpool(
  first: ResultCell[][],
  lengths: readonly number[],
  { file }: Spool,
): AsyncGenerator<ResultCell[][], void, undefined> {
  if (first.length > 0) yield first
  let position = 0
  for (const length of lengths) {
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(bytes, done, length - done, position + done)
      if (bytesRead === 0) throw new Error('An answer on disk is shorter than it was written')
      done += bytesRead
    }
    position += length
    yield deserialize(bytes)
  }
}
